"""The table of all spans around the best one (Plotly): one row per start, one column per end, and the probabilities."""

import textwrap
from collections.abc import Sequence

import numpy as np

from demos.figures.figure.figure import Attributes, Figure, Mark
from demos.figures.palette import CLASSES, PALETTE, colour_scale, plotly_layout, word_colour
from demos.figures.short_text import short
from demos.templates import plot_text
from demos.training.tasks.question_answering.events import Cutout, Picture

LINE = 38  # characters of the question above the figure, a line
ROW = 26  # pixels
IMPOSSIBLE = "rgba(128,128,128,0.30)"  # under the cells whose end is before their start
TRUE = PALETTE["signed"][0]  # the outline of the right answer, where another is found
SPLIT = 0.80  # of the figure's width and height is the table of spans; the rest is the ends' own probabilities


def spans_figure(picture: Picture | None) -> Figure:
    """Every span around the best one of a question: a row per start, a column per end; no span is below the diagonal.

    Each token's probability as the end is above the columns, its probability as the start beside the rows; a cell is
    the product of the two.
    """
    if picture is None or picture.answer.cutout is None:
        message = {"text": "No test paragraph has a token that could be an answer.", "showarrow": False}
        hidden = {"visible": False}
        layout = plotly_layout(height=200, annotations=[message | {"font": {"size": 18}}], xaxis=hidden, yaxis=hidden)
        return {"data": [], "layout": layout}
    cutout = picture.answer.cutout
    starts, ends = np.array(cutout.starts), np.array(cutout.ends)
    m = len(starts)
    table = np.where(np.triu(np.ones((m, m), dtype=bool)), np.outer(starts, ends), np.nan)
    tokens = [plot_text(short(picture.context[start:end], 12)) for start, end in cutout.places]
    places = list(range(m))
    colours = [word_colour(word) for word in cutout.words]
    spans = {
        "type": "heatmap",
        "x": places,
        "y": places,
        "z": np.round(table, 5),
        "zmin": 0,
        "zmax": max(0.05, float(np.nanmax(table))),
        "colorscale": colour_scale("magnitude"),
        "hoverongaps": False,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "customdata": [[f"{tokens[i]} … {tokens[j]}" for j in places] for i in places],
        "hovertemplate": "%{customdata}<br>probability %{z:.3f}<extra></extra>",
    }
    bars = {
        "type": "bar",
        "customdata": tokens,
        "marker": {"color": colours},
        "showlegend": False,
        "hovertemplate": "%{customdata}<br>as the %{meta} %{value:.3f}<extra></extra>",
    }
    above = bars | {"x": places, "y": ends, "yaxis": "y2", "meta": "end"}
    beside = bars | {"y": places, "x": starts, "orientation": "h", "xaxis": "x2", "meta": "start"}
    return {"data": [spans, above, beside], "layout": _layout(picture, cutout, tokens, colours)}


def _frames(picture: Picture, cutout: Cutout) -> list[Mark]:
    """A frame around the best span's cell, and, where that is another and in sight, around the right answer's."""
    best, true = _cell(cutout, _best(picture)), _cell(cutout, (picture.start, picture.end))
    framed = [(true, TRUE, "dot")] * (true != best) + [(best, CLASSES[5], "solid")]
    return [
        {
            "type": "rect",
            "x0": column - 0.5,
            "x1": column + 0.5,
            "y0": row - 0.5,
            "y1": row + 0.5,
            "line": {"color": colour, "width": 4, "dash": dash},
        }
        for (row, column), colour, dash in ((cell, *looks) for cell, *looks in framed if cell is not None)
    ]


def _best(picture: Picture) -> tuple[int, int]:
    best = picture.answer.best[0]
    return best.start, best.end


