"""The changes made by a training and the evidence for its answers: sentence vectors, the surest errors, gradient x
input.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.attention.saliency import Score, gradient_x_input
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.training.learning.model import Trained, in_batches, last_states
from demos.training.results.answers import StoredAnswers
from demos.training.results.classifier_on_states import class_logits
from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.one_of_several import likeliest
from demos.training.tasks.task import pool


@dataclass(frozen=True)
class Error:
    """A test example that the trained model gets wrong."""

    number: int  # its place among the kept test examples
    example: Example
    predicted: int
    probability: float  # of what it answered


@dataclass(frozen=True)
class Evidence:
    """The tokens that speak for the predicted class, and those that speak for the true one."""

    encoding: Encoding
    values: np.ndarray  # float64 [n]: above 0 for the answer, below 0 for the true class
    margin: float  # the answer's logit less the true class's
    empty: float  # the same where every word embedding is zero; what should be explained is margin - empty


def pooled_vectors(
    encoder: Any, tokenizer: Any, task: Classification, examples: Sequence[Example], max_length: int
) -> Generator[Encoded, None, np.ndarray]:
    """The vector that the layers on top read, for each example: float32 [m, d]; tells after each batch.

    Where they read all tokens' vectors, it is the mean of these.
    """
    pooling = "mean" if task.pooling == "none" else task.pooling
    features = task.features(tokenizer, examples, max_length)
    vectors = np.zeros((len(features), encoder.config.hidden_size), dtype=np.float32)
    done = 0
    for places, batch in in_batches(task, features, tokenizer.pad_token_id or 0):
        with torch.inference_mode():
            vectors[places] = pool(last_states(encoder, batch), batch.attention_mask, pooling).numpy()
        done += len(places)
        yield Encoded(done, len(features))
    return vectors


def chance_share(classes: Sequence[int] | np.ndarray) -> float:
    """The share of a point's neighbours that are of its class where neighbours are drawn at random."""
    counts, m = np.bincount(np.asarray(classes, dtype=np.int64)), len(classes)
    return float((counts * (counts - 1)).sum() / (m * (m - 1))) if m > 1 else 1.0


def surest_errors(answers: StoredAnswers, most: int) -> list[Error]:
    """The wrong answers to test examples, the surest first; `most` at the most."""
    errors = []
    for number, (example, row, right) in enumerate(zip(answers.examples, answers.chances, answers.right, strict=True)):
        if not right:
            best = likeliest(row)
            errors.append(Error(number, example, best, row[best]))
    return sorted(errors, key=lambda error: -error.probability)[:most]


def evidence_of(trained: Trained, loaded: LoadedModel, error: Error) -> Evidence:
    """Gradient x input of the answered class's logit less the true class's (Simonyan et al. 2014 take one class's).

    A first-order estimate: the values of a network that is not linear need not add up to margin - empty, which
    integrated gradients' do (Sundararajan et al. 2017, "completeness").
    """
    example = error.example
    encoding = encoding_of(trained, loaded.tokenizer, example)

    def margin(hidden: torch.Tensor) -> torch.Tensor:
        logits = class_logits(trained, hidden)
        return logits[error.predicted] - logits[example.label]

    attribution = gradient_x_input(loaded, encoding, margin)
    return Evidence(encoding, attribution.values, attribution.output, _without_words(loaded, encoding, margin))


def encoding_of(trained: Trained, tokenizer: Any, example: Example) -> Encoding:
    """The example as the trained model gets it: a task cuts a long pair by its rule."""
    (features,) = trained.task.features(tokenizer, [example], trained.max_length)
    if not features.segments:
        return encode(tokenizer, example.text, max_length=trained.max_length)
    (segments,) = features.segments  # [CLS] first [SEP], then second [SEP]
    return encode(tokenizer, example.text, example.pair, lengths=(segments.count(0) - 2, segments.count(1) - 1))


def _without_words(loaded: LoadedModel, encoding: Encoding, score: Score) -> float:
    """The score where each token's word embedding is zero; positions and segments stay."""
    n, width = len(encoding), loaded.model.get_input_embeddings().weight.shape[1]
    inputs = {"attention_mask": torch.ones(1, n, dtype=torch.long)}
    if loaded.spec.segments:
        inputs["token_type_ids"] = torch.tensor([encoding.token_type_ids])
    with torch.inference_mode():
        hidden = loaded.model(inputs_embeds=torch.zeros(1, n, width), **inputs).last_hidden_state[0]
        return float(score(hidden))
