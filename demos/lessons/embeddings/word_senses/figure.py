"""A word's uses drawn (Plotly): their cosines as curves over the layers, and every two of them at one layer."""

from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.control_word import Control
from demos.bert.embeddings.word_occurrences import Contrast, Use
from demos.counting import state_name
from demos.figures.axes import axis
from demos.figures.figure.figure import Figure, Mark, Trace
from demos.figures.palette import CLASSES, colour_scale, inked, plotly_layout
from demos.templates import plot_text, signed

SAME, DIFFERENT = CLASSES[0], CLASSES[5]
PAIR = CLASSES[7]
SENSES = [CLASSES[index] for index in (2, 3, 1, 4)]  # none of the curves'
GREY = "#8a9096"
CURVE_HEIGHT = 440
NUMBERED = 10  # uses; with more, numbers would not fit into the cells
NAME_ROOM = 28  # characters of a row's name
SCALE = colour_scale("magnitude")


def sense_colour(sense: int | None) -> str:
    """A sense's hue; gray for a use of unknown sense."""
    return GREY if sense is None else SENSES[sense % len(SENSES)]


def context(use: Use, room: int = NAME_ROOM) -> tuple[str, str, str]:
    """The word, and a little of its sentence on both sides: ("on the ", "bank", " and…")."""
    word = use.sentence[use.start : use.end][:room]
    side = max(0, room - len(word)) // 2
    before, after = use.sentence[: use.start], use.sentence[use.end :]
    left = _last(before, side + max(0, side - len(after)))  # what one side leaves, the other takes
    right = _last(after[::-1], side + max(0, side - len(before)))[::-1]
    return left, word, right


def around(use: Use, room: int = NAME_ROOM) -> str:
    """`context` as a Plotly label, the word in bold."""
    left, word, right = map(plot_text, context(use, room))
    return f"{left}<b>{word}</b>{right}"


def _last(text: str, room: int) -> str:
    """The end of a text in at most `room` characters, cut between words where one is near."""
    if len(text) <= room:
        return text
    end = text[len(text) - max(0, room - 1) :] if room > 1 else ""
    space = end.find(" ")
    return "…" + (end[space:].lstrip() if 0 <= space < 0.7 * len(end) else end)


def use_name(index: int, use: Use) -> str:
    """ "3", or "◆ 7" for a use from the sentence bar."""
    return f"{'◆ ' if use.sense is None else ''}{index + 1}"


