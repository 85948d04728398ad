"""A BERT or DistilBERT with the layers on top that its training chose, for `trust_remote_code=True`.

This file stands alone: it lies beside the weights in a folder that no stock class of transformers can load exactly.
It holds the encoder, one vector a sequence (or each token's own), dense layers with an activation, a last linear one;
given the right answers too it tells its loss, so that transformers' Trainer trains it further.
"""

from __future__ import annotations

import itertools
from typing import Any, TypeAlias

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import (
    MultipleChoiceModelOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU, "gelu": nn.GELU}


Given: TypeAlias = "torch.Tensor | None"


def loss_of(logits: torch.Tensor, labels: Given) -> Given:
    """The mean cross-entropy of logits [..., C] against the right classes [...], those of -100 left out."""
    return None if labels is None else nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())


def squared_error(logits: torch.Tensor, labels: Given) -> Given:
    """The mean squared error of scores [R, 1] against the right ones [R]."""
    return None if labels is None else nn.functional.mse_loss(logits.flatten(), labels.flatten().float())


def binary_cross_entropy(logits: torch.Tensor, labels: Given) -> Given:
    """The mean binary cross-entropy of logits [R, C] against 0 or 1 for each label [R, C]."""
    return None if labels is None else nn.functional.binary_cross_entropy_with_logits(logits, labels.float())


LOSSES = {"regression": squared_error, "multi_label_classification": binary_cross_entropy}


class HeadConfig(PreTrainedConfig):
    """The encoder's own configuration, and which layers are on it."""

    model_type = "encoder_with_head"

    encoder: dict[str, Any] | None = None
    pooling: str = "mean"  # cls, mean or max over the tokens that are not padding; none: all of them, side by side
    positions: int = 1  # whose vectors the first layer reads; more than one where nothing is pooled
    widths: list[int] | None = None  # of the dense layers
    outputs: int = 2  # of the last layer
    activation: str = "tanh"
    head_dropout: float = 0.1


class HeadModel(PreTrainedModel):
    """The encoder and the head."""

    config_class = HeadConfig
    base_model_prefix = "encoder"
    _supports_sdpa = True

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        encoder_config = dict(config.encoder or {"model_type": "bert"})
        self.segments = encoder_config["model_type"] != "distilbert"
        self.encoder = AutoModel.from_config(AutoConfig.for_model(**encoder_config))
        read = self.encoder.config.hidden_size * config.positions
        widths = [read, *(config.widths or []), config.outputs]
        layers: list[nn.Module] = []
        for number, (before, after) in enumerate(itertools.pairwise(widths)):
            if number:
                layers.append(ACTIVATIONS[config.activation]())
            layers += [nn.Dropout(config.head_dropout), nn.Linear(before, after)]
        self.head = nn.Sequential(*layers)
        self.post_init()

    def states(self, input_ids: torch.Tensor, attention_mask: Given, token_type_ids: Given) -> torch.Tensor:
        """The last hidden states [R, n, d]."""
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.segments:
            inputs["token_type_ids"] = token_type_ids
        states: torch.Tensor = self.encoder(**inputs).last_hidden_state
        return states

    def pooled(self, states: torch.Tensor, attention_mask: Given) -> torch.Tensor:
        """One vector a sequence: [R, n, d] -> [R, d], or without pooling [R, positions d]."""
        if self.config.pooling == "cls":
            return states[:, 0]
        mask = torch.ones(states.shape[:2], device=states.device) if attention_mask is None else attention_mask
        mask = mask.unsqueeze(-1)
        if self.config.pooling == "max":
            return states.masked_fill(mask == 0, -torch.inf).amax(dim=1)
        if self.config.pooling == "none":
            padding = self.config.positions - states.shape[1]
            return nn.functional.pad(states * mask, (0, 0, 0, padding)).flatten(1)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)


class HeadForSequenceClassification(HeadModel):
    """A class for a sentence or a pair; by its problem_type a score, or any number of labels."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: Given = None,
        token_type_ids: Given = None,
        labels: Given = None,
        **rest: Any,
    ) -> SequenceClassifierOutput:
        logits = self.head(self.pooled(self.states(input_ids, attention_mask, token_type_ids), attention_mask))
        loss = LOSSES.get(self.config.problem_type, loss_of)(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)


class HeadForTokenClassification(HeadModel):
    """A label for each token."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: Given = None,
        token_type_ids: Given = None,
        labels: Given = None,
        **rest: Any,
    ) -> TokenClassifierOutput:
        logits = self.head(self.states(input_ids, attention_mask, token_type_ids))
        return TokenClassifierOutput(loss=loss_of(logits, labels), logits=logits)


class HeadForQuestionAnswering(HeadModel):
    """A start and an end score for each token."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: Given = None,
        token_type_ids: Given = None,
        start_positions: Given = None,
        end_positions: Given = None,
        **rest: Any,
    ) -> QuestionAnsweringModelOutput:
        start, end = self.head(self.states(input_ids, attention_mask, token_type_ids)).unbind(dim=-1)
        losses = loss_of(start, start_positions), loss_of(end, end_positions)
        loss = None if losses[0] is None or losses[1] is None else (losses[0] + losses[1]) / 2
        return QuestionAnsweringModelOutput(loss=loss, start_logits=start, end_logits=end)


class HeadForMultipleChoice(HeadModel):
    """A score for each of k endings: the inputs are [batch, k, n]."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: Given = None,
        token_type_ids: Given = None,
        labels: Given = None,
        **rest: Any,
    ) -> MultipleChoiceModelOutput:
        flat = [
            None if tensor is None else tensor.flatten(0, 1) for tensor in (input_ids, attention_mask, token_type_ids)
        ]
        logits = self.head(self.pooled(self.states(*flat), flat[1])).view(input_ids.shape[:2])
        return MultipleChoiceModelOutput(loss=loss_of(logits, labels), logits=logits)
