"""Position codes drawn (Plotly): a table as a heatmap, how alike its rows are, and the four wishes as curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.subplots import make_subplots

from demos.bert.encoder.position import Wishes
from demos.bert.encoder.position_added import AddedOrConcatenated
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.short_text import short
from demos.figures.strips import FEW, signed_colours, strips_limit
from demos.templates import plot_text
from demos.widgets.matrix_picture.figure import Matrix, board_html, equation

HEIGHT = 400
NAMED = 16  # rows; with more, positions are numbers on an axis
SINUSOID, LEARNED = CLASSES[0], CLASSES[5]
MARK = CLASSES[5]
ADDED_TOKENS = 12  # rows drawn
TOKEN, WIDE, NARROW, HIGH = 11, 150, 44, 90  # pixels of a token, of d numbers across, of d_k, of d numbers down


def table_figure(
    table: np.ndarray, *, names: Sequence[str] = (), marked: int | None = None, limit: float | None = None
) -> go.Figure:
    """A table [m, d], a row a position: one signed scale from -limit to limit, as `strips_figure` draws one.

    Few numbers are written into their cells. `names` are the rows' own where there are few; the row `marked` is framed.
    """
    m, d = table.shape
    full = strips_limit(list(table)) if limit is None else limit
    figure = _square(table, full, "dimension %{x}: <b>%{z:+.4f}</b>", "dimension", names, marked)
    if d <= FEW // 2 and m <= NAMED:
        figure.update_traces(texttemplate="%{z:.4f}", textfont={"size": 16}, xgap=1, ygap=1)
    return figure


def similarity_figure(cosines: np.ndarray, *, marked: int | None = None) -> go.Figure:
    """Cosines [m, m] of every two rows of a table, on the signed scale from -1 to 1."""
    return _square(cosines, 1.0, "and position %{x}: cosine <b>%{z:.3f}</b>", "position", (), marked)


def added_board(both: AddedOrConcatenated, tokens: Sequence[str], token: int) -> Markup:
    """(w + p) W = q above, and below it [w; p] times W over W: the rows of the tokens around `token`."""
    n, drawn = len(tokens), window(len(tokens), token)
    count = drawn.stop - drawn.start
    tall, limit = TOKEN * count, strips_limit([both.word[drawn], both.position[drawn]])
    word, position, total, beside = (
        Matrix(name, table[drawn], "i", columns, (width, tall), limit=limit, shape=(n, table.shape[1]))
        for name, table, columns, width in (
            ("word", both.word, "d", WIDE),
            ("position", both.position, "d", WIDE),
            ("sum", both.total, "d", WIDE),
            ("word, position", both.beside, "e", 2 * WIDE),
        )
    )
    of_weight, of_query = strips_limit([both.weight]), strips_limit([both.from_sum[drawn]])
    weight = Matrix("W_Q", both.weight, "d", "k", (NARROW, HIGH), limit=of_weight)
    stacked = Matrix("W_Q above W_Q", both.stacked, "e", "k", (NARROW, 2 * HIGH), limit=of_weight)
    queries = [
        Matrix("query", table[drawn], "i", "k", (NARROW, tall), limit=of_query, shape=(n, table.shape[1]))
        for table in (both.from_sum, both.from_concatenation)
    ]
    rows = [
        equation(word, "+", position, "=", total),
        equation(total, "×", weight, "=", queries[0]),
        equation(beside, "×", stacked, "=", queries[1]),
    ]
    names = {"i": [short(piece, 14) for piece in tokens[drawn]]}
    return board_html(rows, names, {"i": token - drawn.start}, begins={"i": drawn.start})


def window(count: int, token: int) -> slice:
    """Which of `count` rows are drawn: all, or ADDED_TOKENS of them with `token` among them."""
    begin = min(max(0, token - ADDED_TOKENS // 2), max(0, count - ADDED_TOKENS))
    return slice(begin, min(count, begin + ADDED_TOKENS))


def wishes_figure(sinusoid: Wishes, learned: Wishes, norms: tuple[np.ndarray, np.ndarray]) -> go.Figure:
    """Four small pictures, one a wish, each with both tables; `norms` are those of all rows that each side has."""
    titles = (
        "1 Unique: distance to<br>the nearest other row",
        "2 Consistent: cosine of<br>rows k positions apart",
        "3 Bounded: smallest and<br>largest number of a row",
        "4 Any length: norm of each<br>row, if the row exists",
    )
    figure = make_subplots(rows=1, cols=4, subplot_titles=titles, horizontal_spacing=0.055)
    for name, colour, dash, of, norm in (
        ("sinusoids", SINUSOID, "solid", sinusoid, norms[0]),
        ("learned", LEARNED, "dash", learned, norms[1]),
    ):
        line = {"color": colour, "width": 2.5, "dash": dash}
        _band(figure, 2, of.offset_low, of.offset_high, colour)
        _band(figure, 3, of.low, of.high, colour)
        curves = ((1, of.nearest_each), (2, of.offset_mean), (3, of.high), (3, of.low), (4, norm))
        for column, values in curves:
            _curve(figure, column, values, line, name)
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


def _curve(figure: go.Figure, column: int, y: np.ndarray, line: dict[str, object], name: str) -> None:
    """A line over 0, 1, 2, …; the legend names it in the first picture alone."""
    hover = f"%{{x}}: <b>%{{y:.4f}}</b><extra>{name}</extra>"
    curve = go.Scatter(x=np.arange(len(y)), y=np.round(y, 6), mode="lines", line=line, name=name, hovertemplate=hover)
    figure.add_trace(curve.update(showlegend=column == 1), row=1, col=column)


def _band(figure: go.Figure, column: int, low: np.ndarray, high: np.ndarray, colour: str) -> None:
    """The area between two curves over 0, 1, 2, …, pale."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    x = np.arange(len(low))
    figure.add_trace(
        go.Scatter(
            x=np.concatenate([x, x[::-1]]), y=np.round(np.concatenate([high, low[::-1]]), 6), fill="toself",
            fillcolor=f"rgba({red},{green},{blue},0.22)", line={"width": 0}, mode="lines", hoverinfo="skip",
            showlegend=False,
        ),
        row=1, col=column,
    )  # fmt: skip