def curves_figure(
    cosines: np.ndarray,
    static: np.ndarray,
    layer: int,
    averages: Contrast | None,
    uses: Sequence[Use],
    picked: tuple[int, int],
    control: Control | None = None,
) -> Figure:
    """Two curves: the `averages` by sense; or, without senses, every pair's cosine [L + 1, m, m], `picked` bold.

    `static` [m, m] are the same pairs in the word-embedding table, drawn as one flat line at their mean. The
    `control`'s two averages are thin dotted lines in the colours of the curves.
    """
    steps = len(cosines)
    x = list(range(steps))
    lines: list[Mark] = []
    names: list[Mark] = []
    rows, columns = np.triu_indices(len(uses), k=1)
    every = np.round(cosines[:, rows, columns].T, 4)  # [pairs, L + 1]
    if averages is None:  # one trace for all: a gap ends each pair's line
        ended = np.pad(every, ((0, 0), (0, 1)), constant_values=np.nan)
        places = np.tile(np.append(np.arange(steps), np.nan), len(every))
        thin_grey = {"mode": "lines", "line": {"color": GREY, "width": 1.5}, "opacity": 0.6}
        all_pairs = {"type": "scatter", "x": places, "y": ended.ravel(), "hoverinfo": "skip", "showlegend": False}
        lines.append(all_pairs | thin_grey)
    flat = float(static[rows, columns].mean())
    lines.append(_line(x, np.full(steps, flat), GREY, "static table", layer, dash="dash", marks=False))
    if averages is not None:
        bold = {"same sense": (averages.same, SAME, 1), "different senses": (averages.different, DIFFERENT, -1)}
    else:
        i, j = picked
        name = f"uses {use_name(i, uses[i])} and {use_name(j, uses[j])}"
        low = cosines[:, i, j].mean() < every.mean()
        bold = {name: (cosines[:, i, j], PAIR, -1 if low else 1)}
    for name, (values, colour, side) in bold.items():
        lines.append(_line(x, values, colour, name, layer))
        if steps > 2:
            at = calmest(values, layer)
            names.append(_label(f"<b>{name}</b>", at, float(values[at]), "center", 26 * side))
        number = _label(f"<b>{values[layer]:.2f}</b>", layer, float(values[layer]), "center", 24 * side)
        if layer == steps - 1:  # beside the end, where no line comes from
            number |= {"xanchor": "left", "xshift": 10, "yshift": 0}
        names.append(number)
    thin = []
    if averages is not None and control is not None:
        thin = [control.other.same, control.other.different]
        for values, name, colour in zip(thin, ("same sense", "different senses"), (SAME, DIFFERENT), strict=True):
            line = _line(x, values, colour, f"“{control.word}”, {name}", layer, dash="dot", marks=False)
            lines.append(line | {"line": line["line"] | {"width": 2}})
        end = _label(f"“{plot_text(control.word)}”", steps - 1, float(min(values[-1] for values in thin)), "left", 0)
        names.append(end | {"xshift": 6, "font": {"size": 17}})
    label = "static table: all equal" if flat > 0.9999 else "static table"
    names.append(_label(label, 0, flat, "left", 16))
    own = [values for values, _, _ in bold.values()]
    drawn = np.concatenate([*own, *thin, *([every.ravel()] if averages is None else [])])
    lowest = min(float(drawn.min()), flat)
    across = axis("layer (0: the embedding output)", 17, dtick=1 if steps <= 13 else 3, showgrid=False)
    room = 1.02 - lowest
    ends = [lowest - 0.15 * room, 1 + 0.12 * room]
    at_layer = {"type": "line", "x0": layer, "x1": layer, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    layout = plotly_layout(
        height=CURVE_HEIGHT,
        margin={"l": 62, "r": 62, "t": 14, "b": 54},
        showlegend=False,
        xaxis=across | {"range": [-0.15, steps - 0.85]},
        yaxis=axis("cosine between two uses", 17, range=ends, nticks=7),
        annotations=names,
        shapes=[at_layer | {"line": {"color": GREY, "width": 1, "dash": "dot"}}],
    )
    return {"data": lines, "layout": layout}


def calmest(values: np.ndarray, taken: int) -> int:
    """The layer in the middle of a curve [L + 1] at which it is flattest, where a name crosses nothing; not `taken`."""
    inner = [at for at in range(1, len(values) - 1) if at != taken] or [1]
    return min(inner, key=lambda at: abs(float(values[at + 1] - values[at - 1])))


def _line(
    x: list[int], y: np.ndarray, colour: str, name: str, layer: int, dash: str = "solid", marks: bool = True
) -> Trace:
    """A curve over the layers, with a larger mark at `layer`."""
    return {
        "type": "scatter",
        "x": x,
        "y": np.round(y, 4),
        "name": name,
        "mode": "lines+markers" if marks else "lines",
        "line": {"color": colour, "width": 5 if marks else 3, "dash": dash},
        "marker": {"size": [15 if step == layer else 8 for step in x]},
        "showlegend": False,
        "cliponaxis": False,
        "hovertemplate": f"after %{{x}} layers: <b>%{{y:.3f}}</b><extra>{plot_text(name)}</extra>",
    }


def _label(text: str, x: float, y: float, anchor: str, shift: int) -> Mark:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xanchor": anchor,
        "yshift": shift,
        "showarrow": False,
        "font": {"size": 20},
    }


