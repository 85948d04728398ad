"""A pre-trained model's parts, shared or a reader's own, and the two losses of a batch."""

from dataclasses import dataclass
from typing import Self

import torch
from torch.nn import functional as F

from demos.bert.pretraining.corruption import NO_LABEL
from demos.bert.pretraining.heads import Pretrained, WithHeads
from demos.training.pretraining.batches import PretrainingBatch


@dataclass(frozen=True)
class Losses:
    """One batch's losses, of which a gradient can be taken, and what they are made of; M chosen tokens."""

    each: torch.Tensor  # [M]: of each chosen token
    masked: torch.Tensor  # []: their mean
    following: torch.Tensor | None  # []: of next sentences; None where they are not predicted
    transformed: torch.Tensor  # [M, d]: what the decoder reads
    logits: torch.Tensor  # [M, V]
    answers: torch.Tensor  # [M]: the right ids

    @property
    def total(self) -> torch.Tensor:
        """The loss of pre-training: the sum of both tasks' means (Devlin et al. 2019, A.2)."""
        return self.masked if self.following is None else self.masked + self.following


@dataclass(frozen=True)
class Parts(WithHeads):
    """The modules that a step of pre-training runs through; `encoder` is a BertModel or a DistilBertModel."""

    @classmethod
    def of(cls, model: Pretrained) -> Self:
        """The shared model's own, which nobody may change."""
        return cls(model.encoder.model, model.transform, model.decoder, model.pooler, model.relation)

    def states(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """[B, n] each -> last hidden states [B, n, d]. DistilBERT has no segments."""
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.encoder.config.model_type != "distilbert":
            inputs["token_type_ids"] = token_type_ids
        return self.encoder(**inputs).last_hidden_state

    def losses(self, batch: PretrainingBatch) -> Losses:
        """The losses of BertForPreTraining, with the decoder applied to the chosen tokens alone.

        Next sentences count where the batch has labels for them; the model must have that head then.
        """
        hidden = self.states(batch.input_ids, batch.attention_mask, batch.token_type_ids)
        chosen = batch.labels != NO_LABEL
        transformed = self.transform(hidden[chosen])  # [M, d]: a decoder's row is V products, so no others
        logits, answers = self.decode(transformed).float(), batch.labels[chosen]
        each = F.cross_entropy(logits, answers, reduction="none")
        following = None
        if batch.following is not None:
            following = F.cross_entropy(self.next_logits(hidden).float(), batch.following)
        return Losses(each, each.mean(), following, transformed, logits, answers)
