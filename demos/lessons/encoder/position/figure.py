"""Position encodings drawn (Plotly): a table as a heatmap, its rows' similarity, the four requirements as curves."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.position import Wishes
from demos.bert.encoder.position_added import AddedOrConcatenated
from demos.figures.axes import of_panel, panel_axes, panel_title, panels
from demos.figures.figure.figure import Axis, Figure, Trace
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.short_text import short
from demos.figures.strips import FEW, in_cells, signed_colours, strips_limit
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
) -> Figure:
    """A table [m, d], one row per position: one signed scale from -limit to limit, as `strips_figure` draws one.

    Few numbers are written into their cells. `names` are the rows' own where there are few; the row `marked` is framed.
    """
    m, d = table.shape
    full = strips_limit(list(table)) if limit is None else limit
    figure = _square(table, full, "dimension %{x}: <b>%{z:+.4f}</b>", "dimension", names, marked)
    if d <= FEW // 2 and m <= NAMED:
        figure["data"][0] |= in_cells(table, ".4f") | {"xgap": 1, "ygap": 1}
    return figure


def similarity_figure(cosines: np.ndarray, *, marked: int | None = None) -> Figure:
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
    """The rows of `count` that are drawn: all, or ADDED_TOKENS of them with `token` among them."""
    begin = min(max(0, token - ADDED_TOKENS // 2), max(0, count - ADDED_TOKENS))
    return slice(begin, min(count, begin + ADDED_TOKENS))


def wishes_figure(sinusoid: Wishes, learned: Wishes, norms: tuple[np.ndarray, np.ndarray]) -> Figure:
    """Four small pictures, one for each requirement, each with both tables; `norms` are those of all rows that each
    side has.
    """
    titles = (
        "1 Unique: distance to<br>the nearest other row",
        "2 Consistent: cosine of<br>rows k positions apart",
        "3 Bounded: smallest and<br>largest number of a row",
        "4 Any length: norm of each<br>row, if the row exists",
    )
    traces = []
    for name, colour, dash, of, norm in (
        ("sinusoids", SINUSOID, "solid", sinusoid, norms[0]),
        ("learned", LEARNED, "dash", learned, norms[1]),
    ):
        line = {"color": colour, "width": 2.5, "dash": dash}
        traces += [_band(2, of.offset_low, of.offset_high, colour), _band(3, of.low, of.high, colour)]
        curves = ((1, of.nearest_each), (2, of.offset_mean), (3, of.high), (3, of.low), (4, norm))
        traces += [_curve(panel, values, line, name) for panel, values in curves]
    across = panels(len(titles), 0.055)
    axes: Axis = {}
    for panel, domain in enumerate(across, start=1):
        below = {"text": "k" if panel == 2 else "position", "standoff": 2}
        up = {"showgrid": True, "zeroline": True, "nticks": 5} | ({"rangemode": "tozero"} if panel in (1, 4) else {})
        axes |= panel_axes(panel, {"domain": domain, "showgrid": False, "nticks": 5, "title": below}, up)
    layout = plotly_layout(
        height=330,
        margin={"l": 46, "r": 12, "t": 52, "b": 76},
        legend={"orientation": "h", "y": -0.24, "x": 0},
        annotations=[panel_title(title, domain) for title, domain in zip(titles, across, strict=True)],
        **axes,
    )
    return {"data": traces, "layout": layout}


def _curve(panel: int, y: np.ndarray, line: dict[str, object], name: str) -> Trace:
    """A line over 0, 1, 2, …; the legend names it in the first picture alone."""
    curve = {"type": "scatter", "mode": "lines", "y": np.round(y, 6), "line": line, "name": name}
    hover = {"hovertemplate": f"%{{x}}: <b>%{{y:.4f}}</b><extra>{name}</extra>", "showlegend": panel == 1}
    return curve | hover | of_panel(panel)


def _band(panel: int, low: np.ndarray, high: np.ndarray, colour: str) -> Trace:
    """The area between two curves over 0, 1, 2, …, pale."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    x = np.arange(len(low))
    edge = {"x": np.concatenate([x, x[::-1]]), "y": np.round(np.concatenate([high, low[::-1]]), 6)}
    filled = {"fill": "toself", "fillcolor": f"rgba({red},{green},{blue},0.22)", "line": {"width": 0}}
    quiet = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    return quiet | edge | filled | of_panel(panel)


def _square(z: np.ndarray, full: float, hover: str, across: str, names: Sequence[str], marked: int | None) -> Figure:
    """Numbers [m, width] on the signed scale, one row per position, 0 on top, and the row `marked` framed.

    `across` names the columns; the rows' names are beside their numbers if there are few.
    """
    m, width = z.shape
    heatmap = {
        "type": "heatmap",
        "z": z.astype(np.float32),
        "hovertemplate": f"position %{{y}}<br>{hover}<extra></extra>",
    }
    left = 62
    down = BARE | {"ticklabeloverflow": "allow", "range": [m - 0.5, -0.5]}
    if names and m <= NAMED:
        named = [f"{index} {plot_text(name)}" for index, name in enumerate(names)]
        down |= {"tickvals": list(range(m)), "ticktext": named, "tickfont": {"size": 16}}
        left = int(min(200, 24 + 10 * max(len(name) for name in named)))
    else:
        step = 1 if m <= NAMED else 5 if m <= 40 else 10 if m <= 80 else 20
        down |= {"tick0": 0, "dtick": step, "title": {"text": "position", "standoff": 4}}
    box = {"type": "rect", "line": {"color": MARK, "width": 2}, "x0": -0.5, "x1": width - 0.5}
    ticks = {"dtick": 1} if width <= FEW else {"nticks": 10}
    layout = plotly_layout(
        height=HEIGHT,
        margin={"l": left, "r": 10, "t": 12, "b": 46},
        xaxis=BARE | ticks | {"title": {"text": across, "standoff": 4}},
        yaxis=down,
        shapes=[] if marked is None or marked >= m else [box | {"y0": marked - 0.5, "y1": marked + 0.5}],
    )
    return {"data": [heatmap | signed_colours(full, ".2g")], "layout": layout}