def _named(picture: Picture, cutout: Cutout) -> list[Mark]:
    """The best span's words and probability beside its cell, where that is in sight."""
    cell, best = _cell(cutout, _best(picture)), picture.answer.best[0]
    if cell is None:
        return []
    row, column = cell
    right = column < 0.7 * len(cutout.places)  # above the diagonal there is room
    text = plot_text(textwrap.shorten(picture.context[best.start : best.end], 40, placeholder="…"))
    arrow = {"showarrow": True, "arrowhead": 0, "arrowwidth": 2, "ax": 34 if right else -34, "ay": -44}
    words = {"text": f"<b>{text}</b><br>{best.probability:.2f}", "font": {"size": 18}, "align": "left"}
    return [{"x": column, "y": row, "xanchor": "left" if right else "right"} | arrow | words]


def _cell(cutout: Cutout, span: tuple[int, int]) -> tuple[int, int] | None:
    """The places of the tokens that a span of characters begins and ends in; None where one is out of sight."""
    inside = [at for at, (start, end) in enumerate(cutout.places) if start < span[1] and end > span[0]]
    if not inside or cutout.places[inside[0]][0] > span[0] or cutout.places[inside[-1]][1] < span[1]:
        return None
    return inside[0], inside[-1]


def _layout(picture: Picture, cutout: Cutout, tokens: Sequence[str], colours: Sequence[str]) -> Attributes:
    """Tokens with their hue on both sides, the question above, the two strips of probabilities, frames and words."""
    m = len(tokens)
    names = [f'{name} <span style="color:{colour}">■</span>' for name, colour in zip(tokens, colours, strict=True)]
    lines = textwrap.wrap(textwrap.shorten(picture.question, 3 * LINE, placeholder="…"), LINE)
    top, left = 30 + 24 * len(lines), 60 + 9 * max(map(len, tokens))
    most = max(0.05, *cutout.starts, *cutout.ends)
    side = {
        "tickvals": list(range(m)),
        "ticktext": names,
        "tickfont": {"size": 16},
        "showgrid": False,
        "domain": [0, SPLIT],
        "zeroline": False,
    }
    strip = {
        "range": [0, most * 1.05],
        "domain": [SPLIT + 0.02, 1],
        "showgrid": False,
        "nticks": 3,
        "tickfont": {"size": 16},
        "zeroline": False,
    }
    no_spans = {  # grey under the cells whose end is before their start
        "type": "path",
        "layer": "below",
        "line": {"width": 0},
        "fillcolor": IMPOSSIBLE,
        "path": "M " + " L ".join(f"{x},{y}" for x, y in _stairs(m)) + " Z",
    }
    why = {
        "x": m * 0.3 - 0.5,
        "y": m * 0.78 - 0.5,
        "text": "not an answer:<br>the end is before<br>the start",
        "showarrow": False,
        "font": {"size": 17},
        "align": "center",
    }
    question = {
        "x": 0, "y": 1, "xshift": 12 - left, "yshift": 8, "xref": "paper", "yref": "paper", "xanchor": "left",
        "yanchor": "bottom", "showarrow": False, "align": "left",
        "text": "<b>" + "<br>".join(map(plot_text, lines)) + "</b>", "font": {"size": 18},
    }  # fmt: skip
    to, start = ({"text": text, "font": {"size": 17}} for text in ("… to this end", "from this start …"))
    return plotly_layout(
        height=int(ROW * m / SPLIT + top + 130),
        bargap=0.25,
        margin={"l": left, "r": 10, "t": top, "b": 130},
        xaxis=side | {"tickangle": -90, "range": [-0.5, m - 0.5], "title": to},
        yaxis=side | {"range": [m - 0.5, -0.5], "title": start},
        xaxis2=strip | {"anchor": "y", "title": {"text": "start", "font": {"size": 16}}},
        yaxis2=strip | {"anchor": "x", "title": {"text": "end", "font": {"size": 16}}},
        shapes=[*_frames(picture, cutout), no_spans],
        annotations=[*_named(picture, cutout), *[why] * (m > 2), question],
    )


def _stairs(m: int) -> list[tuple[float, float]]:
    """The corners around the cells below the diagonal of an [m, m] table whose rows count downwards."""
    corners = [(-0.5, 0.5)]
    for step in range(1, m):
        corners += [(step - 0.5, step - 0.5), (step - 0.5, step + 0.5)]
    return [*corners, (-0.5, m - 0.5)]
