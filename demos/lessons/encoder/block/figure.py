"""The block as a column of strips: the lecture's six equations for one token, a running calculation from x to H."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from demos.bert.encoder.feed_forward import NormLedger, activation
from demos.bert.encoder.layer_trace import CLOSES, LayerLedger
from demos.bert.model.encoding import Encoding
from demos.figures.cell_strip import cells, scale_html
from demos.figures.numbers import scientific
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.strips import strips_limit, strips_table
from demos.figures.token_chips import visible

EQUATIONS = {
    "t1": "T<sub>1</sub> = MultiHead(x)",
    "t2": "T<sub>2</sub> = x + T<sub>1</sub>",
    "t3": "T<sub>3</sub> = LayerNorm(T<sub>2</sub>)",
    "t4": "T<sub>4</sub> = W<sub>2</sub> GELU(W<sub>1</sub> T<sub>3</sub>)",
    "t5": "T<sub>5</sub> = T<sub>3</sub> + T<sub>4</sub>",
    "h": "H = LayerNorm(T<sub>5</sub>)",
}


NEAR = 0.1  # units this close share a point in the plot of GELU


@dataclass(frozen=True)
class Step:
    """A row of the picture: a vector [d], or a single number for the whole token where `vector` is None."""

    sign: str  # what stands before its number in the running calculation
    title: str  # HTML
    name: str  # the same in plain text
    vector: np.ndarray | None
    number: float | None = None
    key: str = ""  # among EQUATIONS, where it is one of the six


def steps(ledger: LayerLedger, token: int) -> list[Step]:
    """The running calculation of one token through the block."""
    block = ledger.block

    def equation(sign: str, key: str, name: str) -> Step:
        return Step(sign, EQUATIONS[key], name, getattr(block, key)[token], key=key)

    def norm(of: NormLedger, what: str) -> list[Step]:
        return [
            Step("−", f"mean μ of {what}", "", None, float(of.mean[token])),
            Step("÷", f"deviation σ of {what}", "", None, float(of.deviation[token])),
            Step("=", "normalised: (… − μ) ÷ σ", "normalised", of.normalised[token]),
            Step("×", "gain γ, learnt", "gain", of.gain),
            Step("+", "offset β, learnt", "offset", of.offset),
        ]

    return [
        Step("", "x, what enters the layer", "x", block.x[token]),
        equation("+", "t1", "T1"),
        equation("=", "t2", "T2"),
        *norm(block.norm3, "T<sub>2</sub>"),
        equation("=", "t3", "T3"),
        equation("+", "t4", "T4"),
        equation("=", "t5", "T5"),
        *norm(block.norm_out, "T<sub>5</sub>"),
        equation("=", "h", "H"),
    ]


def block_picture(ledger: LayerLedger, encoding: Encoding, token: int, number: int) -> str:
    """One token's six equations: a strip a step; of number `number` (0..d - 1) the whole calculation beside them.

    Each of the six is held against the model's own tensor: the largest difference, over all tokens.
    """
    rows = steps(ledger, token)
    limit = strips_limit([row.vector for row in rows if row.vector is not None])
    d = ledger.block.x.shape[1]
    differences = ledger.differences
    body = ""
    for row in rows:
        if row.key == "t4":
            body += _inner(ledger, token)
        body += _row(row, limit, number, differences)
    written = visible(encoding.tokens[token])
    return (
        f'<div class="block-scroll" tabindex="0" role="region" aria-label="The block, step by step">'
        f'<table class="block-steps" data-at="{number}">'
        f"<caption><b>{written}</b> (token {token}) through layer {ledger.layer}</caption>"
        '<thead><tr><th scope="col">step</th>'
        f'<th scope="col">{d} numbers</th>'
        f'<th scope="col" colspan="2">number <span class="at-number">{number}</span></th>'
        '<th scope="col">norm</th><th scope="col">largest difference<br>from the model’s own</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>{scale_html(('all strips', limit))}"
    )


def _row(row: Step, limit: float, number: int, differences: dict[str, float]) -> str:
    if row.vector is None:
        return (
            f'<tr class="single"><th scope="row">{row.title}</th><td></td><td class="sign">{row.sign}</td>'
            f'<td class="one">{_number(row.number or 0.0)}</td><td></td><td></td></tr>'
        )
    place = f"{(number + 0.5) / len(row.vector):.4%}"
    strip = cells(row.vector, limit, row.name, group="block").replace(
        '<span class="cells"', f'<span class="cells" style="--at:{place}"', 1
    )
    six = row.key or row.name == "x"
    checked = scientific(differences[row.key]) if row.key else ""
    return (
        f'<tr class="{"six" if six else "within"}"{f" data-step={row.key}" if row.key else ""}>'
        f'<th scope="row">{row.title}</th><td>{strip}</td><td class="sign">{row.sign}</td>'
        f'<td class="at">{_number(float(row.vector[number]))}</td>'
        f"<td>{np.linalg.norm(row.vector.astype(np.float64)):.3f}</td><td>{checked}</td></tr>"
    )


def _inner(ledger: LayerLedger, token: int) -> str:
    """The feed-forward's inside, folded: 4d numbers before and after GELU."""
    inner, active = ledger.block.inner[token], ledger.block.active[token]
    limit = strips_limit([inner])
    on = int((inner > 0).sum())
    return (
        f'<tr class="within"><th scope="row">inside: W<sub>1</sub> T<sub>3</sub> + b<sub>1</sub>, then GELU</th>'
        f"<td><details><summary>{len(inner):,} numbers, of which {on:,} are above zero: open them</summary>"
        f"<p>before GELU</p>{cells(inner, limit, 'W1 T3 + b1')}<p>after GELU</p>"
        f"{cells(active, limit, 'GELU(W1 T3 + b1)')}{scale_html(('inside', limit))}</details></td>"
        f"<td></td><td></td><td>{np.linalg.norm(active.astype(np.float64)):.3f}</td>"
        f"<td>{scientific(ledger.differences['active'])}</td></tr>"
    )


