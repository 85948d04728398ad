"""The target beside two distributions over a few words; and targets and distributions of all places as matrices."""

from collections.abc import Sequence

import numpy as np

from demos.figures.figure.figure import Axis, Figure
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, SPECIAL, colour_scale, plotly_layout
from demos.files import read_beside, read_filled
from demos.lessons.translation.figure import ABOVE, framed_row
from demos.lessons.translation.program_model import bundled_lines
from demos.templates import plot_text

SERIES = (("target", CLASSES[2], "/"), ("before training", SPECIAL, "."), ("after training", CLASSES[0], ""))
ROW, BETWEEN = 36, 0.03  # pixels; the share of the width between two matrices


def target_figure(rows: Sequence[tuple[str, float, float, float]]) -> Figure:
    """Bars for each word: (word, its target, its probability before training, and after)."""
    traces = [
        {
            "type": "bar",
            "x": [plot_text(row[0]) for row in rows],
            "y": [round(float(row[at]), 4) for row in rows],
            "name": name,
            "marker": {"color": colour, "pattern": {"shape": pattern}},
            "hovertemplate": f"%{{x}}: %{{y:.4f}}<extra>{name}</extra>",
        }
        for at, (name, colour, pattern) in enumerate(SERIES, start=1)
    ]
    layout = plotly_layout(
        height=340,
        margin={"l": 60, "r": 10, "t": 40, "b": 40},
        barmode="group",
        legend=ABOVE,
        showlegend=True,
        yaxis={"range": [0, 1.03], "tickformat": ".0%", "title": {"text": "probability"}},
    )
    return {"data": traces, "layout": layout}


def places_figure(
    matrices: Sequence[tuple[str, np.ndarray]], places: Sequence[str], words: Sequence[str], at: int
) -> Figure:
    """Matrices [m, V] side by side, each with its name: a row for each place, a column for each word.

    Each number is in its cell; one linear scale from 0 to 1 holds for all. Row `at` is framed.
    """
    rows = [f"{number} {plot_text(place)}" for number, place in enumerate(places, start=1)]
    columns = [plot_text(word) for word in words]
    share = (1 - BETWEEN * (len(matrices) - 1)) / len(matrices)
    traces, names, frames = [], [], []
    sides: dict[str, Axis] = {}
    for number, (name, values) in enumerate(matrices, start=1):
        axis = "" if number == 1 else str(number)
        start = (number - 1) * (share + BETWEEN)
        heatmap = {
            "type": "heatmap",
            "x": columns,
            "y": rows,
            "z": np.round(values.astype(np.float64), 4),
            "zmin": 0,
            "zmax": 1,
            "xaxis": f"x{axis}",
            "colorscale": colour_scale("magnitude"),
            "showscale": False,
            "xgap": 1,
            "ygap": 1,
            "texttemplate": "%{z:.2f}" if ((values != 0) & (values != 1)).any() else "%{z:.0f}",
            "textfont": {"size": SMALL},
            "hovertemplate": f"position %{{y}}<br><b>%{{x}}</b>: %{{z:.4f}}<extra>{plot_text(name)}</extra>",
        }
        traces.append(heatmap)
        side = BARE | {"side": "top", "domain": [start, start + share], "tickangle": -40}
        sides[f"xaxis{axis}"] = side | {"tickfont": {"size": SMALL}, "ticklabelstandoff": 4}
        below = {"y": 0, "yref": "paper", "yanchor": "top", "yshift": -6, "showarrow": False, "font": {"size": 16}}
        middle = {"x": start + share / 2, "xref": "paper", "xanchor": "center"}
        names.append({"text": f"<b>{plot_text(name)}</b>"} | middle | below)
        frames.append(framed_row(at, len(columns), CLASSES[1]) | {"xref": f"x{axis}"})
    layout = plotly_layout(
        height=ROW * len(rows) + 104,
        margin={"l": 92, "r": 10, "t": 64, "b": 40},
        showlegend=False,
        yaxis=BARE | {"autorange": "reversed", "tickfont": {"size": 16}, "ticklabelstandoff": 4},
        annotations=names,
        shapes=frames,
        **sides,
    )
    return {"data": traces, "layout": layout}


def targets_code(kind: str, source: Sequence[str], target: Sequence[str]) -> str:
    """A program that prints the costs that the page shows after training."""
    words = {"SOURCE": repr(" ".join(source)), "TARGET": repr(" ".join(target))}
    bundled = bundled_lines(kind, "from torch.nn.functional import cross_entropy")
    return read_filled(__file__, "program.txt", words | {"BUNDLED\n": bundled})


def six_words_code(steps: int) -> str:
    """A program that trains the layer of six words for so many steps, and prints what each place costs then."""
    return read_beside(__file__, "program_six_words.txt").replace("STEPS", str(steps))
