"""The three architectures with the paths into one word, and how far each word moves that word's state."""

from collections.abc import Sequence

import numpy as np

from demos.bert.attention.matrix_labels import Labels
from demos.bert.elmo.who_sees import NAMES, Dependence
from demos.figures.figure.figure import Attributes, Axis, Figure, Trace, for_phones
from demos.figures.matrix import matrix_figure
from demos.figures.palette import CLASSES, plotly_layout, word_colour
from demos.files import read_filled
from demos.templates import plot_text

WINDOW = 7  # words that a panel has room for
GREY, FORWARD, BACKWARD = "rgba(128,128,128,0.35)", CLASSES[0], CLASSES[1]
LIFT = 0.16  # of ELMo's backward states above, and its forward states below a layer's height
SMALLER = 0.62  # a mark on a phone
ROUNDING = 1e-9  # a change below it is none
PANELS = {"BERT": "both sides", "GPT": "the left only", "ELMo": "→ and ←"}
Point = tuple[float, float]
Line = tuple[Point, Point]


def window(count: int, at: int) -> range:
    """At most WINDOW places around `at`."""
    start = max(0, min(at - WINDOW // 2, count - WINDOW))
    return range(start, min(count, start + WINDOW))


def lines_of(panel: int, n: int, at: int) -> list[tuple[Line, str]]:
    """All lines of a panel of n words, each with its colour: GREY where none leads to the last state of word `at`.

    Inputs are at height 0, two layers at 1 and 2, the last states at 3. ELMo's forward states are a little below a
    layer's height, its backward states above.
    """
    lines: list[tuple[Line, str]] = []
    if panel < 2:
        sees_left = panel == 1
        for level in (0, 1):
            for i in range(n):
                leads = i == at if level else (not sees_left or i <= at)
                colour = FORWARD if leads else GREY
                lines += [(((j, level), (i, level + 1)), colour) for j in range(n) if not sees_left or j <= i]
        return lines + [(((i, 2), (i, 3)), FORWARD if i == at else GREY) for i in range(n)]
    for towards, lift, hue in ((1, -LIFT, FORWARD), (-1, LIFT, BACKWARD)):
        for i in range(n):
            x, colour = i - towards * LIFT, hue if (at - i) * towards >= 0 else GREY
            low, high = (x, 1 + lift), (x, 2 + lift)
            lines += [(((i, 0), low), colour), ((low, high), colour), ((high, (i, 3)), hue if i == at else GREY)]
            if 0 <= i - towards < n:
                lines += [(((x - towards, y), (x, y)), colour) for _, y in (low, high)]
    return lines


def architectures(words: Sequence[str], at: int) -> Figure:
    """Three panels as in Devlin et al. 2019, figure 3, for the words around number `at`."""
    shown = window(len(words), at)
    layout = plotly_layout(height=345, margin={"l": 64, "r": 8, "t": 50, "b": 70}, showlegend=False, annotations=[])
    traces: list[Trace] = []
    for panel, (title, sees_what) in enumerate(PANELS.items()):
        axes = {"xaxis": f"x{panel + 1}", "yaxis": f"y{panel + 1}"} if panel else {"xaxis": "x", "yaxis": "y"}
        traces += [{"type": "scatter"} | axes | trace for trace in _panel(panel, words, shown, at - shown.start)]
        low = panel / 3 + (0.015 if panel else 0)
        layout |= _panel_axes(panel, [plot_text(words[number]) for number in shown], low)
        place = {"x": low, "y": 1.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        heading = {"text": f"<b>{title}</b><br>{sees_what}", "align": "left", "font": {"size": 16}}
        layout["annotations"].append(place | heading | {"showarrow": False})
    return for_phones({"data": traces, "layout": layout}, *_on_phones(layout, traces))


def _on_phones(layout: Attributes, traces: Sequence[Trace]) -> tuple[Attributes, dict[int, Trace]]:
    """The changes of layout and traces on a phone, where a word has some 16 pixels: smaller marks, steep words."""
    axes = {name: {"tickangle": -90, "tickfont": {"size": 13}} for name in layout if name.startswith("xaxis")}
    sizes = {at: np.array(trace["marker"]["size"]) for at, trace in enumerate(traces) if "marker" in trace}
    smaller = {at: {"marker": {"size": np.rint(SMALLER * size).tolist()}} for at, size in sizes.items()}
    return axes | {"margin": {"l": 52, "r": 2}}, smaller


def _panel(panel: int, words: Sequence[str], shown: range, place: int) -> list[Trace]:
    """A panel's lines, its nodes, its inputs, and its last states, of which `place` is looked at."""
    n, last = len(shown), len(words)
    coloured = lines_of(panel, n, place)
    traces: list[Trace] = []
    for colour, width in ((GREY, 1), (FORWARD, 2.5), (BACKWARD, 2.5)):
        lines = [line for line, of_line in coloured if of_line == colour]
        xs = [x for (x0, _), (x1, _) in lines for x in (x0, x1, None)]
        ys = [y for (_, y0), (_, y1) in lines for y in (y0, y1, None)]
        line = {"mode": "lines", "line": {"color": colour, "width": width}}
        traces.append({"x": xs, "y": ys, "hoverinfo": "skip"} | line)
    lifts = (-LIFT, LIFT) if panel == 2 else (0.0,)
    nodes = [(i + lift, level + lift) for level in (1, 2) for lift in lifts for i in range(n)]
    hues = [word_colour(number) for number in shown]
    sees = [
        ("all words", f"words 1 to {i}", f"words 1 to {i}, and words {i} to {last}")[panel] for i in range(1, last + 1)
    ]
    return [
        *traces,
        {
            "x": [x for x, _ in nodes],
            "y": [y for _, y in nodes],
            "mode": "markers",
            "hoverinfo": "skip",
            "marker": {"size": 11 if panel == 2 else 17, "color": "#8a9096"},
        },
        {
            "x": list(range(n)),
            "y": [0] * n,
            "mode": "markers",
            "hoverinfo": "skip",
            "marker": {"size": 19, "symbol": "square", "color": hues},
        },
        {
            "x": list(range(n)),
            "y": [3] * n,
            "mode": "markers",
            "name": list(PANELS)[panel],
            "marker": {"size": [26 if i == place else 19 for i in range(n)], "symbol": "square", "color": hues},
            "text": [f"{plot_text(words[number])}: depends on {sees[number]}" for number in shown],
            "hovertemplate": "%{text}<extra></extra>",
        },
    ]


def _panel_axes(panel: int, names: Sequence[str], low: float) -> dict[str, Axis]:
    """The axes of a panel that begins at `low`, a share of the figure's width."""
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    number = panel + 1 if panel else ""
    return {
        f"xaxis{number}": bare
        | {"domain": [low, (panel + 1) / 3 - 0.015], "range": [-0.6, len(names) - 0.4], "anchor": f"y{number}"}
        | {"tickvals": list(range(len(names))), "ticktext": names, "tickangle": -45},
        f"yaxis{number}": bare
        | {"range": [-0.4, 3.4], "anchor": f"x{number}", "tickvals": [0, 1, 2, 3] if panel == 0 else []}
        | {"ticktext": ["input", "layer 1", "layer 2", "output"]},
    }


def dependence_figure(dependence: Dependence) -> Figure:
    """A row for each model, a column for each word; an empty cell is a word that the state does not depend on."""
    values = np.where(np.abs(dependence.change) < ROUNDING, np.nan, dependence.change)
    rows, columns = (Labels(tuple(names), (False,) * len(names)) for names in (NAMES, dependence.words))
    figure = matrix_figure(values, rows, columns, what="changes the state by")
    layout, heatmap = figure["layout"], figure["data"][0]
    layout["height"] = 250
    layout["xaxis"] |= {"title": None, "tickangle": -45}
    layout["yaxis"] |= {"title": None}
    heatmap["hovertemplate"] = "%{y}: hiding <b>%{x}</b><br>1 − cosine %{z:.4f}<extra></extra>"
    return figure


def elmo_code(
    first: Sequence[str], second: Sequence[str], places: Sequence[int], shares: np.ndarray, norm: bool
) -> str:
    """A program that computes what the page shows of these two sentences."""
    values = {
        "FIRST": (list(first), places[0]),
        "SECOND": (list(second), places[1]),
        "NORM": norm,
        "SHARES": [round(share, 6) for share in shares.tolist()],
    }
    return read_filled(__file__, "program.txt", {name: repr(value) for name, value in values.items()})
