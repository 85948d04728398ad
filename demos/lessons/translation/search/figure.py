"""A distribution before and after temperature, top-k and top-p."""

from collections.abc import Sequence

from demos.figures.figure.figure import Figure
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.files import read_filled
from demos.lessons.translation.figure import ABOVE
from demos.lessons.translation.program_model import bundled_lines
from demos.templates import plot_text


def distribution_figure(rows: Sequence[tuple[str, float, float]]) -> Figure:
    """Bars for each word: (word, the model's probability, that with which it is drawn)."""
    names = [plot_text(word) for word, _, _ in rows]
    traces = [
        {
            "type": "bar",
            "y": names,
            "x": [round(float(row[1 + at]), 4) for row in rows],
            "orientation": "h",
            "name": name,
            "marker": {"color": colour, "pattern": {"shape": pattern}},
            "hovertemplate": f"%{{y}}: %{{x:.4f}}<extra>{name}</extra>",
        }
        for at, (name, colour, pattern) in enumerate((("the model's", SPECIAL, "/"), ("drawn with", CLASSES[0], "")))
    ]
    layout = plotly_layout(
        height=110 + 34 * len(rows),
        margin={"l": 110, "r": 20, "t": 40, "b": 40},
        barmode="group",
        legend=ABOVE | {"traceorder": "normal"},
        showlegend=True,
        yaxis={"autorange": "reversed"},
        xaxis={"range": [0, 1], "tickformat": ".0%"},
    )
    return {"data": traces, "layout": layout}


def search_code(kind: str, source: Sequence[str], width: int, penalty: float) -> str:
    """A program that finds the translation that the page finds."""
    values = {"WIDTH": width, "PENALTY": repr(penalty), "SOURCE": repr(" ".join(source))}
    return read_filled(__file__, "program.txt", values | {"BUNDLED\n": bundled_lines(kind)})
