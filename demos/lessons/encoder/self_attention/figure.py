"""One head's self-attention for one token as the picture one would draw on the board: a row a key, their sum below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.layer_trace import LayerLedger
from demos.bert.model.encoding import Encoding
from demos.figures.cell_strip import cells, scale_html
from demos.figures.strips import strips_limit
from demos.figures.token_chips import hue, visible
from demos.templates import templates

TEXT = templates(__file__)
SHOWN = 36  # keys that have a row of their own; of a longer sentence the ones that weigh most
FAINT = 0.02  # a weight below is drawn in grey
PAD = "[PAD]"


@dataclass(frozen=True)
class Asked:
    """What the picture is of: one head of a layer, for one query token."""

    ledger: LayerLedger
    encoding: Encoding
    head: int
    token: int

    @property
    def names(self) -> list[str]:
        """Each key's token, the padding too."""
        return [*self.encoding.tokens, *[PAD] * self.ledger.padding]

    @property
    def weights(self) -> np.ndarray:
        """<float32>[n] of the query's row"""
        row: np.ndarray = self.ledger.attention.weights[self.head, self.token]
        return row

    @property
    def shown(self) -> list[int]:
        """The keys that have a row, in the sentence's order: the query itself and those that weigh most."""
        n = len(self.names)
        if n <= SHOWN:
            return list(range(n))
        heaviest = np.argsort(-self.weights, kind="stable")[: SHOWN - 1 - self.ledger.padding]
        pads = range(n - self.ledger.padding, n)
        return sorted({*heaviest.tolist(), self.token, *pads})


def attention_picture(asked: Asked) -> Markup:
    """Rows = keys; columns = k, q . k, scaled, softmax, weight x v; above them x and q, below their sum z."""
    attention, head, token = asked.ledger.attention, asked.head, asked.token
    query, key, z = attention.query[head], attention.key[head], attention.z[head, token]
    weighted = asked.weights[:, None] * attention.value[head]  # [n, d_k]
    shown = asked.shown
    compared = strips_limit([query[token], *key[shown]])
    mixed = strips_limit([z, *weighted[shown]])
    entering = strips_limit([attention.x[token]])
    name = asked.names[token]
    hidden = np.setdiff1d(np.arange(len(weighted)), shown)
    rest = {
        "count": hidden.size,
        "weight": float(asked.weights[hidden].sum()),
        "strip": cells(weighted[hidden].sum(axis=0), mixed, "their sum"),
    }
    return TEXT.board(
        {"text": name, "visible": visible(name)},
        token,
        asked.ledger.layer,
        head,
        query.shape[1],
        attention.x.shape[1],
        {
            "x": cells(attention.x[token], entering, f"x of {name}"),
            "q": cells(query[token], compared, f"q of {name}", id="q"),
            "z": cells(z, mixed, f"z of {name}"),
        },
        [_key(asked, index, compared, mixed, weighted[index]) for index in shown],
        rest if hidden.size else None,
        float(asked.weights.sum()),
        scale_html(("x", entering), ("q, k", compared), ("weight × v, z", mixed)),
    )


def _key(asked: Asked, index: int, compared: float, mixed: float, weighted: np.ndarray) -> dict[str, Any]:
    """One key's row."""
    attention, head, token = asked.ledger.attention, asked.head, asked.token
    name, real = asked.names[index], index < len(asked.encoding)
    weight = float(asked.weights[index])
    seen = bool(attention.mask[token, index])
    kinds = {"own": index == token, "unseen": not seen, "faint": weight < FAINT}
    colour = hue(asked.encoding.word_index[index]) if real else "special"
    return {
        "index": index,
        "name": visible(name),
        "real": real,
        "kind": " ".join([*(kind for kind, holds in kinds.items() if holds), colour]),
        "strip": cells(attention.key[head, index], compared, f"k of {name}", by="q"),
        "score": _number(attention.scores[head, token, index]),
        "scaled": _number(attention.scaled[head, token, index]),
        "weight": weight,
        "weighted": cells(weighted, mixed, f"weight × v of {name}", factor=f"{weight:.6g}"),
    }


def _number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−").replace("inf", "∞")


def attention_told(asked: Asked) -> Markup:
    """The picture in a sentence or two, with what the switches do."""
    ledger, attention, row = asked.ledger, asked.ledger.attention, (asked.head, asked.token)
    largest = [
        {
            "name": asked.names[index],
            "weight": asked.weights[index],
            "score": _number(attention.scores[row][index]),
            "scaled": _number(attention.scaled[row][index]),
        }
        for index in np.argsort(-asked.weights, kind="stable")[:3]
    ]
    return TEXT.told(
        asked.names[asked.token],
        largest,
        attention.query.shape[-1],
        int(attention.mask[asked.token].sum()),
        ledger.causal,
        ledger.layer,
        len(asked.encoding) - 1 - asked.token,
        ledger.padding,
        asked.weights[-ledger.padding :].max(),
    )


def attention_numbers(asked: Asked) -> Markup:
    """The same as a table: every key's product, scaled product, power, weight and |v|, then q, k, v and z in full."""
    attention, head, token = asked.ledger.attention, asked.head, asked.token
    scaled = attention.scaled[head, token].astype(np.float64)
    powers = np.exp(scaled - scaled.max())
    norms = np.linalg.norm(attention.value[head], axis=1)
    keys = [
        (
            visible(name),
            [
                _number(attention.scores[head, token, index], 4),
                _number(scaled[index], 4),
                f"{powers[index]:.6f}",
                f"{asked.weights[index]:.6f}",
                f"{norms[index]:.4f}",
                f"{asked.weights[index] * norms[index]:.4f}",
            ],
        )
        for index, name in enumerate(asked.names)
    ]
    tensors = {"q": attention.query, "k": attention.key, "v": attention.value, "z": attention.z}
    vectors = {name: [_number(value, 4) for value in tensor[head, token]] for name, tensor in tensors.items()}
    sums = powers.sum(), asked.weights.sum()
    return TEXT.numbers(asked.names[token], token, asked.ledger.layer, head, keys, sums, vectors)
