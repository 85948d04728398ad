"""One head's self-attention for one token as the picture one would draw on the board: a row a key, their sum below."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from demos.bert.encoder.layer_trace import LayerLedger
from demos.bert.model.encoding import Encoding
from demos.figures.cell_strip import cells, scale_html
from demos.figures.strips import strips_limit
from demos.figures.token_chips import hue, visible

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


def attention_picture(asked: Asked) -> str:
    """Rows = keys; columns = k, q . k, scaled, softmax, weight x v; above them x and q, below their sum z (HTML)."""
    attention, head, token = asked.ledger.attention, asked.head, asked.token
    query, key, value = attention.query[head], attention.key[head], attention.value[head]
    weighted = asked.weights[:, None] * value  # [n, d_k]
    shown = asked.shown
    compared = strips_limit([query[token], *key[shown]])
    mixed = strips_limit([attention.z[head, token], *weighted[shown]])
    entering = strips_limit([attention.x[token]])
    name = asked.names[token]
    rows = "".join(_row(asked, index, compared, mixed, weighted[index]) for index in shown)
    rest = np.setdiff1d(np.arange(len(weighted)), shown)
    if rest.size:
        rows += (
            f'<tr class="rest"><th scope="row" colspan="4">{rest.size} more tokens together</th>'
            f"{_bar(float(asked.weights[rest].sum()))}"
            f"<td>{cells(weighted[rest].sum(axis=0), mixed, 'their sum')}</td></tr>"
        )
    d, width = attention.x.shape[1], query.shape[1]
    written = visible(name)
    return (
        f'<div class="board" tabindex="0" role="region" aria-label="Self-attention of {html.escape(name)}">'
        '<table class="board-table">'
        f"<caption>What <b>{written}</b> (token {token}) takes from each token, in layer {asked.ledger.layer}, "
        f"head {head}</caption>"
        '<colgroup><col class="token"><col><col class="number"><col class="number"><col class="soft"><col></colgroup>'
        f'<tbody class="entering"><tr><th scope="row">x <small>of {written}</small></th>'
        f'<td colspan="5">{cells(attention.x[token], entering, f"x of {name}")}</td></tr>'
        f'<tr><th scope="row">q <small>= W<sub>Q</sub> x + b</small></th>'
        f"<td>{cells(query[token], compared, f'q of {name}', id='q')}</td>"
        f'<td colspan="4" class="aside">{width} of the {d} numbers that W<sub>Q</sub> makes of x; k and v likewise</td>'
        "</tr></tbody>"
        '<thead><tr><th scope="col">key</th><th scope="col">k <small>= W<sub>K</sub> x + b</small></th>'
        f'<th scope="col">q · k</th><th scope="col">÷ √{width}</th><th scope="col">softmax</th>'
        '<th scope="col">weight × v <small>(v = W<sub>V</sub> x + b)</small></th></tr></thead>'
        f"<tbody>{rows}</tbody>"
        '<tfoot><tr><th scope="row" colspan="4">z <small>= the sum of the column</small></th>'
        f"{_bar(float(asked.weights.sum()))}"
        f"<td>{cells(attention.z[head, token], mixed, f'z of {name}')}</td></tr></tfoot></table>"
        f"{scale_html(('x', entering), ('q, k', compared), ('weight × v, z', mixed))}</div>"
    )


def _row(asked: Asked, index: int, compared: float, mixed: float, weighted: np.ndarray) -> str:
    """One key's row."""
    attention, head, token = asked.ledger.attention, asked.head, asked.token
    names, real = asked.names, index < len(asked.encoding)
    weight = float(asked.weights[index])
    seen = bool(attention.mask[token, index])
    kind = " ".join(
        word
        for word, holds in (
            ("own", index == token),
            ("unseen", not seen),
            ("faint", weight < FAINT),
            (hue(asked.encoding.word_index[index]) if real else "special", True),
        )
        if holds
    )
    written = visible(names[index])
    chip = (
        f'<button type="button" class="key" data-token="{index}" title="Follow this token">{written}<sub>{index}</sub>'
        "</button>"
        if real
        else f'<span class="key">{written}<sub>{index}</sub></span>'
    )
    scaled = _number(attention.scaled[head, token, index]) if seen else "−∞"
    return (
        f'<tr class="{kind}"><th scope="row">{chip}</th>'
        f"<td>{cells(attention.key[head, index], compared, f'k of {names[index]}', by='q')}</td>"
        f"<td>{_number(attention.scores[head, token, index])}</td><td>{scaled}</td>{_bar(weight)}"
        f"<td>{cells(weighted, mixed, f'weight × v of {names[index]}', factor=f'{weight:.6g}')}</td></tr>"
    )


