"""A finished training drawn: its confusion matrix, as a Plotly figure and as a table whose cells are buttons."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from demos.figures.figure.figure import Figure
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


def confusion_figure(result: Result) -> Figure:
    """Test sentences by true class (rows) and predicted class (columns); a row's colour is its share of that class."""
    names = [plot_text(short(label, NAME_LENGTH)) for label in result.labels]
    full_names = [plot_text(label) for label in result.labels]
    shares = class_shares(result.confusion)
    count = len(names)
    few = count <= NUMBERS_IN_CELLS
    places = list(range(count))  # numbers, not names, on the axes: two classes whose names are cut alike must stay two
    heatmap = {
        "type": "heatmap",
        "z": shares,
        "zmin": 0,
        "zmax": 1,
        "x": places,
        "y": places,
        "colorscale": SCALE,
        "text": _cells(result.confusion, shares.tolist()) if few else None,
        "texttemplate": "%{text}" if few else None,
        "textfont": {"size": 17 if count <= 8 else 16},
        "customdata": [
            [[truth, guess, number] for guess, number in zip(full_names, row, strict=True)]
            for truth, row in zip(full_names, result.confusion, strict=True)
        ],
        "hovertemplate": "%{customdata[2]} of class %{customdata[0]}<br>classified as %{customdata[1]}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }
    ticks = {"tickvals": places, "ticktext": names, "showgrid": False, "zeroline": False}
    layout = plotly_layout(
        height=max(320, 46 * min(count, 16) + 130),
        margin={"l": 110, "r": 10, "t": 10},
        xaxis=ticks | {"title": {"text": "predicted"}, "tickangle": -30 if count > 4 else 0},
        yaxis=ticks | {"title": {"text": "true"}, "autorange": "reversed"},
    )
    return {"data": [heatmap], "layout": layout}


def _cells(confusion: Sequence[Sequence[int]], shares: Sequence[Sequence[float]]) -> list[list[str]]:
    """Each count in the ink that can be read on its cell; none for 0, so that the mistakes stand out."""
    return [
        [inked(str(number or ""), SCALE, share) for number, share in zip(*row, strict=True)]
        for row in zip(confusion, shares, strict=True)
    ]


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
