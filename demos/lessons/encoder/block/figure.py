"""The block as a column of strips: six equations for one token, and a running calculation from x to H."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.layer_trace import CLOSES, LayerLedger
from demos.bert.encoder.norm_and_feed_forward import NormLedger, activation
from demos.bert.model.encoding import Encoding
from demos.counting import layer_name
from demos.figures.cell_strip import cells, scale_html
from demos.figures.figure.figure import Figure
from demos.figures.numbers import scientific
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.strips import strips_limit, strips_table
from demos.figures.token_chips import visible
from demos.templates import signed, templates

TEXT = templates(__file__)
NEAR = 0.1  # units this close share a point in the plot of GELU
PLAIN = {"normalised": "normalised", "gain": "gain", "offset": "offset", "x": "x", "h": "H"}  # a step's name, as text
PLAIN |= {f"t{number}": f"T{number}" for number in range(1, 6)}


@dataclass(frozen=True)
class Step:
    """A row of the picture: a vector [d], or a single number for the whole token where `vector` is None."""

    sign: str  # the sign before its number in the running calculation
    key: str  # "x", one of the six equations "t1" to "h", or a step of LayerNorm
    vector: np.ndarray | None
    number: float = 0.0


def steps(ledger: LayerLedger, token: int) -> list[Step]:
    """The running calculation of one token through the block."""
    block = ledger.block

    def equation(sign: str, key: str) -> Step:
        return Step(sign, key, getattr(block, key)[token])

    def norm(of: NormLedger, number: int) -> list[Step]:
        return [
            Step("−", f"mean {number}", None, float(of.mean[token])),
            Step("÷", f"deviation {number}", None, float(of.deviation[token])),
            Step("=", "normalised", of.normalised[token]),
            Step("×", "gain", of.gain),
            Step("+", "offset", of.offset),
        ]

    return [
        equation("", "x"),
        equation("+", "t1"),
        equation("=", "t2"),
        *norm(block.norm3, 2),
        equation("=", "t3"),
        equation("+", "t4"),
        equation("=", "t5"),
        *norm(block.norm_out, 5),
        equation("=", "h"),
    ]


def block_picture(ledger: LayerLedger, encoding: Encoding, token: int, number: int) -> Markup:
    """One token's six equations, one strip per step; beside them the calculation of component `number` (0..d - 1).

    Each of the six is compared with the model's own tensor: the largest difference over all tokens.
    """
    all_steps, differences = steps(ledger, token), ledger.differences
    limit = strips_limit([step.vector for step in all_steps if step.vector is not None])
    rows = []
    for step in all_steps:
        row: dict[str, object] = {"sign": step.sign, "key": step.key, "cells": None, "number": _number(step.number)}
        if (vector := step.vector) is not None:
            row |= {
                "cells": cells(vector, limit, PLAIN[step.key], at=number, group="block"),
                "number": _number(float(vector[number])),
                "norm": np.linalg.norm(vector.astype(np.float64)),
                "checked": scientific(differences[step.key]) if step.key in differences else None,
            }
        rows.append(row)
    inner, active = ledger.block.inner[token], ledger.block.active[token]
    widest = strips_limit([inner])
    inside = {
        "units": len(inner),
        "on": int((inner > 0).sum()),
        "before": cells(inner, widest, "T3 W1 + b1"),
        "after": cells(active, widest, "GELU(T3 W1 + b1)"),
        "scale": scale_html(("inside", widest)),
        "norm": np.linalg.norm(active.astype(np.float64)),
        "checked": scientific(differences["active"]),
    }
    width = ledger.block.x.shape[1]
    name, scale = visible(encoding.tokens[token]), scale_html(("all strips", limit))
    return TEXT.picture(rows, inside, name, token, ledger.layer, number, width, scale)


def _number(value: float) -> str:
    return signed(value, ".4f")


def block_summary(ledger: LayerLedger, encoding: Encoding, token: int) -> Markup:
    """The picture in two sentences, and whether the ledger closes."""
    inner, largest = ledger.block.inner[token], ledger.largest
    norms = {key: np.linalg.norm(getattr(ledger.block, key)[token]) for key in ("x", "t1", "t3", "t4")}
    on = int((inner > 0).sum())
    return TEXT.summary(encoding.tokens[token], norms, len(inner), on, largest, scientific(largest), largest <= CLOSES)


def gelu_figure(ledger: LayerLedger, token: int) -> Figure:
    """The activation's curve, ReLU's beside it, and on it this token's units: where each comes in, what it gives.

    Units that come in close together share a point, at their mean, whose area says how many they are: thousands of
    points would take the page a quarter of a second.
    """
    inner = ledger.block.inner[token]
    left, right = _reach(inner)
    _, group, counts = np.unique(np.floor(inner / NEAR).astype(int), return_inverse=True, return_counts=True)
    means = (np.bincount(group, weights=inner) / counts).astype(np.float32)
    hover = "units here: <b>%{customdata}</b><br>in <b>%{x:.3f}</b>, out <b>%{y:.3f}</b><extra></extra>"
    line, act = np.linspace(left, right, 241, dtype=np.float32), activation(ledger.weights.activation)
    name = "GELU" if ledger.weights.activation.startswith("gelu") else ledger.weights.activation
    relu = {
        "x": line,
        "y": np.maximum(line, 0),
        "name": "ReLU, for comparison",
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": "#8a9096", "width": 1.5, "dash": "dot"},
    }
    curve = {
        "x": line,
        "y": act(line),
        "name": name,
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": CLASSES[0], "width": 3},
    }
    units = {
        "x": means,
        "y": act(means),
        "customdata": counts,
        "name": f"the {len(inner):,} units of this token, in groups",
        "mode": "markers",
        "marker": {"size": 5 + 2.2 * np.sqrt(counts), "color": CLASSES[5], "line": {"width": 0}},
        "hovertemplate": hover,
    }
    layout = plotly_layout(
        height=440,
        margin={"l": 60, "r": 20, "t": 84, "b": 50},
        legend={"x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": {"text": "in: a unit of T₃ W₁ + b₁"}, "range": [left, right]},
        yaxis={"title": {"text": "out"}, "range": [-0.1 * right - 0.3, right]},
    )
    return {"data": [{"type": "scatter"} | trace for trace in (relu, curve, units)], "layout": layout}


def _reach(inner: np.ndarray) -> tuple[float, float]:
    """The part of the curve that is drawn: where the units are, but short enough that its bend stays visible."""
    return -min(max(4.0, -float(inner.min())), 6.0) - 0.2, min(max(3.0, float(inner.max())), 8.0) + 0.2


def gelu_summary(ledger: LayerLedger, token: int) -> Markup:
    """The plot in words."""
    inner, active = ledger.block.inner[token], ledger.block.active[token]
    top = int(active.argmax())
    left, right = _reach(inner)
    outside = int(((inner < left) | (inner > right)).sum())
    power = np.sort(active.astype(np.float64) ** 2)[::-1]
    share = power[: max(1, len(power) // 100)].sum() / (power.sum() or 1.0)
    return TEXT.gelu(top, _number(float(inner[top])), _number(float(active[top])), share, outside)


def block_numbers(ledger: LayerLedger, encoding: Encoding, token: int) -> Markup:
    """The first numbers, mean, deviation and norm of every step, and each step's difference from the model."""
    vectors = [(PLAIN[step.key], step.vector) for step in steps(ledger, token) if step.vector is not None]
    by_part = ledger.differences
    differences = [
        (key, ours, scientific(float(np.abs(ours - ledger.own[key]).max())), scientific(by_part[key]))
        for key, ours in ledger.steps.items()
    ]
    caption = f"{encoding.tokens[token]} (token {token}) in {layer_name(ledger.layer)}, step by step"
    return strips_table(vectors, caption) + TEXT.differences(differences)
