"""A BERT or DistilBERT with the layers on top that its training chose, for `trust_remote_code=True`.

This file stands alone: it lies beside the weights in a folder that no stock class of transformers can load exactly.
It holds the encoder, one vector a sequence (or each token's own), dense layers with an activation, a last linear one.
"""

from __future__ import annotations

import itertools
from typing import Any

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


class HeadConfig(PreTrainedConfig):
    """The encoder's own configuration, and which layers are on it."""

    model_type = "encoder_with_head"

    encoder: dict[str, Any] | None = None
    pooling: str = "mean"  # cls, mean or max over the tokens that are not padding
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
        told = dict(config.encoder or {"model_type": "bert"})
        self.segments = told["model_type"] != "distilbert"
        self.encoder = AutoModel.from_config(AutoConfig.for_model(**told))
        widths = [self.encoder.config.hidden_size, *(config.widths or []), config.outputs]
        layers: list[nn.Module] = []
        for number, (before, after) in enumerate(itertools.pairwise(widths)):
            if number:
                layers.append(ACTIVATIONS[config.activation]())
            layers += [nn.Dropout(config.head_dropout), nn.Linear(before, after)]
        self.head = nn.Sequential(*layers)
        self.post_init()

    def states(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None, token_type_ids: torch.Tensor | None
    ) -> torch.Tensor:
        """The last hidden states [R, n, d]."""
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.segments:
            inputs["token_type_ids"] = token_type_ids
        states: torch.Tensor = self.encoder(**inputs).last_hidden_state
        return states

    def pooled(self, states: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
        """One vector a sequence: [R, n, d] -> [R, d]."""
        if self.config.pooling == "cls":
            return states[:, 0]
        mask = torch.ones(states.shape[:2], device=states.device) if attention_mask is None else attention_mask
        mask = mask.unsqueeze(-1)
        if self.config.pooling == "max":
            return states.masked_fill(mask == 0, -torch.inf).amax(dim=1)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)


class HeadForSequenceClassification(HeadModel):
    """A class for a sentence or a pair."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        **rest: Any,
    ) -> SequenceClassifierOutput:
        states = self.states(input_ids, attention_mask, token_type_ids)
        return SequenceClassifierOutput(logits=self.head(self.pooled(states, attention_mask)))


class HeadForTokenClassification(HeadModel):
    """A label for each token."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        **rest: Any,
    ) -> TokenClassifierOutput:
        return TokenClassifierOutput(logits=self.head(self.states(input_ids, attention_mask, token_type_ids)))


class HeadForQuestionAnswering(HeadModel):
    """A start and an end score for each token."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        **rest: Any,
    ) -> QuestionAnsweringModelOutput:
        start, end = self.head(self.states(input_ids, attention_mask, token_type_ids)).unbind(dim=-1)
        return QuestionAnsweringModelOutput(start_logits=start, end_logits=end)


class HeadForMultipleChoice(HeadModel):
    """A score for each of k endings: the inputs are [batch, k, n]."""

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        **rest: Any,
    ) -> MultipleChoiceModelOutput:
        flat = [None if one is None else one.flatten(0, 1) for one in (input_ids, attention_mask, token_type_ids)]
        scores = self.head(self.pooled(self.states(*flat), flat[1]))
        return MultipleChoiceModelOutput(logits=scores.view(input_ids.shape[:2]))
