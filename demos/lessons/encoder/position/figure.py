"""Position codes drawn (Plotly): a table as a heatmap, how alike its rows are, and the four wishes as curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from demos.bert.encoder.position import Wishes
from demos.figures.palette import CLASSES, colour_scale, plotly_layout
from demos.figures.strips import FEW, strips_limit
from demos.templates import plot_text

HEIGHT = 400
NAMED = 16  # rows; with more, positions are numbers on an axis
SINUSOID, LEARNED = CLASSES[0], CLASSES[5]
MARK = CLASSES[5]


def table_figure(
    table: np.ndarray, *, names: Sequence[str] = (), marked: int | None = None, limit: float | None = None
) -> go.Figure:
    """A table [m, d], a row a position: one signed scale from -limit to limit, as `strips_figure` draws one.

    Few numbers are written into their cells. `names` are the rows' own where there are few; the row `marked` is framed.
    """
    m, d = table.shape
    few = d <= FEW // 2 and m <= NAMED
    full = strips_limit(list(table)) if limit is None else limit
    figure = _heatmap(table.astype(np.float32), full, "dimension %{x}: <b>%{z:+.4f}</b>")
    if few:
        figure.update_traces(texttemplate="%{z:.4f}", textfont={"size": 15}, xgap=1, ygap=1)
    figure.update_xaxes(title={"text": "dimension", "standoff": 4}, **({"dtick": 1} if d <= FEW else {"nticks": 10}))
    _rows(figure, m, names)
    _frame(figure, marked, m, d)
    return figure


def similarity_figure(cosines: np.ndarray, *, names: Sequence[str] = (), marked: int | None = None) -> go.Figure:
    """Cosines [m, m] of every two rows of a table, on the signed scale from -1 to 1."""
    m = len(cosines)
    figure = _heatmap(cosines.astype(np.float32), 1.0, "and position %{x}: cosine <b>%{z:.3f}</b>")
    figure.update_xaxes(title={"text": "position", "standoff": 4}, **({"dtick": 1} if m <= FEW else {"nticks": 10}))
    _rows(figure, m, names)
    _frame(figure, marked, m, m)
    return figure


def wishes_figure(sinusoid: Wishes, learned: Wishes, norms: tuple[np.ndarray, np.ndarray]) -> go.Figure:
    """Four small pictures, one a wish, each with both tables; `norms` are those of all rows that each side has."""
    titles = (
        "1 Unique: distance to<br>the row most like it",
        "2 Consistent: cosine of<br>rows k positions apart",
        "3 Bounded: a row's smallest<br>and largest number",
        "4 Any length: norm of a row,<br>as far as there are rows",
    )
    figure = make_subplots(rows=1, cols=4, subplot_titles=titles, horizontal_spacing=0.055)
    for name, colour, dash, of, norm in (
        ("sinusoids", SINUSOID, "solid", sinusoid, norms[0]),
        ("learned", LEARNED, "dash", learned, norms[1]),
    ):
        line = {"color": colour, "width": 2.5, "dash": dash}
        m = len(of.low)
        at = np.arange(m)
        _curve(figure, 1, at, of.nearest_each, line, name, legend=True)
        _band(figure, 2, at, of.offset_low, of.offset_high, colour)
        _curve(figure, 2, at, of.offset_mean, line, name)
        _band(figure, 3, at, of.low, of.high, colour)
        _curve(figure, 3, at, of.high, line, name)
        _curve(figure, 3, at, of.low, line, name)
        _curve(figure, 4, np.arange(len(norm)), norm, line, name)
    figure.update_layout(
        **plotly_layout(
            height=330, margin={"l": 46, "r": 12, "t": 52, "b": 76}, legend={"orientation": "h", "y": -0.24, "x": 0}
        )
    )
    figure.update_annotations(font={"size": 16})
    figure.update_yaxes(showgrid=True, zeroline=True, nticks=5)
    figure.update_xaxes(showgrid=False, nticks=5, title={"text": "position", "standoff": 2})
    figure.update_xaxes(title={"text": "k"}, col=2)
    figure.update_yaxes(rangemode="tozero", col=1)
    figure.update_yaxes(rangemode="tozero", col=4)
    return figure


def _curve(
    figure: go.Figure,
    column: int,
    x: np.ndarray,
    y: np.ndarray,
    line: dict[str, object],
    name: str,
    legend: bool = False,
) -> None:
    figure.add_trace(
        go.Scatter(
            x=x, y=np.round(y, 6), mode="lines", line=line, name=name, showlegend=legend,
            hovertemplate=f"%{{x}}: <b>%{{y:.4f}}</b><extra>{name}</extra>",
        ),
        row=1, col=column,
    )  # fmt: skip


def _band(figure: go.Figure, column: int, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> None:
    """The area between two curves, pale."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    figure.add_trace(
        go.Scatter(
            x=np.concatenate([x, x[::-1]]), y=np.round(np.concatenate([high, low[::-1]]), 6), fill="toself",
            fillcolor=f"rgba({red},{green},{blue},0.22)", line={"width": 0}, mode="lines", hoverinfo="skip",
            showlegend=False,
        ),
        row=1, col=column,
    )  # fmt: skip


def _heatmap(z: np.ndarray, full: float, hover: str) -> go.Figure:
    figure = go.Figure(
        go.Heatmap(
            z=z,
            zmin=-full,
            zmax=full,
            colorscale=colour_scale("signed"),
            hovertemplate=f"position %{{y}}<br>{hover}<extra></extra>",
            colorbar={
                "thickness": 12,
                "len": 1,
                "outlinewidth": 0,
                "tickvals": [-full, 0, full],
                "ticktext": [f"−{full:.2g}", "0", f"{full:.2g}"],
            },
        )
    )
    figure.update_layout(**plotly_layout(height=HEIGHT, margin={"l": 62, "r": 10, "t": 12, "b": 46}))
    figure.update_xaxes(showgrid=False, zeroline=False, ticks="")
    return figure


def _rows(figure: go.Figure, m: int, names: Sequence[str]) -> None:
    """The rows' axis: position 0 on top; names beside the numbers where there are few."""
    figure.update_yaxes(
        showgrid=False,
        zeroline=False,
        ticks="",
        ticklabeloverflow="allow",
        range=[m - 0.5, -0.5],
        title={"text": "position", "standoff": 4},
    )
    if names and m <= NAMED:
        named = [f"{index} {plot_text(name)}" for index, name in enumerate(names)]
        figure.update_yaxes(tickvals=list(range(m)), ticktext=named, tickfont={"size": 16}, title=None)
        figure.update_layout(margin_l=int(min(200, 24 + 10 * max(len(name) for name in named))))
    else:
        figure.update_yaxes(tick0=0, dtick=1 if m <= NAMED else 5 if m <= 40 else 10 if m <= 80 else 20)


def _frame(figure: go.Figure, row: int | None, m: int, width: int) -> None:
    if row is not None and row < m:
        box = {"x0": -0.5, "x1": width - 0.5, "y0": row - 0.5, "y1": row + 0.5}
        figure.add_shape(type="rect", line={"color": MARK, "width": 2}, **box)
