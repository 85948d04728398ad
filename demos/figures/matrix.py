"""A matrix between two rows of tokens: its heatmap (Plotly) and the same numbers as a table, rows' sums beside both."""

from typing import Literal

import numpy as np

from demos.bert.attention.matrix_labels import Labels
from demos.figures.figure.figure import Axis, Figure, Mark
from demos.figures.fonts.fonts import SMALL
from demos.figures.palette import colour_scale, plotly_layout
from demos.templates import plot_text, signed, templates

TEXT = templates(__file__, "text_matrix.html")
ROW = 26  # pixels a token takes where there is room
TITLE = 120  # pixels that the title beside the rows takes
NAMED_ROWS = 40  # beyond, the names of all would overlap
NAMED_COLUMNS = 28
NARROW = 20  # columns that can be named in a third of the page
SPACED = 72  # tokens; beyond, no space is left between cells
NUMBERED = 40  # rows; beyond, the sums' own digits would not fit their rows
GREY = "#8a9096"  # seen on paper and in the dark
BAR = {"thickness": 12, "len": 1, "outlinewidth": 0}  # a colour bar
BARE: Axis = {"showgrid": False, "zeroline": False, "ticks": ""}  # an axis whose cells are its grid
NORM = "norm"  # of a contribution: what `matrix_figure` is of
NO_VALUE = "rgba(128,128,128,0.22)"  # behind cells without a value, so that they are not read as zero


def matrix_figure(
    values: np.ndarray,
    rows: Labels,
    columns: Labels,
    *,
    scale: Literal["magnitude", "signed"] = "magnitude",
    limit: float | None = None,
    what: str = "weight",
    row_sums: bool = False,
    narrow: bool = False,
    reach: int | None = None,
) -> Figure:
    """Values [n, m] as a heatmap; colours run from 0 to `limit`, or from -limit to limit where `scale` is "signed".

    Without a `limit` it is the largest magnitude, rounded up. Cells of nan stay empty. `row_sums` adds each row's sum
    as a bar on the right. `narrow`, for a third of the page, names fewer columns where the names of all would overlap.
    Dashed lines mark the cells that are at most `reach` places from the diagonal.
    Put the plot into a block of the class `attention-heatmap` (matrix.css).
    """
    n, m = values.shape
    names = _categories(rows)
    full = _limit(values) if limit is None else limit
    sign = "+" if scale == "signed" else ""
    query, key = ("for", "of") if what == NORM else ("from", "to")  # a contribution goes the other way
    gap = 1 if max(n, m) <= SPACED else 0
    heatmap = {
        "type": "heatmap",
        "x": _categories(columns),
        "y": names,
        "z": np.round(values.astype(np.float64), 4 if full >= 0.05 else 8),
        "zmin": -full if scale == "signed" else 0,
        "zmax": full,
        "colorscale": colour_scale(scale),
        "hoverongaps": False,
        "hovertemplate": (
            f"{query} <b>%{{y}}</b><br>{key} <b>%{{x}}</b><br>"
            f"{plot_text(what)} %{{z:{sign}{'.4f' if full >= 0.05 else '.2e'}}}<extra></extra>"
        ),
        "xgap": gap,
        "ygap": gap,
        "colorbar": BAR | {"nticks": 6 if n > 6 else 2} | {"tickformat": f"{sign}{'.2f' if full >= 0.1 else '.2~g'}"},
    }
    left, top = (int(min(150, 30 + max(map(len, labels.names), default=0) * 9.5)) for labels in (rows, columns))
    shared = BARE | {"tickfont": {"size": SMALL}, "ticklabelstandoff": 4}
    across = {"side": "top", "tickangle": -90, "title": {"text": f"{key} (key)", "standoff": 6}}
    down = {"autorange": "reversed", "title": {"text": f"{query} (query)", "standoff": 6}}
    layout = plotly_layout(
        height=int(min(820, max(360 if n > 8 else 0, max(ROW * n, TITLE) + top + 40))),
        margin={"l": left + 18, "r": 10, "t": top + 22, "b": 10},
        xaxis=shared | _ticks(columns, NARROW if narrow else NAMED_COLUMNS) | across,
        yaxis=shared | _ticks(rows, NAMED_ROWS) | down,
        shapes=[*_start_of_sentence_b(rows, columns), *_edges(n, reach)],
    )
    if np.isnan(values).any():
        layout["plot_bgcolor"] = NO_VALUE
    figure: Figure = {"data": [heatmap], "layout": layout}
    return _with_row_sums(figure, values, names) if row_sums else figure


