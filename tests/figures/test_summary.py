"""The sentence on what a figure shows: against what can be read off small figures by hand."""

from typing import Any

import numpy as np
import pytest

from demos.figures.figure.figure import Figure
from demos.figures.figure.summary import summary, with_summary

AXIS = {"title": {"text": "layer (0: the input)"}}
LINES = {
    "data": [
        {"x": [0, 1, 2], "y": [0.5, 0.9, 0.7], "name": "BERT", "mode": "lines"},
        {"type": "scatter", "x": [0, 1, 2], "y": [0.1, 0.2, 0.3], "name": "words", "mode": "lines+markers"},
        {"x": [0, 2], "y": [2, 2], "mode": "lines", "hoverinfo": "skip"},
    ],
    "layout": {"xaxis": AXIS},
}
NAMED = {"tickvals": [0, 1, 2], "ticktext": ["<b>mean</b>", "CLS<br>last", "none"]}


def alone(trace: dict[str, Any], **layout: Any) -> Figure:
    return {"data": [trace], "layout": layout}


BARS = alone({"type": "bar", "y": [0, 1, 2], "x": [0.25, 1500, np.nan], "orientation": "h"}, yaxis=NAMED)
Z = np.array([[0.5, np.nan], [-0.125, 0.25]])
MATRIX = alone({"type": "heatmap", "x": ["0 a", "1 b"], "y": ["0 c", "1 d"], "z": Z})
PARTS = {"ids": ["all", "a", "b"], "labels": ["all", "A", "B"], "parents": ["", "all", "all"], "values": [4, 3, 1]}
TREE = alone({"type": "treemap"} | PARTS)
CURVE = {"x": [0, 1, 2], "y": [0.1, 0.2, 0.3]}
PATH = {"x": [3, 1, 2], "y": [1, 2, 3], "mode": "lines", "name": "path"}
DOTS = [{"x": [1], "y": [1], "mode": "markers", "name": name} for name in "ab"]


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (
            LINES,
            "Of 2 curves, “BERT” reaches the highest value: it starts at 0.5, ends at 0.7, and its maximum, 0.9, is "
            "at layer 1.",
        ),
        (alone(CURVE), "The curve starts at 0.1, ends at 0.3, and its maximum, 0.3, is at 2."),
        (BARS, "Of 2 bars, the largest is “CLS last” with 1,500 and the smallest “mean” with 0.25."),
        (
            MATRIX,
            "The largest value is 0.5, in row “0 c”, column “0 a”; the smallest is -0.125, in row “1 d”, column “0 a”.",
        ),
        (alone({"type": "heatmap", "z": np.array([[np.nan]])}), "The matrix has no values."),
        (TREE, "Of 2 parts, the largest is “A” with 3, 75% of the whole."),
        (alone(PATH), "3 points."),
        ({"data": DOTS, "layout": {}}, "2 points in 2 groups."),
        ({"data": [], "layout": {}}, "Nothing has been measured yet."),
    ],
)
def test_it_says_what_can_be_read_off(figure: Figure, sentence: str) -> None:
    assert summary(figure) == sentence


def test_a_figure_carries_it_once_and_may_bring_its_own() -> None:
    assert with_summary(TREE)["layout"]["meta"] == summary(TREE)
    assert "meta" not in TREE["layout"]
    assert with_summary(alone(CURVE, meta="Its own."))["layout"]["meta"] == "Its own."
