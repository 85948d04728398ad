"""What a training will cost, counted before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from demos.training.classification import Classification
from demos.training.data import Dataset
from demos.training.heads import head_parameters
from demos.training.settings import Settings


@dataclass(frozen=True)
class Cost:
    """Counted, not estimated: the numbers that `Started` will tell."""

    steps: int
    epochs: int
    sentences: int  # trained on, once an epoch
    parameters: int
    trainable_parameters: int
    rows: int  # of the word embeddings, that occur in the data and are trained

    @property
    def examples(self) -> int:
        """Sentences seen in all, each as often as there are epochs."""
        return self.epochs * self.sentences


def cost_of(dataset: Dataset, tokenizer: Any, encoder: Any, settings: Settings) -> Cost:
    """The cost of training a copy of this encoder; the encoder itself is only counted.

    Raises UserError for settings out of bounds.
    """
    settings.check()
    width: int = encoder.config.hidden_size
    task = Classification.of(dataset.labels, settings)
    head = head_parameters(width, settings.hidden, len(dataset.labels))
    limit = min(settings.max_length, encoder.config.max_position_embeddings)
    features = task.features(tokenizer, [*dataset.train, *dataset.validation, *dataset.test], limit)
    rows = len(
        {tokenizer.pad_token_id or 0, *(token for feature in features for ids in feature.sequences for token in ids)}
    )
    pooler = getattr(encoder, "pooler", None)
    unused = sum(p.numel() for p in pooler.parameters()) if pooler is not None else 0
    parameters = sum(p.numel() for p in encoder.parameters()) + head
    idle_rows = len(encoder.get_input_embeddings().weight) - rows
    return Cost(
        steps=settings.epochs * math.ceil(len(dataset.train) / settings.batch_size),
        epochs=settings.epochs,
        sentences=len(dataset.train),
        parameters=parameters,
        trainable_parameters=parameters - unused - idle_rows * width,
        rows=rows,
    )
