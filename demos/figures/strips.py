"""Vectors as strips: a row of coloured cells each, under one another, on one signed scale; and as a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from demos.figures.figure.figure import Attributes, Figure, Mark, for_phones
from demos.figures.matrix import BAR, BARE
from demos.figures.palette import colour_scale, plotly_layout
from demos.templates import plot_text, signed, templates

TEXT = templates(__file__, "text_strips.html")
STRIP = 34  # pixels a vector takes
ABOVE = 22  # pixels more on a phone, where its name is above it
SHARE = 0.99  # of all cells that lie inside the scale: one outlier of BERT's would pale all others
FEW = 16  # cells; so few have room for their numbers
BEGINNING = 8  # numbers of a vector in the table
Strip = tuple[str, np.ndarray]  # a name, and its vector <float>[d]


def strips_figure(rows: Sequence[Strip]) -> Figure:
    """Named vectors under one another, the first on top, each a row of d cells; their lengths may differ.

    Colours run from -limit to limit, white at zero, where the limit is what 99 of 100 cells stay within, rounded up;
    cells beyond it have the last colour, and show their own number on hover. Each vector's Euclidean norm is beside it.
    Names are text, not escaped yet. On the dark page matrix.css inverts the colours: put the plot into a block of the
    class `attention-heatmap`.
    """
    vectors = [np.asarray(vector, dtype=np.float32).ravel() for _, vector in rows]
    width = max((len(vector) for vector in vectors), default=1)
    z = np.full((len(rows), width), np.nan, dtype=np.float32)
    for row, vector in zip(z, vectors, strict=True):
        row[: len(vector)] = vector
    few = width <= FEW
    heatmap = signed_colours(strips_limit(vectors), ".3g", xref="container", x=1, xanchor="right", xpad=10) | {
        "type": "heatmap",
        "z": z,
        "x": np.arange(width),
        "y": np.arange(len(rows)),
        "hoverongaps": False,
        "hovertemplate": "%{y}<br>dimension %{x}: <b>%{z:+.4f}</b><extra></extra>",
        "xgap": 1 if few else 0,
        "ygap": 6,
    }
    if few:
        heatmap |= in_cells(z, ".2f")
    left = int(min(330, 24 + 8.4 * max((len(name) for name, _ in rows), default=0)))
    bare = BARE | {"ticklabeloverflow": "allow"}
    layout = plotly_layout(
        height=STRIP * len(rows) + 62,
        margin={"l": left, "r": 150, "t": 8, "b": 46},
        xaxis=bare
        | {"title": {"text": "dimension", "standoff": 4}, "range": [-0.5, width - 0.5], "tickangle": 0}
        | ({"dtick": 1} if few else {}),
        yaxis=bare
        | {"range": [len(rows) - 0.5, -0.5], "tickvals": list(range(len(rows))), "tickfont": {"size": 16}}
        | {"ticktext": [plot_text(name) for name, _ in rows], "ticklabelstandoff": 6},
        annotations=[_norm_beside(index, vector) for index, vector in enumerate(vectors)],
    )
    above = {"xref": "paper", "yanchor": "bottom", "yshift": (STRIP - heatmap["ygap"]) / 2, "xshift": 0}
    names = [
        {"x": 0, "xanchor": "left", "y": row} | above | _text(plot_text(name)) for row, (name, _) in enumerate(rows)
    ]
    norms = [mark | {"xanchor": "right"} | above for mark in layout["annotations"]]
    on_phones = {
        "height": (STRIP + ABOVE) * len(rows) + 62,
        "margin": {"l": 10, "r": 76},
        "yaxis": {"showticklabels": False},
        "annotations": [*names, *norms],
    }
    return for_phones({"data": [heatmap], "layout": layout}, on_phones, {0: {"ygap": heatmap["ygap"] + ABOVE}})


def in_cells(values: np.ndarray, spec: str) -> Attributes:
    """What writes the values [n, m] into a heatmap's cells; nan leaves its cell empty."""
    text = [["" if np.isnan(value) else signed(value, spec) for value in row] for row in values.tolist()]
    return {"text": text, "texttemplate": "%{text}", "textfont": {"size": 16}}


def _norm_beside(row: int, vector: np.ndarray) -> Mark:
    """The vector's Euclidean norm, on the right of its strip."""
    place = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "y": row}
    return place | _text(f"‖·‖ {np.linalg.norm(vector.astype(np.float64)):#.3g}")


def _text(text: str) -> Mark:
    return {"showarrow": False, "text": text, "font": {"size": 16}}


def signed_colours(limit: float, digits: str, **bar: Any) -> Attributes:
    """A heatmap's signed scale from -limit to limit, and the bar that says so."""
    ticks = {"tickvals": [-limit, 0, limit], "ticktext": [f"−{limit:{digits}}", "0", f"{limit:{digits}}"]}
    scale = {"zmin": -limit, "zmax": limit, "colorscale": colour_scale("signed")}
    return scale | {"colorbar": BAR | ticks | bar}


def strips_limit(vectors: Sequence[np.ndarray]) -> float:
    """The magnitude that 99 of 100 numbers stay within, rounded up to its second digit."""
    sizes = np.abs(np.concatenate([np.ravel(vector) for vector in vectors])) if len(vectors) else np.zeros(1)
    sizes = sizes[np.isfinite(sizes)]
    place = int(np.ceil(SHARE * (sizes.size - 1)))
    peak = float(np.partition(sizes, place)[place]) if sizes.size else 0.0
    peak = peak or float(sizes.max(initial=0.0)) or 0.01  # a scale from 0 to 0 would be none
    step = 10.0 ** (np.floor(np.log10(peak)) - 1)
    return float(np.ceil(round(peak / step, 6)) * step)


def strips_table(rows: Sequence[Strip], caption: str) -> Markup:
    """The vectors' numbers as an HTML table: the first BEGINNING, then how many there are, mean, deviation and norm.

    The deviation is that of LayerNorm: the root of the mean squared distance from the mean, over d and not d - 1.
    """
    width = max((len(vector) for _, vector in rows), default=0)
    shown = min(BEGINNING, width)
    table = []
    for name, vector in rows:
        wide = np.asarray(vector, dtype=np.float64)
        first = [signed(value, ".4f") for value in wide[:shown]]
        first += [""] * (shown - len(first))
        if width > shown:
            first.append("…" if len(wide) > shown else "")
        whole = (wide.mean(), wide.std(), np.linalg.norm(wide))
        table.append((name, [*first, len(wide), *(signed(value, ".4f") for value in whole)]))
    return TEXT.table(caption, shown, width > shown, table)