def matrix_table(values: np.ndarray, rows: Labels, columns: Labels, caption: str) -> str:
    """The values [n, m] as an HTML table with each row's sum; nan is a dash, and counts as nothing in the sum."""
    sums = np.nansum(values, axis=1).tolist()
    return TEXT.matrix(caption, _sides(rows), _sides(columns), values.tolist(), sums)


def _with_row_sums(figure: Figure, values: np.ndarray, names: list[str]) -> Figure:
    """The figure with one bar per row on its right, as long as the row's sum, from 0 to 1 if no sum is larger."""
    sums = np.nansum(values.astype(np.float64), axis=1)
    low, high = min(0.0, float(sums.min())), max(1.0, float(sums.max()))
    bars = {
        "type": "bar",
        "x": np.round(sums, 4),
        "y": names,
        "orientation": "h",
        "xaxis": "x2",
        "marker": {"color": GREY},
        "text": [signed(total, ".2f") for total in sums] if len(sums) <= NUMBERED else None,
        "textposition": "outside",
        "constraintext": "none",
        "textfont": {"size": SMALL},
        "cliponaxis": False,
        "showlegend": False,
        "hovertemplate": "<b>%{y}</b><br>sum of the row %{x:.4f}<extra></extra>",
    }
    layout = figure["layout"]
    title = {"text": "sum", "standoff": 6}
    beside = BARE | {"domain": [0.82, 0.87], "range": [low, high], "side": "top", "tickvals": [], "title": title}
    wide = layout["xaxis"] | {"domain": [0, 0.76]}
    return {"data": [*figure["data"], bars], "layout": layout | {"xaxis": wide, "xaxis2": beside, "bargap": 0.25}}


def _start_of_sentence_b(rows: Labels, columns: Labels) -> list[Mark]:
    """A dotted line where sentence B begins, on the sides that hold both sentences."""
    n, m = len(rows), len(columns)
    line = {"type": "line", "line": {"color": GREY, "width": 2, "dash": "dot"}}
    lines = []
    if 0 < (start := columns.sentence_b_start or 0) < m:
        lines.append(line | {"x0": start - 0.5, "x1": start - 0.5, "y0": -0.5, "y1": n - 0.5})
    if 0 < (start := rows.sentence_b_start or 0) < n:
        lines.append(line | {"x0": -0.5, "x1": m - 0.5, "y0": start - 0.5, "y1": start - 0.5})
    return lines


def _edges(n: int, reach: int | None) -> list[Mark]:
    """Two dashed lines along the diagonal of n x n cells, behind the cells that are `reach` places from it."""
    if reach is None or n <= reach + 1:
        return []
    line = {"type": "line", "line": {"color": GREY, "width": 2, "dash": "dash"}}
    ends = {"0": (reach, -0.5), "1": (n - 0.5, n - reach - 1)}
    return [
        line | {f"{axis}{end}": place for end, places in ends.items() for axis, place in zip(axes, places, strict=True)}
        for axes in ("xy", "yx")
    ]


def _limit(values: np.ndarray) -> float:
    """The largest magnitude, rounded up to hundredths, or to its second digit where it is below a tenth."""
    peak = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0
    if peak <= 0:
        return 0.01  # an axis from 0 to 0 would be none
    digits = 2 if peak >= 0.1 else 1 - int(np.floor(np.log10(peak)))
    return float(np.ceil(peak * 10**digits) / 10**digits)


def _categories(labels: Labels) -> list[str]:
    """Plotly's categories, distinguished by their number where names repeat."""
    return [f"{number} {plot_text(name)}" for number, name in zip(labels.numbers, labels.names, strict=True)]


def _ticks(labels: Labels, most: int) -> dict[str, list[str]]:
    """As many names as have room; special ones in italics, known without colour too."""
    step = named_step(len(labels), most)
    written = [
        f"<i>{plot_text(name)}</i>" if special else plot_text(name)
        for name, special in zip(labels.names, labels.special, strict=True)
    ]
    return {"tickvals": _categories(labels)[::step], "ticktext": written[::step]}


def _sides(labels: Labels) -> list[dict[str, str]]:
    """Each name, and which sentence of a pair it is of."""
    start = labels.sentence_b_start
    return [
        {"name": name, "sentence": "" if start is None else "AB"[index >= start]}
        for index, name in enumerate(labels.names)
    ]


def named_step(count: int, most: int) -> int:
    """1, 2, 4, …: the smallest step at which one name per step, of `count`, fits an axis with room for `most`."""
    step = 1
    while count > most * step:
        step *= 2
    return step
