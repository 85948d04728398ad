"""The margins of the correct endings, item by item (Plotly)."""

from itertools import pairwise

import numpy as np

from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SANS
from demos.figures.palette import CLASSES, plotly_layout
from demos.training.tasks.multiple_choice.task import ChoiceResult

BINS = 20  # of margins from -1 to 1


def margins_figure(result: ChoiceResult) -> Figure:
    """Test items by margin, the right ending's probability less the best wrong one's: left of 0 it is wrong."""
    edges = np.linspace(-1, 1, BINS + 1)
    margins = np.asarray(result.margins)
    traces, most = [], 0
    for name, chosen, colour in (
        ("wrong", margins <= 0, CLASSES[5]),
        ("right", margins > 0, CLASSES[0]),
    ):
        counts, _ = np.histogram(margins[chosen], edges)
        most = max(most, int(counts.max()))
        bars = {
            "type": "bar",
            "x": (edges[:-1] + edges[1:]) / 2,
            "y": counts,
            "width": 2 / BINS * 0.92,
            "name": f"{name}: {int(chosen.sum()):,}",
            "marker": {"color": colour},
            "customdata": [[f"{low:+.1f} to {high:+.1f}"] for low, high in pairwise(edges)],
            "hovertemplate": "%{y} items " + name + "<br>margin %{customdata[0]}<extra></extra>",
        }
        traces.append(bars)
    title = {"text": "margin: P(correct) − P(best other)"}
    whole = {"rangemode": "tozero", "tickformat": "d", "dtick": 1 if most < 6 else None}
    layout = plotly_layout(
        height=340,
        barmode="stack",
        font={"family": SANS, "size": 16},
        legend={"orientation": "h", "y": 1.12, "x": 0, "font": {"size": 18}},
        margin={"l": 60, "r": 20, "t": 40, "b": 60},
        xaxis={"title": title, "range": [-1.02, 1.02], "zeroline": True},
        yaxis={"title": {"text": "test items"}} | whole,
    )
    return {"data": traces, "layout": layout}
