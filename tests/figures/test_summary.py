"""The sentence on what a figure shows: against what can be read off small figures by hand."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from demos.figures.summary.summary import summary, with_summary

LINES = go.Figure(
    [
        go.Scatter(x=[0, 1, 2], y=[0.5, 0.9, 0.7], name="BERT", mode="lines"),
        go.Scatter(x=[0, 1, 2], y=[0.1, 0.2, 0.3], name="words", mode="lines+markers"),
        go.Scatter(x=[0, 2], y=[2, 2], mode="lines", hoverinfo="skip"),
    ],
    layout={"xaxis": {"title": {"text": "layer (0: the input)"}}},
)
BARS = go.Figure(
    go.Bar(y=[0, 1, 2], x=[0.25, 1500, np.nan], orientation="h"),
    layout={"yaxis": {"tickvals": [0, 1, 2], "ticktext": ["<b>mean</b>", "CLS<br>last", "none"]}},
)
MATRIX = go.Figure(go.Heatmap(x=["0 a", "1 b"], y=["0 c", "1 d"], z=[[0.5, np.nan], [-0.125, 0.25]]))
TREE = go.Figure(
    go.Treemap(ids=["all", "a", "b"], labels=["all", "A", "B"], parents=["", "all", "all"], values=[4, 3, 1])
)


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (
            LINES,
            "Of 2 curves, “BERT” reaches the highest value: it starts at 0.5, ends at 0.7, and its maximum, 0.9, is "
            "at layer 1.",
        ),
        (go.Figure(LINES.data[1]), "The curve starts at 0.1, ends at 0.3, and its maximum, 0.3, is at 2."),
        (BARS, "Of 2 bars, the largest is “CLS last” with 1,500 and the smallest “mean” with 0.25."),
        (
            MATRIX,
            "The largest value is 0.5, in row “0 c”, column “0 a”; the smallest is -0.125, in row “1 d”, column “0 a”.",
        ),
        (go.Figure(go.Heatmap(z=[[np.nan]])), "The matrix has no values."),
        (TREE, "Of 2 parts, the largest is “A” with 3, 75% of the whole."),
        (go.Figure(go.Scatter(x=[3, 1, 2], y=[1, 2, 3], mode="lines", name="path")), "3 points."),
        (go.Figure([go.Scatter(x=[1], y=[1], mode="markers", name=name) for name in "ab"]), "2 points in 2 groups."),
        (go.Figure(), "Nothing has been measured yet."),
    ],
)
def test_it_says_what_can_be_read_off(figure: go.Figure, sentence: str) -> None:
    assert summary(figure) == sentence


def test_a_figure_carries_it_once_and_may_bring_its_own() -> None:
    assert with_summary(go.Figure(TREE)).layout.meta == summary(TREE)
    assert with_summary(go.Figure(TREE.data, {"meta": "Its own."})).layout.meta == "Its own."
    assert with_summary("text") == "text"
