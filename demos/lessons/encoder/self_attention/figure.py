"""One head's self-attention for one token, as one would draw it on a board: a row for each key, their sum below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.layer_trace import LayerLedger
from demos.bert.encoder.self_attention import AttentionLedger
from demos.bert.model.encoding import Encoding
from demos.figures.cell_strip import cells, scale_html
from demos.figures.strips import strips_limit
from demos.figures.token_chips import hue, visible
from demos.templates import templates

TEXT = templates(__file__)
SHOWN = 36  # keys that have a separate row; in a longer sentence, those with the largest weights
LONG = 18  # keys in the sentence's order at most; of a longer one they are ordered by weight
FAINT = 0.02  # a weight below is drawn in grey


@dataclass(frozen=True)
class Query:
    """The data of the picture: one head of a layer, for one query token."""

    ledger: LayerLedger
    encoding: Encoding
    head: int
    token: int

    @property
    def attention(self) -> AttentionLedger:
        return self.ledger.attention

    @property
    def names(self) -> list[str]:
        """Each key's token, the padding too."""
        return [*self.encoding.tokens, *["[PAD]"] * self.ledger.padding]

    @property
    def name(self) -> str:
        """The query's token."""
        return self.names[self.token]

    @property
    def weights(self) -> np.ndarray:
        """<float32>[n] of the query's row"""
        return self.attention.weights[self.head, self.token]

    @property
    def heaviest(self) -> np.ndarray:
        """The keys, the largest weight first: <int>[n]"""
        return np.argsort(-self.weights, kind="stable")

    @property
    def is_long(self) -> bool:
        """Whether one row per key is more than a window holds."""
        return len(self.names) > LONG

    @property
    def shown(self) -> list[int]:
        """The keys that have a row: the query itself and those that weigh most.

        They are in the sentence's order; those of a long sentence by weight, the largest first.
        """
        n, padding = len(self.names), self.ledger.padding
        if not self.is_long:
            return list(range(n))
        least = {self.token, *range(n - padding, n)}
        most = {*self.heaviest[: SHOWN - 1 - padding].tolist()} if n > SHOWN else set(range(n))
        return [index for index in self.heaviest.tolist() if index in most | least]


def attention_picture(query: Query) -> Markup:
    """Rows = keys; columns = k, q . k, scaled, softmax, weight x v; above them x and q, below their sum z."""
    attention, head, token, shown = query.attention, query.head, query.token, query.shown
    x, q, z = attention.x[token], attention.query[head, token], attention.z[head, token]
    weighted = query.weights[:, None] * attention.value[head]  # [n, d_k]
    entering = strips_limit([x])
    compared = strips_limit([q, *attention.key[head][shown]])
    mixed = strips_limit([z, *weighted[shown]])
    hidden = np.setdiff1d(np.arange(len(weighted)), shown)
    rest = {
        "count": hidden.size,
        "weight": float(query.weights[hidden].sum()),
        "strip": cells(weighted[hidden].sum(axis=0), mixed, "their sum"),
    }
    strips = {
        "x": cells(x, entering, f"x of {query.name}"),
        "q": cells(q, compared, f"q of {query.name}", id="q"),
        "z": cells(z, mixed, f"z of {query.name}"),
    }
    keys = [_key(query, index, compared, mixed, weighted[index]) for index in shown]
    scale = scale_html(("x", entering), ("q, k", compared), ("weight × v, z", mixed))
    return TEXT.board(query, visible(query.name), strips, keys, rest if hidden.size else None, scale)


def _key(query: Query, index: int, compared: float, mixed: float, weighted: np.ndarray) -> dict[str, object]:
    """One key's row."""
    attention, head, token = query.attention, query.head, query.token
    name, real = query.names[index], index < len(query.encoding)
    weight = float(query.weights[index])
    kinds = {"own": index == token, "unseen": not attention.mask[token, index], "faint": weight < FAINT}
    colour = hue(query.encoding.word_index[index]) if real else "special"
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


def attention_summary(query: Query) -> Markup:
    """The picture in a sentence or two, with what the switches do."""
    row = query.head, query.token
    heaviest = query.heaviest[:3]
    return TEXT.summary(
        query,
        [(query.names[index], query.weights[index]) for index in heaviest],
        _number(query.attention.scores[row][heaviest[0]]),
        _number(query.attention.scaled[row][heaviest[0]]),
    )


def attention_numbers(query: Query) -> Markup:
    """The same as a table: every key's product, scaled product, power, weight and |v|, then q, k, v and z in full."""
    attention, head, token = query.attention, query.head, query.token
    scores, scaled = attention.scores[head, token], attention.scaled[head, token].astype(np.float64)
    powers = np.exp(scaled - scaled.max())
    norms = np.linalg.norm(attention.value[head], axis=1)
    columns = zip(query.names, scores, scaled, powers, query.weights, norms, strict=True)
    keys = [
        (
            visible(name),
            [
                *(_number(score, 4), _number(score_scaled, 4), f"{power:.6f}", f"{weight:.6f}"),
                *(f"{norm:.4f}", f"{weight * norm:.4f}"),
            ],
        )
        for name, score, score_scaled, power, weight, norm in columns
    ]
    tensors = {"q": attention.query, "k": attention.key, "v": attention.value, "z": attention.z}
    vectors = {name: [_number(value, 4) for value in tensor[head, token]] for name, tensor in tensors.items()}
    return TEXT.numbers(query, keys, powers.sum(), vectors)