def _number(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def block_told(ledger: LayerLedger, encoding: Encoding, token: int) -> str:
    """What the picture shows, in two sentences, and whether the ledger closes (HTML)."""
    block, name = ledger.block, html.escape(encoding.tokens[token])
    norms = {key: float(np.linalg.norm(getattr(block, key)[token])) for key in ("x", "t1", "t3", "t4", "h")}
    inner = block.inner[token]
    on = int((inner > 0).sum())
    verdict = "the ledger closes" if ledger.largest <= CLOSES else "more than float32 accounts for"
    return (
        f"<p><b>Attention adds a vector of norm {norms['t1']:.2f} to <q>{name}</q>’s {norms['x']:.2f}; the feed-"
        f"forward adds {norms['t4']:.2f} to {norms['t3']:.2f}.</b> LayerNorm sets the mean to 0 and the deviation to "
        f"1, then gain and offset stretch and shift each number. Inside the feed-forward {on:,} of {len(inner):,} "
        f"units ({on / len(inner):.0%}) are above zero.</p>"
        f'<p class="closed" data-difference="{ledger.largest:.3e}"><b>Largest difference from the model’s own tensors, '
        f"over all steps and tokens: {scientific(ledger.largest)}</b> ({verdict}; float32 carries seven digits, so "
        "numbers above 1 are compared by their part).</p>"
    )


def gelu_figure(ledger: LayerLedger, token: int) -> go.Figure:
    """The activation's curve, ReLU's beside it, and on it this token's units: where each comes in, what it gives.

    Units that come in close together share a point, at their mean, whose area says how many they are: thousands of
    points would take the page a quarter of a second.
    """
    inner = ledger.block.inner[token]
    left, right = _reach(inner)
    _, group, counts = np.unique(np.floor(inner / NEAR).astype(int), return_inverse=True, return_counts=True)
    means = (np.bincount(group, weights=inner) / counts).astype(np.float32)
    line = np.linspace(left, right, 241, dtype=np.float32)
    name = "GELU" if ledger.weights.activation.startswith("gelu") else ledger.weights.activation
    figure = go.Figure(
        [
            go.Scatter(
                x=line, y=np.maximum(line, 0), name="ReLU, for comparison", mode="lines", hoverinfo="skip",
                line={"color": "#8a9096", "width": 1.5, "dash": "dot"},
            ),
            go.Scatter(
                x=line, y=activation(ledger.weights.activation)(line), name=name, mode="lines", hoverinfo="skip",
                line={"color": CLASSES[0], "width": 3},
            ),
            go.Scatter(
                x=means, y=activation(ledger.weights.activation)(means), customdata=counts,
                name=f"this token’s {len(inner):,} units, in groups", mode="markers",
                marker={"size": 5 + 2.2 * np.sqrt(counts), "color": CLASSES[5], "opacity": 0.5, "line": {"width": 0}},
                hovertemplate=(
                    "units here: <b>%{customdata}</b><br>in <b>%{x:.3f}</b>, out <b>%{y:.3f}</b><extra></extra>"
                ),
            ),
        ]
    )  # fmt: skip
    figure.update_layout(
        **plotly_layout(height=380, margin={"l": 60, "r": 20, "t": 10, "b": 50}, legend={"x": 0.02, "y": 0.98})
    )
    figure.update_xaxes(title="in: a unit of W₁ T₃ + b₁", range=[left, right])
    figure.update_yaxes(title="out", range=[-0.1 * right - 0.3, right])
    return figure


def _reach(inner: np.ndarray) -> tuple[float, float]:
    """The part of the curve that is drawn: where the units are, but not beyond what leaves its bend to be seen."""
    return -min(max(4.0, -float(inner.min())), 6.0) - 0.2, min(max(3.0, float(inner.max())), 8.0) + 0.2


def gelu_told(ledger: LayerLedger, token: int) -> str:
    """The plot in words (HTML)."""
    inner, active = ledger.block.inner[token], ledger.block.active[token]
    top = int(active.argmax())
    left, right = _reach(inner)
    outside = int(((inner < left) | (inner > right)).sum())
    beyond = f" Outside the plot: {outside}." if outside else ""
    power = np.sort(active.astype(np.float64) ** 2)[::-1]
    share = power[: max(1, len(power) // 100)].sum() / (power.sum() or 1.0)
    return (
        f"<p>GELU lets what is well above zero through and nearly shuts out the rest; just below zero a little gets "
        f"through (at most −0.17). Unit {top:,} gives the most: in {_number(float(inner[top]))}, out "
        f"{_number(float(active[top]))}. The strongest hundredth of the units holds {share:.0%} of the "
        f"squared norm.{beyond}</p>"
    )


def block_numbers(ledger: LayerLedger, encoding: Encoding, token: int) -> str:
    """The first numbers, mean, deviation and norm of every step, and each step's difference from the model (HTML)."""
    rows = [(step.name or step.title, step.vector) for step in steps(ledger, token) if step.vector is not None]
    vectors = strips_table(rows, f"{encoding.tokens[token]} (token {token}) in layer {ledger.layer}, step by step")
    titles = {"query": "q", "key": "k", "value": "v", "weights": "attention weights", "concat": "heads side by side"}
    titles |= {"inner": "W1 T3 + b1", "active": "GELU(W1 T3 + b1)", **{f"t{i}": f"T{i}" for i in range(1, 6)}, "h": "H"}
    differences = ledger.differences
    body = "".join(
        f'<tr><th scope="row">{titles[key]}</th><td>{" × ".join(map(str, ours.shape))}</td>'
        f"<td>{np.abs(ours).max():.3f}</td><td>{scientific(float(np.abs(ours - ledger.own[key]).max()))}</td>"
        f"<td>{scientific(differences[key])}</td></tr>"
        for key, ours in ledger.steps.items()
    )
    told = "Every step of this layer against the model’s own tensor, over all tokens"
    columns = "".join(
        f'<th scope="col">{title}</th>'
        for title in ("shape", "largest number", "largest difference", "the same, numbers above 1 by their part")
    )
    return (
        f'{vectors}<div class="attention-table" tabindex="0" role="region" aria-label="{told}"><table><caption>{told}'
        f"</caption><thead><tr><td></td>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )
