"""The places of the Transformer at which something is computed, and one row of attention, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.translation.decoding import SHOWN, Trained, steps
from demos.bert.translation.transformer import Attended, Encoded, Written
from demos.bert.translation.vocabulary import padded

ENCODER, DECODER, CROSS, OUTPUT = "encoder", "decoder", "cross", "output"


@dataclass(frozen=True)
class Place:
    """One attention sublayer (`kind` ENCODER, DECODER or CROSS) of a layer, from 0; or the OUTPUT layer."""

    kind: str
    layer: int = 0


def places(layers: int) -> tuple[Place, ...]:
    """All places, in the order in which they are computed."""
    written = [Place(kind, layer) for layer in range(layers) for kind in (DECODER, CROSS)]
    return (*(Place(ENCODER, layer) for layer in range(layers)), *written, Place(OUTPUT))


def attended_at(place: Place, encoded: Encoded, written: Written) -> Attended:
    """What the sublayer at this place computed."""
    if place.kind == ENCODER:
        return encoded.layers[place.layer].attention
    layer = written.layers[place.layer]
    return layer.cross if place.kind == CROSS else layer.attention


@torch.inference_mode()
def translated(trained: Trained, source: Sequence[str]) -> tuple[tuple[str, ...], Encoded, Written]:
    """(the words written, the end included; what the encoder computed; what the decoder computed) of a Transformer."""
    encoded: Any = trained.model.read(padded([source], trained.source))
    written, computed = steps(trained, source)
    return written, encoded, computed


@dataclass(frozen=True)
class AttentionRow:
    """How one row of one head comes about."""

    rows: int  # m, of Q
    columns: int  # n, of K and V
    head_width: int  # d_k
    query: tuple[float, ...]  # the first numbers
    reads: tuple[tuple[str, float, float], ...]  # word, score, weight; the score of a hidden word is -inf
    total: tuple[float, ...]  # the first numbers of the weighted sum of the values
    weights: np.ndarray  # [m, n], of all rows


def attention_row(attended: Attended, head: int, row: int, words: Sequence[str]) -> AttentionRow:
    """Row `row` of head `head`, both from 0, of one sentence (b = 1); `words` are those of the keys."""
    scores, weights = attended.scores[0, head, row].tolist(), attended.weights[0, head, row].tolist()
    return AttentionRow(
        rows=attended.queries.shape[2],
        columns=attended.keys.shape[2],
        head_width=attended.queries.shape[3],
        query=tuple(attended.queries[0, head, row, :SHOWN].tolist()),
        reads=tuple(zip(words, scores, weights, strict=True)),
        total=tuple(attended.sums[0, head, row, :SHOWN].tolist()),
        weights=attended.weights[0, head].numpy(),
    )
