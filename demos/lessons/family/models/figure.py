"""The family as a timeline: a row for each model, by the month of its first version."""

from collections.abc import Sequence

from demos.figures.figure.figure import Figure
from demos.figures.numbers import with_prefix
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.lessons.family.models.models import SEES, Model
from demos.templates import plot_text

ROW = 19  # pixels
SYMBOLS = ("diamond", "circle", "triangle-right", "square", "cross", "hexagon")
LATE = "2022"  # from here on, the name is on the left
TRANSFORMER = "2017-03"  # where the second of the two axes begins, on which a year is about ten times as wide
EARLY = 0.22  # share of the first


def timeline(models: Sequence[Model]) -> Figure:
    """A mark for each model, its hue and its shape by what a word's state depends on."""
    traces = []
    for sees, colour, symbol in zip(SEES, CLASSES, SYMBOLS, strict=False):
        alike = [(row, model) for row, model in enumerate(models) if model.sees == sees]
        early = [(row, model) for row, model in alike if model.date < TRANSFORMER]
        of_axes = [(axis, some) for axis, some in (("x", early), ("x2", alike[len(early) :])) if some]
        for number, (axis, some) in enumerate(of_axes):
            marks = {
                "type": "scatter",
                "x": [f"{model.date}-01" for _, model in some],
                "y": [row for row, _ in some],
                "xaxis": axis,
                "mode": "markers+text",
                "marker": {"size": 14, "color": colour, "symbol": symbol},
                "text": [f" {plot_text(model.name)} " for _, model in some],
                "textposition": ["middle left" if model.date > LATE else "middle right" for _, model in some],
                "textfont": {"size": 16},
                "name": sees,
                "legendgroup": sees,
                "showlegend": number == 0,
                "customdata": [(plot_text(model.changed), _size(model)) for _, model in some],
                "hovertemplate": "<b>%{text}</b>%{x|%B %Y}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
                "cliponaxis": False,
            }
            traces.append(marks)
    years = {"tickformat": "%Y", "tick0": "2000-01-01"}
    dots = {"color": SPECIAL, "width": 2, "dash": "dot"}
    change = {"type": "line", "xref": "paper", "yref": "paper", "x0": EARLY, "x1": EARLY, "y0": 0, "y1": 1}
    layout = plotly_layout(
        height=ROW * len(models) + 160,
        margin={"l": 10, "r": 10, "t": 10, "b": 130},
        legend={"orientation": "h", "y": -0.08, "yanchor": "top", "x": 0, "font": {"size": 16}},
        shapes=[change | {"line": dots}],  # where the scale changes
        xaxis=years | {"range": ["1996-01-01", f"{TRANSFORMER}-01"], "dtick": "M120", "domain": [0, EARLY]},
        xaxis2=years
        | {"range": [f"{TRANSFORMER}-01", "2025-03-01"], "dtick": "M12", "domain": [EARLY, 1], "anchor": "y"},
        yaxis={"range": [len(models) - 0.4, -0.6], "visible": False},
    )
    return {"data": traces, "layout": layout}


def sizes(models: Sequence[Model]) -> Figure:
    """A mark for each model whose parameters are published, on a log scale, the earliest above; hues as above."""
    sized = [model for model in models if model.parameters]
    traces = []
    for sees, colour, symbol in zip(SEES, CLASSES, SYMBOLS, strict=False):
        alike = [(row, model) for row, model in enumerate(sized) if model.sees == sees]
        if not alike:
            continue
        marks = {
            "type": "scatter",
            "x": [model.parameters for _, model in alike],
            "y": [row for row, _ in alike],
            "mode": "markers+text",
            "marker": {"size": 14, "color": colour, "symbol": symbol},
            "text": [f"  {_size(model).removesuffix(' parameters')}" for _, model in alike],
            "textposition": "middle right",
            "textfont": {"size": 16},
            "name": sees,
            "customdata": [(plot_text(model.name), plot_text(source_of(model))) for _, model in alike],
            "hovertemplate": "<b>%{customdata[0]}</b> %{x:,}<br>%{customdata[1]}<extra></extra>",
            "cliponaxis": False,
        }
        traces.append(marks)
    powers = [10**exponent for exponent in range(8, 13)]
    layout = plotly_layout(
        height=ROW * len(sized) + 110,
        margin={"l": 204, "r": 60, "t": 10, "b": 56},
        showlegend=False,
        xaxis={
            "type": "log",
            "range": [7.6, 12],
            "tickvals": powers,
            "ticktext": [with_prefix(power, "") for power in powers],
            "title": {"text": "parameters (log scale)", "standoff": 6},
        },
        yaxis={
            "range": [len(sized) - 0.4, -0.6],
            "zeroline": False,
            "tickvals": list(range(len(sized))),
            "ticktext": [f"{plot_text(model.name)}, {model.date[:4]}" for model in sized],
            "tickfont": {"size": 16},
        },
    )
    return {"data": traces, "layout": layout}


def source_of(model: Model) -> str:
    """The source of the model's number of parameters."""
    return f"{'counted from its configuration' if model.counted else 'as published'}: {model.source}"


def _size(model: Model) -> str:
    return f"{with_prefix(model.parameters, '')} parameters" if model.parameters else "no size given"
