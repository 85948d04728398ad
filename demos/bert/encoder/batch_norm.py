"""Batch norm beside layer norm, on one batch with padding: which numbers each mean is over.

Ioffe and Szegedy 2015 (batch norm), Ba, Kiros and Hinton 2016 (layer norm). Both here without gain and offset. b inputs
of n tokens, padding included, d numbers each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.model.batches.padding import model_inputs, pad
from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel

EPSILON = 1e-5  # PyTorch's for both
MOMENTUM = 0.1  # PyTorch's: how far running statistics move with each batch


@dataclass(frozen=True)
class States:
    """A batch before the first LayerNorm."""

    tokens: tuple[tuple[str, ...], ...]  # [b, n]
    real: np.ndarray  # bool [b, n]: False for padding
    values: np.ndarray  # <float64>[b, n, d]: word + position + segment embedding


@dataclass(frozen=True)
class Statistics:
    """The values that a norm subtracts and divides by."""

    mean: np.ndarray  # <float64>: [b, n] of layer norm, [d] of batch norm
    variance: np.ndarray  # as `mean`: over N numbers, and not N - 1


def batch_states(loaded: LoadedModel, encodings: Sequence[Encoding]) -> States:
    """The sums that BERT's first LayerNorm is given, for sentences padded to the longest."""
    layer = loaded.model.embeddings
    inputs = model_inputs(loaded, encodings)
    batch = pad(loaded.tokenizer, encodings)
    with torch.inference_mode():
        places = torch.arange(batch.shape[1])
        values = layer.word_embeddings(inputs["input_ids"]) + layer.position_embeddings(places)
        if hasattr(layer, "token_type_embeddings"):  # DistilBERT has none
            values = values + layer.token_type_embeddings(inputs["token_type_ids"])
    return States(batch.tokens, np.array(batch.attention_mask, dtype=bool), values.numpy().astype(np.float64))


def layer_statistics(values: np.ndarray) -> Statistics:
    """Each token's mean and variance over its d numbers: [..., d] -> [...]."""
    return Statistics(values.mean(-1), values.var(-1))


def batch_statistics(values: np.ndarray, counted: np.ndarray) -> Statistics:
    """Each feature's mean and variance over all tokens of the batch that are `counted` [b, n]: [b, n, d] -> [d]."""
    rows = values[counted]
    return Statistics(rows.mean(0), rows.var(0))


def layer_normed(values: np.ndarray) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon), each token by its own numbers."""
    own = layer_statistics(values)
    return (values - own.mean[..., None]) / np.sqrt(own.variance[..., None] + EPSILON)


def batch_normed(values: np.ndarray, by: Statistics) -> np.ndarray:
    """The same, each feature by the statistics given: the batch's in training, the running ones in a test."""
    return (values - by.mean) / np.sqrt(by.variance + EPSILON)


def running_statistics(batches: Sequence[States], padding_counts: bool) -> Statistics:
    """The running statistics for the test: from mean 0 and variance 1 they move by MOMENTUM towards each batch's.

    As in PyTorch, the variance that is kept is over N - 1.
    """
    width = batches[0].values.shape[-1]
    mean, variance = np.zeros(width), np.ones(width)
    for batch in batches:
        counted = np.ones_like(batch.real) if padding_counts else batch.real
        statistics, count = batch_statistics(batch.values, counted), int(counted.sum())
        mean = (1 - MOMENTUM) * mean + MOMENTUM * statistics.mean
        variance = (1 - MOMENTUM) * variance + MOMENTUM * statistics.variance * count / max(1, count - 1)
    return Statistics(mean, variance)


@dataclass(frozen=True)
class Changes:
    """The changes of the first sentence's outputs when another sentence replaces the last one; m tokens."""

    tokens: tuple[str, ...]
    layer: np.ndarray  # <float64>[m]: length of the change, as a share of the output's length
    train: np.ndarray  # the same by batch norm in training
    test: np.ndarray  # and with running statistics


def changes(before: States, after: States, running: Statistics, padding_counts: bool) -> Changes:
    """Both batches have the same first sentence."""
    m = int(before.real[0].sum())

    def moved(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        x, y = first[0, :m], second[0, :m]
        return np.linalg.norm(y - x, axis=-1) / np.linalg.norm(x, axis=-1)

    def trained(states: States) -> np.ndarray:
        counted = np.ones_like(states.real) if padding_counts else states.real
        return batch_normed(states.values, batch_statistics(states.values, counted))

    return Changes(
        before.tokens[0][:m],
        moved(layer_normed(before.values), layer_normed(after.values)),
        moved(trained(before), trained(after)),
        moved(batch_normed(before.values, running), batch_normed(after.values, running)),
    )
