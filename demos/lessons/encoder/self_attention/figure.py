"""One head's self-attention for one token, as one would draw it on a board: a row for each key, their sum below."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.attention_loop import Times
from demos.bert.encoder.layer_trace import CLOSES, LayerLedger
from demos.bert.encoder.self_attention import AttentionLedger, HeadShares
from demos.bert.model.encoding import Encoding
from demos.figures.cell_strip import cells, scale_html
from demos.figures.figure.figure import Figure, Trace
from demos.figures.numbers import scientific
from demos.figures.palette import CLASSES, HEADS, plotly_layout
from demos.figures.strips import strips_limit
from demos.figures.token_chips import hue, visible
from demos.templates import signed, templates

TEXT = templates(__file__)
SHOWN = 36  # keys that have a separate row; in a longer sentence, those with the largest weights
LONG = 18  # keys in the sentence's order at most; of a longer one they are ordered by weight
FAINT = 0.02  # a weight below is drawn in grey
NAMES = {"loop": "loops in Python", "matrix": "matrices (numpy)"}


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
    return signed(value, f".{digits}f").replace("inf", "∞")


def attention_summary(query: Query) -> Markup:
    """The picture in a sentence or two, with what the switches do."""
    row = query.head, query.token
    heaviest = query.heaviest[:3]
    return TEXT.summary(
        query,
        [(index, query.weights[index]) for index in heaviest],
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


def concat_picture(query: Query, shares: HeadShares) -> Markup:
    """The concatenated z with each head's place marked, then T1 = concat W_O + b, and a bar for each head's share.

    A share is a head's part of T1, measured along T1; the bias has one too.
    """
    attention, token = query.attention, query.token
    count, _, width = attention.z.shape
    z, t1 = attention.concat[token], attention.output[token]
    mixed, out = strips_limit([z]), strips_limit([t1])
    colours = [f"var(--head-{head % len(HEADS)})" for head in range(count)]
    parts = [*shares.shares.tolist(), shares.bias_share]
    low = min(0.0, *parts)
    span = max(0.01, *parts) - low
    of_heads = zip(range(count), colours, parts[:-1], shares.norms, shares.z_norms, strict=True)
    of_bias = None, "var(--special)", shares.bias_share, np.linalg.norm(shares.bias), None
    rows = [
        {
            "head": head,
            "colour": colour,
            "share": share,
            "norm": norm,
            "z_norm": z_norm,
            "length": abs(share) / span,
            "left": (min(share, 0.0) - low) / span,
            "written": _percent(share),
        }
        for head, colour, share, norm, z_norm in (*of_heads, of_bias)
    ]
    return TEXT.concat(
        visible(query.name),
        colours,
        query.head,
        width,
        len(z),
        len(t1),
        {"z": cells(z, mixed, f"z of {query.name}, all heads"), "t1": cells(t1, out, f"T1 of {query.name}")},
        scale_html(("z", mixed), ("T1", out)),
        rows,
        -low / span,
        _percent(sum(parts)),
    )


def _percent(share: float) -> str:
    return signed(share, ".1%")


def closed_html(ledger: LayerLedger, names: tuple[str, ...], moved: str = "") -> Markup:
    """A sentence on whether the ledger closes: the largest difference of steps `names` from the model's own tensors.

    `moved` is how far padding moves the sentence's own numbers, empty without padding.
    """
    worst = max(ledger.differences[name] for name in names)
    return TEXT.closed(worst, scientific(worst), worst <= CLOSES, moved)


def times_figure(times: Times) -> Figure:
    """Milliseconds against tokens, both on logarithmic axes, and beside each line what n² would be."""
    traces: list[Trace] = []
    for number, name in enumerate(NAMES):
        measured = getattr(times, name)
        lengths = sorted(measured)
        measured_line = {
            "type": "scatter",
            "x": lengths,
            "y": [1e3 * measured[n] for n in lengths],
            "name": NAMES[name],
            "mode": "lines+markers",
            "line": {"color": CLASSES[number], "width": 3},
            "marker": {"size": 10, "symbol": ("circle", "diamond")[number]},
            "hovertemplate": "%{x} tokens: <b>%{y:.3g} ms</b><extra></extra>",
        }
        longest = lengths[-1]
        squares = {
            "type": "scatter",
            "x": lengths,
            "y": [1e3 * measured[longest] * (n / longest) ** 2 for n in lengths],
            "name": "grows with n²",
            "showlegend": number == 0,
            "mode": "lines",
            "line": {"color": "#8a9096", "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
        }
        traces += [measured_line, squares]
    ticks = sorted({*times.loop, *times.matrix})
    layout = plotly_layout(
        height=380,
        margin={"l": 70, "r": 20, "t": 10, "b": 90},
        xaxis={"type": "log", "title": {"text": "tokens n"}, "tickvals": ticks, "ticktext": [str(n) for n in ticks]},
        yaxis={"type": "log", "title": {"text": "milliseconds for one head"}, "dtick": 1},
    )
    return {"data": traces, "layout": layout}


def times_summary(times: Times) -> Markup:
    """The measured times in words."""
    longest = max(times.loop)
    grown = times.loop[longest] / times.loop[longest // 2]
    difference = scientific(times.difference)
    took = times.loop[longest], times.matrix[longest]
    return TEXT.times(times.width, longest, *took, difference, grown, max(times.matrix))
