"""The places of the Transformer at which something is computed, and one row there, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.translation.decoding import SHOWN, Trained, steps
from demos.bert.translation.transformer import Added, Attended, DecoderTrace, Embedded, Encoded, Fed, Written
from demos.bert.translation.vocabulary import padded

ENCODER, DECODER, CROSS, OUTPUT = "encoder", "decoder", "cross", "output"
ATTENTION, ADDED, FED, FED_ADDED, EMBEDDED = "attention", "added", "fed", "fed added", "embedded"
VECTORS: dict[type, tuple[str, ...]] = {  # of a row, in the order in which they are computed
    Embedded: ("words", "positions", "output"),
    Fed: ("rows", "before", "hidden", "output"),
    Added: ("rows", "sublayer", "total", "mean", "scale", "normalized", "gain", "offset", "output"),
}


@dataclass(frozen=True)
class Place:
    """One attention sublayer (`kind` ENCODER, DECODER or CROSS) of a layer, from 0; or the OUTPUT layer.

    Other steps: ADDED is the Add & Norm behind that attention. FED and FED_ADDED are the layer's feed-forward network
    and its Add & Norm, EMBEDDED what enters the stack; there ENCODER and DECODER name the stack.
    """

    kind: str
    layer: int = 0
    step: str = ATTENTION


def places(layers: int) -> tuple[Place, ...]:
    """All places, as links number them: the attention sublayers, the output, and then the others."""
    written = [Place(kind, layer) for layer in range(layers) for kind in (DECODER, CROSS)]
    attention = [*(Place(ENCODER, layer) for layer in range(layers)), *written]
    others = [Place(stack, 0, EMBEDDED) for stack in (ENCODER, DECODER)]
    for stack, kinds in ((ENCODER, (ENCODER,)), (DECODER, (DECODER, CROSS))):
        for layer in range(layers):
            others += [Place(kind, layer, ADDED) for kind in kinds]
            others += [Place(stack, layer, step) for step in (FED, FED_ADDED)]
    return (*attention, Place(OUTPUT), *others)


def attended_at(place: Place, encoded: Encoded, written: Written) -> Attended:
    """The values computed by the sublayer at this place."""
    if place.kind == ENCODER:
        return encoded.layers[place.layer].attention
    layer = written.layers[place.layer]
    return layer.cross if place.kind == CROSS else layer.attention


def computed_at(place: Place, encoded: Encoded, written: Written) -> Embedded | Added | Fed:
    """The values at a place that is neither attention nor the output."""
    run: Encoded | Written = encoded if place.kind == ENCODER else written
    if place.step == EMBEDDED:
        return run.embedded
    layer = run.layers[place.layer]
    if place.step != ADDED:
        return layer.fed if place.step == FED else layer.fed_added
    if isinstance(layer, DecoderTrace) and place.kind == CROSS:
        return layer.cross_added
    return layer.attention_added


def row_vectors(computed: Embedded | Added | Fed, row: int) -> dict[str, np.ndarray]:
    """The VECTORS of row `row`, from 0, of one sentence (b = 1), by their names."""
    vectors = {}
    for name in VECTORS[type(computed)]:
        tensor: torch.Tensor = getattr(computed, name)
        of_row = tensor[0, row] if tensor.dim() == 3 else tensor[row] if tensor.dim() == 2 else tensor
        vectors[name] = of_row.numpy()
    return vectors


@torch.inference_mode()
def translated(trained: Trained, source: Sequence[str]) -> tuple[tuple[str, ...], Encoded, Written]:
    """(the words written, the end included; the encoder's values; the decoder's values) of a Transformer."""
    encoded: Any = trained.model.read(padded([source], trained.source))
    written, computed = steps(trained, source)
    return written, encoded, computed


@dataclass(frozen=True)
class AttentionRow:
    """The computation of one row of one head."""

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