def _square(z: np.ndarray, full: float, hover: str, across: str, names: Sequence[str], marked: int | None) -> go.Figure:
    """Numbers [m, width] on the signed scale, a row a position, 0 on top, and the row `marked` framed.

    `across` is what the columns are; names stand beside the rows' numbers where there are few.
    """
    m, width = z.shape
    heatmap = go.Heatmap(
        z=z.astype(np.float32),
        **signed_colours(full, ".2g"),
        hovertemplate=f"position %{{y}}<br>{hover}<extra></extra>",
    )
    figure = go.Figure(heatmap)
    figure.update_layout(**plotly_layout(height=HEIGHT, margin={"l": 62, "r": 10, "t": 12, "b": 46}))
    ticks = {"dtick": 1} if width <= FEW else {"nticks": 10}
    figure.update_xaxes(**BARE, **ticks, title={"text": across, "standoff": 4})
    figure.update_yaxes(**BARE, ticklabeloverflow="allow", range=[m - 0.5, -0.5])
    if names and m <= NAMED:
        named = [f"{index} {plot_text(name)}" for index, name in enumerate(names)]
        figure.update_yaxes(tickvals=list(range(m)), ticktext=named, tickfont={"size": 16})
        figure.update_layout(margin_l=int(min(200, 24 + 10 * max(len(name) for name in named))))
    else:
        step = 1 if m <= NAMED else 5 if m <= 40 else 10 if m <= 80 else 20
        figure.update_yaxes(tick0=0, dtick=step, title={"text": "position", "standoff": 4})
    if marked is not None and marked < m:
        box = {"x0": -0.5, "x1": width - 0.5, "y0": marked - 0.5, "y1": marked + 0.5}
        figure.add_shape(type="rect", line={"color": MARK, "width": 2}, **box)
    return figure
