"""Each word's probability in one sentence against that in the other (Plotly), and the largest differences as bars."""

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.two_words import TwoWords
from demos.figures.figure.figure import Axis, Figure, Trace
from demos.figures.numbers import percent
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.figures.token_chips import token_label, visible
from demos.files import read_beside
from demos.lessons.pretraining.program_lines import begin_lines
from demos.templates import plot_text, templates

TEXT = templates(__file__)
PROGRAM = read_beside(__file__, "program.txt")
LISTED, NAMED, DRAWN, TABLED = 6, 6, 400, 20  # words of each side as bars, with names in the picture; points; rows
EDGE = 2.2, 4.0  # room beside the outermost points, as factors: the names of the likeliest need some
APART = np.log10([6, 2.4])  # how far names of one side are from each other across or down, as factors


def scatter_figure(both: TwoWords) -> Figure:
    """The DRAWN likeliest words and largest differences, on logarithmic axes; equal probabilities lie on the line."""
    likeliest = np.argsort(-both.probabilities.max(axis=0), kind="stable")[:DRAWN]
    sides = [both.most(side, NAMED) for side in (0, 1)]
    others = sorted({*map(int, likeliest)} - {index for side in sides for index in side})
    shown = both.probabilities[:, [*others, *sides[0], *sides[1]]]
    low, high = float(shown.min()) / EDGE[0], float(shown.max()) * EDGE[1]
    line = {
        "type": "scatter",
        "x": [low, high],
        "y": [low, high],
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": SPECIAL, "width": 2, "dash": "dash"},
    }
    traces = [line, _points(both, others, SPECIAL, 6, "")]
    for side, position in ((0, "bottom right"), (1, "top left")):
        traces.append(_points(both, sides[side], CLASSES[side], 12, position))
    axis: Axis = {
        "type": "log",
        "range": [np.log10(low), np.log10(high)],
        "tickformat": ".0%",
        "dtick": 1,
        "zeroline": False,
        "tickvals": [10.0**power for power in range(-8, 1)],
        "ticktext": ["", "", "0.0001%", "0.001%", "0.01%", "0.1%", "1%", "10%", "100%"],
    }
    titles = [f"probability with “{plot_text(word)}”" for word in both.words]
    layout = plotly_layout(
        height=400,
        margin={"l": 80, "r": 12, "t": 8, "b": 52},
        showlegend=False,
        xaxis=axis | {"title": {"text": titles[0], "standoff": 6}},
        yaxis=axis | {"title": {"text": titles[1], "standoff": 6}},
    )
    return {"data": traces, "layout": layout}


def _points(both: TwoWords, ids: list[int], colour: str, size: int, position: str) -> Trace:
    """One trace; with a `position`, the words are beside their points."""
    names = [plot_text(visible(both.tokens[index])) for index in ids]
    first, second = both.probabilities[:, ids]
    places = np.log10(both.probabilities[:, ids].T)  # [points, 2]
    free = [not any((np.abs(places[:at] - place) < APART).all(axis=1)) for at, place in enumerate(places)]
    return {
        "type": "scatter",
        "x": first,
        "y": second,
        "mode": "markers+text" if position else "markers",
        "text": [name if is_free else "" for name, is_free in zip(names, free, strict=True)],
        "cliponaxis": False,
        "textposition": position or "middle center",
        "textfont": {"size": 17},
        "marker": {"color": colour, "size": size, "opacity": 0.95 if position else 0.55},
        "customdata": [
            [name, percent(float(x)), percent(float(y))] for name, x, y in zip(names, first, second, strict=True)
        ],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]} and %{customdata[2]}<extra></extra>",
    }


def lists_html(both: TwoWords) -> str:
    """The largest differences of each side: both probabilities as bars of one measure."""
    sides = [both.most(side, LISTED) for side in (0, 1)]
    widest = max((both.probabilities[:, index].max() for side in sides for index in side), default=1.0)
    return TEXT.lists(both, [_rows(both, side) for side in sides], widest, token_label, percent)


def numbers_html(both: TwoWords) -> str:
    """The same as a table, with more words."""
    return TEXT.numbers(both, [_rows(both, both.most(side, TABLED)) for side in (0, 1)], token_label)


def _rows(both: TwoWords, ids: list[int]) -> list[tuple[str, float, float]]:
    first, second = both.probabilities[:, ids].tolist()
    return list(zip((both.tokens[index] for index in ids), first, second, strict=True))


def two_words_code(spec: ModelSpec, both: TwoWords) -> str:
    """Prints the words of the largest differences. `spec` is the encoder's own, as in `Pretrained`."""
    return PROGRAM.format(begin=begin_lines(spec), sentences=list(both.sentences), count=LISTED)