def matrix_figure(cosine: np.ndarray, uses: Sequence[Use], senses: Sequence[str], layer: int) -> Figure:
    """The cosine of every two uses [m, m] at one layer; colours run from its smallest to its largest off the diagonal.

    Each row is a use with the words around it; a band beside rows and columns shows its sense, if there are `senses`.
    """
    m = len(uses)
    shown = np.where(np.eye(m, dtype=bool), np.nan, cosine)  # the cosine of a use with itself is always 1
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    high = max(high, low + 1e-3)
    names = [f"{use_name(index, use)} · {around(use, 60)}" for index, use in enumerate(uses)]
    few = m <= NUMBERED
    heatmap = {
        "type": "heatmap",
        "z": np.round(shown, 4),
        "zmin": low,
        "zmax": high,
        "colorscale": SCALE,
        "text": _cells(shown, low, high) if few else None,
        "texttemplate": "%{text}" if few else None,
        "textfont": {"size": 18 if m <= 8 else 16},
        "customdata": [[[a, b] for b in names] for a in names],
        "hovertemplate": f"%{{customdata[0]}}<br>%{{customdata[1]}}<br>{state_name(layer)}: cosine <b>%{{z:.3f}}</b>"
        "<extra></extra>",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "showscale": not few,
        "colorbar": {"thickness": 12, "outlinewidth": 0, "nticks": 5, "tickformat": ".2f"},
    }
    bands, titles = _bands(uses, senses)
    numbers = [use_name(index, use) for index, use in enumerate(uses)]
    # the style sheet hides the words on a phone: there the number must do
    rows = [
        f'{name} <span style="font-weight:400">{around(use)}</span>' for name, use in zip(numbers, uses, strict=True)
    ]
    both = axis("", tickvals=list(range(m)), showgrid=False) | {"title": None}
    ends = [-0.5, m - 0.5]
    above = {"ticktext": numbers, "tickangle": 0, "side": "top", "range": ends, "ticklabelstandoff": 8}
    layout = plotly_layout(
        height=CURVE_HEIGHT,
        margin={"l": 264, "r": 8, "t": 76, "b": 8},
        xaxis=both | above,
        yaxis=both | {"ticktext": rows, "range": ends[::-1], "ticklabelstandoff": 10},
        shapes=bands,
        annotations=titles,
    )
    return {"data": [heatmap], "layout": layout}


def _bands(uses: Sequence[Use], senses: Sequence[str]) -> tuple[list[Mark], list[Mark]]:
    """A coloured band along each sense's rows and columns, and its name above the columns: (shapes, annotations)."""
    bands: list[Mark] = []
    names: list[Mark] = []
    if not senses:
        return bands, names
    starts = [index for index, use in enumerate(uses) if index == 0 or use.sense != uses[index - 1].sense]
    for start, end in zip(starts, [*starts[1:], len(uses)], strict=True):
        sense, first, last = uses[start].sense, start - 0.46, end - 0.54
        band = {"type": "rect", "fillcolor": sense_colour(sense), "line": {"width": 0}, "layer": "above"}
        bands.append(band | {"x0": first, "x1": last, "yref": "paper", "y0": 1.005, "y1": 1.022})
        bands.append(band | {"xref": "paper", "x0": -0.022, "x1": -0.006, "y0": first, "y1": last})
        name = plot_text("yours" if sense is None else senses[sense])
        place = {"x": (start + end - 1) / 2, "yref": "paper", "y": 1, "yshift": 58}
        names.append(place | {"text": f"<b>{name}</b>", "showarrow": False, "font": {"size": 17}})
    return bands, names


def _cells(values: np.ndarray, low: float, high: float) -> list[list[str]]:
    """Two digits each, in the ink that can be read on its cell's colour; nothing for a use with itself."""
    return [
        ["" if np.isnan(value) else inked(signed(value, ".2f"), SCALE, (value - low) / (high - low)) for value in row]
        for row in values
    ]