def _bar(weight: float) -> str:
    return (
        f'<td class="weight" data-weight="{weight:.6f}"><span class="bar" style="width:{min(1.0, weight):.2%}"></span>'
        f"<b>{weight:.3f}</b></td>"
    )


def _number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def attention_told(asked: Asked) -> str:
    """The picture in a sentence or two, with what the switches do (HTML)."""
    ledger, names = asked.ledger, asked.names
    order = np.argsort(-asked.weights, kind="stable")[:3]
    gives = ", ".join(f"{asked.weights[index]:.2f} to <q>{html.escape(names[index])}</q>" for index in order)
    first = int(order[0])
    attention = ledger.attention
    score, scaled = attention.scores[asked.head, asked.token, first], attention.scaled[asked.head, asked.token, first]
    said = [
        f"<b><q>{html.escape(names[asked.token])}</q> gives {gives}.</b> With <q>{html.escape(names[first])}</q>: "
        f"q · k = {_number(score)}, ÷ √{attention.query.shape[-1]} = {_number(scaled)}, and after the softmax over "
        f"all {int(attention.mask[asked.token].sum())} keys it may see, {asked.weights[first]:.3f}."
    ]
    if ledger.causal:
        hidden = len(asked.encoding) - 1 - asked.token
        enters = "are the embeddings, in which no token has seen another"
        if ledger.layer:
            enters = "has passed layers that look both ways"
        said.append(
            f"The causal mask of a decoder hides {_counted(hidden, 'token')} after it: their products become −∞, their "
            f"weights 0. Only this layer is masked here; what enters it {enters}."
        )
    if ledger.padding:
        said.append(
            f"The {_counted(ledger.padding, '[PAD] token')} get weight {asked.weights[-ledger.padding :].max():.0f}: "
            "padding fills a batch up, and its mask keeps it out of every sum."
        )
    return "".join(f"<p>{one}</p>" for one in said)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def attention_numbers(asked: Asked) -> str:
    """The same as a table: every key's product, scaled product, power, weight and |v|, then q, k, v and z in full."""
    attention, head, token = asked.ledger.attention, asked.head, asked.token
    scaled = attention.scaled[head, token].astype(np.float64)
    powers = np.exp(scaled - scaled.max())
    norms = np.linalg.norm(attention.value[head], axis=1)
    head_cells = "".join(
        f'<th scope="col">{title}</th>'
        for title in ("q · k", "scaled s", "exp(s − largest s)", "weight", "norm of v", "norm of weight × v")
    )
    rows = "".join(
        f'<tr><th scope="row">{index} {visible(name)}</th><td>{_number(attention.scores[head, token, index], 4)}</td>'
        f"<td>{_number(scaled[index], 4) if np.isfinite(scaled[index]) else '−∞'}</td><td>{powers[index]:.6f}</td>"
        f"<td>{asked.weights[index]:.6f}</td><td>{norms[index]:.4f}</td>"
        f"<td>{asked.weights[index] * norms[index]:.4f}</td></tr>"
        for index, name in enumerate(asked.names)
    )
    total = (
        f'<tr><th scope="row">sum</th><td></td><td></td><td>{powers.sum():.6f}</td>'
        f"<td>{asked.weights.sum():.6f}</td><td></td><td></td></tr>"
    )
    vectors = {
        "q": attention.query[head, token],
        "k": attention.key[head, token],
        "v": attention.value[head, token],
        "z": attention.z[head, token],
    }
    name = f"{asked.names[token]} (token {token})"
    told = html.escape(f"Layer {asked.ledger.layer}, head {head}, from {name} to each key")
    own = html.escape(f"q, k, v and z of {name}, number by number")
    columns = "".join(f'<th scope="col">{index}</th>' for index in range(len(vectors["q"])))
    body = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{_number(value, 4)}</td>" for value in vector)}</tr>'
        for name, vector in vectors.items()
    )
    return (
        f'<div class="attention-table" tabindex="0" role="region" aria-label="{told}"><table><caption>{told}</caption>'
        f"<thead><tr><td></td>{head_cells}</tr></thead><tbody>{rows}{total}</tbody></table></div>"
        f'<div class="attention-table" tabindex="0" role="region" aria-label="{own}"><table><caption>{own}</caption>'
        f"<thead><tr><td></td>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )
