"""The sentences on the lines: the mask in numbers, and the largest weight of each output token."""

from __future__ import annotations

import numpy as np

from demos.bert.family.attentions import Attention, Reading
from demos.bert.model.local_layers import kind_said
from demos.bert.translation.transformer_places import CROSS, DECODER
from demos.templates import templates

TEXT = templates(__file__)


def said_html(reading: Reading, attention: Attention, layer: int) -> str:
    """The facts of this kind of attention, in words; of `layer`, from 0, what each row reads most."""
    rows, columns = attention.rows, attention.columns
    if attention.kind == CROSS:
        reads = [(columns.names[column], share) for column, share in attention.most_read(layer)]
        return TEXT.cross(list(zip(reading.writes, reads, strict=True)), layer, reading.chosen)
    first, equal = float(attention.weights[..., 0].mean()), equal_on_first(attention)
    kind = kind_said(attention.reaches, layer, len(rows))
    return TEXT.self_attention(attention.kind, kind, len(rows), rows.names[0], attention.later, first, equal)


def equal_on_first(attention: Attention) -> float:
    """The share of the first token in the weights of self-attention if all tokens that are attended to had the same."""
    n = len(attention.rows)
    places = np.arange(n)
    shares = []
    for reach in attention.reaches or (None,):
        near = n if reach is None else reach
        last = places if attention.kind == DECODER else np.minimum(places + near, n - 1)
        seen = last - np.maximum(places - near, 0) + 1
        shares.append(np.where(places <= near, 1 / seen, 0).mean())
    return float(np.mean(shares))
