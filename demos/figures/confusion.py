"""A finished training drawn: its confusion matrix, as a Plotly figure and as a table whose cells are buttons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from demos.figures.palette import colour_scale, inked, plotly_layout, swatch
from demos.figures.scores_text import one_line
from demos.figures.short_text import short
from demos.templates import plot_text, templates
from demos.training.events import Result

TEXT = templates(__file__, "text_confusion.html")
SCALE = colour_scale("magnitude")
NUMBERS_IN_CELLS = 16  # classes; with more the cells are too small to read
NAME_LENGTH = 18
IN_A_CELL = 12  # sentences listed of one cell
LINE = 240  # characters of one of them


def class_shares(confusion: Sequence[Sequence[int]]) -> np.ndarray:
    """Each count as a share of its true class: [true class, predicted class]."""
    counts = np.asarray(confusion)
    return np.asarray(counts / np.maximum(1, counts.sum(axis=1, keepdims=True)))


def confusion_figure(result: Result) -> go.Figure:
    """Test sentences by true class (rows) and predicted class (columns); a row's colour is its share of that class."""
    names = [plot_text(short(label, NAME_LENGTH)) for label in result.labels]
    shares = class_shares(result.confusion).tolist()
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
            colorscale=SCALE,
            # none for 0, so that the mistakes stand out
            text=[
                [inked(str(number or ""), SCALE, share) for number, share in zip(*row, strict=True)]
                for row in zip(result.confusion, shares, strict=True)
            ]
            if few
            else None,
            texttemplate="%{text}" if few else None,
            textfont={"size": 17 if count <= 8 else 16},
            customdata=[
                [[plot_text(truth), plot_text(guess), number] for guess, number in zip(result.labels, row, strict=True)]
                for truth, row in zip(result.labels, result.confusion, strict=True)
            ],
            hovertemplate="%{customdata[2]} of class %{customdata[0]}<br>classified as %{customdata[1]}<extra></extra>",
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


def matrix_html(result: Result, tests: Sequence[Any]) -> str:
    """The same as a table whose cells are buttons, and the test sentences of each cell, the surest first.

    `tests` are the data set's test examples (text, label, pair), in the order of `result.answers`.
    """
    cells: dict[tuple[int, int], list[tuple[float, str]]] = defaultdict(list)
    for example, answer in zip(tests, result.answers, strict=True):
        guess = int(np.argmax(answer))
        cells[example.label, guess].append((answer[guess], short(one_line(example), LINE)))
    wrong = [cell for cell in cells if cell[0] != cell[1]]
    shares = class_shares(result.confusion)
    colours = [swatch("magnitude", float(share)) for share in shares.ravel()]
    count = len(result.labels)
    return TEXT.matrix(
        labels=result.labels,
        short_labels=[short(label, NAME_LENGTH) for label in result.labels],
        counts=result.confusion,
        colours=[colours[row * count : (row + 1) * count] for row in range(count)],
        lists=[
            (*cell, sorted(sentences, key=lambda sentence: -sentence[0])) for cell, sentences in sorted(cells.items())
        ],
        chosen=max(wrong, key=lambda cell: len(cells[cell])) if wrong else min(cells, default=(0, 0)),
        most=IN_A_CELL,
    )
