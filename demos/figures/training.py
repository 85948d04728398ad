"""A finished training drawn: its confusion matrix (Plotly)."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go

from demos.figures.palette import colour_scale, plotly_layout
from demos.training.events import Result

NUMBERS_IN_CELLS = 16  # classes; with more the cells are too small to read
NAME_LENGTH = 18


def short_name(label: str) -> str:
    """A class's name, cut to fit an axis, escaped: Plotly reads tags in its labels."""
    return html.escape(label if len(label) <= NAME_LENGTH else label[: NAME_LENGTH - 1] + "…")


def confusion_figure(result: Result) -> go.Figure:
    """Test sentences by true class (rows) and predicted class (columns); a row's colour is its share of that class."""
    names = [short_name(label) for label in result.labels]
    shares = [[count / max(1, sum(row)) for count in row] for row in result.confusion]
    count = len(names)
    few = count <= NUMBERS_IN_CELLS
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            zmin=0,
            zmax=1,
            # Numbers, not names, on the axes: two classes whose names are cut alike must stay two.
            x=list(range(count)),
            y=list(range(count)),
            colorscale=colour_scale("magnitude"),
            text=_cell_texts(result.confusion, shares) if few else None,
            texttemplate="%{text}" if few else None,
            textfont={"size": 17 if count <= 8 else 13},
            customdata=[
                [
                    [html.escape(truth), html.escape(guess), count]
                    for guess, count in zip(result.labels, row, strict=True)
                ]
                for truth, row in zip(result.labels, result.confusion, strict=True)
            ],
            hovertemplate="%{customdata[2]} of class %{customdata[0]}<br>taken for %{customdata[1]}<extra></extra>",
            xgap=2,
            ygap=2,
            showscale=False,
        )
    )
    figure.update_layout(
        **plotly_layout(height=max(320, 46 * min(count, 16) + 130), margin={"l": 110, "r": 10, "t": 10})
    )
    ticks = {"tickvals": list(range(count)), "ticktext": names, "showgrid": False, "zeroline": False}
    figure.update_xaxes(title="predicted", tickangle=-30 if count > 4 else 0, automargin=True, **ticks)
    figure.update_yaxes(title="true", autorange="reversed", automargin=True, **ticks)
    return figure


def _cell_texts(confusion: Sequence[Sequence[int]], shares: Sequence[Sequence[float]]) -> list[list[str]]:
    """Each count in the ink that can be read on its cell; none for 0, so that the mistakes stand out."""
    return [
        [f'<span style="color:{"#ffffff" if share > 0.55 else "#000000"}">{count or ""}</span>' for count, share in row]
        for row in (zip(counts, parts, strict=True) for counts, parts in zip(confusion, shares, strict=True))
    ]
