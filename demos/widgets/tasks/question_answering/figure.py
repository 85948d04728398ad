"""The table of all spans around the best one (Plotly): a row a start, a column an end, probabilities beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from demos.figures.palette import CLASSES, PALETTE, colour_scale, plotly_layout, word_colour
from demos.figures.short_text import short
from demos.templates import plot_text
from demos.training.tasks.question_answering.events import Cutout, Picture

LINE = 38  # characters of the question above the figure, a line
ROW = 26  # pixels
IMPOSSIBLE = "rgba(128,128,128,0.30)"  # under the cells whose end is before their start
TRUE = PALETTE["signed"][0]  # the outline of the right answer, where another is found
SPLIT = 0.80  # of the figure's width and height is the table of spans; the rest is the ends' own probabilities


def spans_figure(picture: Picture | None) -> go.Figure:
    """Every span around the best one of a question: a row a start, a column an end; below the diagonal is none.

    Above the columns stands each token's probability as the end, beside the rows that as the start; a cell is the
    product of the two.
    """
    drawn = go.Figure()
    if picture is None or picture.answer.cutout is None:
        drawn.add_annotation(
            text="No test paragraph has a token that could be an answer.", showarrow=False, font={"size": 18}
        )
        drawn.update_layout(**plotly_layout(height=200))
        drawn.update_xaxes(visible=False)
        drawn.update_yaxes(visible=False)
        return drawn
    cutout = picture.answer.cutout
    starts, ends = np.array(cutout.starts), np.array(cutout.ends)
    m = len(starts)
    table = np.where(np.triu(np.ones((m, m), dtype=bool)), np.outer(starts, ends), np.nan)
    tokens = [plot_text(short(picture.context[start:end], 12)) for start, end in cutout.places]
    places = list(range(m))
    colours = [word_colour(word) for word in cutout.words]
    drawn.add_trace(
        go.Heatmap(
            x=places,
            y=places,
            z=np.round(table, 5),
            zmin=0,
            zmax=max(0.05, float(np.nanmax(table))),
            colorscale=colour_scale("magnitude"),
            hoverongaps=False,
            showscale=False,
            xgap=1,
            ygap=1,
            customdata=[[f"{tokens[i]} … {tokens[j]}" for j in places] for i in places],
            hovertemplate="%{customdata}<br>probability %{z:.3f}<extra></extra>",
        )
    )
    hover = "%{customdata}<br>as the %{meta} %{value:.3f}<extra></extra>"
    shared = {"customdata": tokens, "marker": {"color": colours}, "showlegend": False}
    drawn.add_trace(go.Bar(x=places, y=ends, yaxis="y2", meta="end", hovertemplate=hover, **shared))
    drawn.add_trace(
        go.Bar(y=places, x=starts, orientation="h", xaxis="x2", meta="start", hovertemplate=hover, **shared)
    )
    _outline(drawn, picture, cutout)
    _axes(drawn, picture, cutout, tokens, colours)
    return drawn


def _outline(drawn: go.Figure, picture: Picture, cutout: Cutout) -> None:
    """A frame around the best span's cell, and, where that is another and in sight, around the right answer's."""
    best = picture.answer.best[0]
    true = (picture.start, picture.end)
    cells = {"found": _cell(cutout, (best.start, best.end)), "true": _cell(cutout, true)}
    for name, colour, dash in (("true", TRUE, "dot"), ("found", CLASSES[5], "solid")):
        cell = cells[name]
        if cell is None or (name == "true" and cell == cells["found"]):
            continue
        row, column = cell
        drawn.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": colour, "width": 4, "dash": dash},
        )  # fmt: skip
    if cells["found"] is not None:
        row, column = cells["found"]
        right = column < 0.7 * len(cutout.places)  # above the diagonal there is room
        text = plot_text(textwrap.shorten(picture.context[best.start : best.end], 40, placeholder="…"))
        drawn.add_annotation(
            x=column, y=row, text=f"<b>{text}</b><br>{best.probability:.2f}", showarrow=True, arrowhead=0, arrowwidth=2,
            ax=34 if right else -34, ay=-44, xanchor="left" if right else "right", font={"size": 18}, align="left",
        )  # fmt: skip


def _cell(cutout: Cutout, span: tuple[int, int]) -> tuple[int, int] | None:
    """The places of the tokens that a span of characters begins and ends in; None where one is out of sight."""
    inside = [at for at, (start, end) in enumerate(cutout.places) if start < span[1] and end > span[0]]
    if not inside or cutout.places[inside[0]][0] > span[0] or cutout.places[inside[-1]][1] < span[1]:
        return None
    return inside[0], inside[-1]


def _axes(drawn: go.Figure, picture: Picture, cutout: Cutout, tokens: Sequence[str], colours: Sequence[str]) -> None:
    """Tokens with their hue on both sides, the question above, the two strips of probabilities."""
    m = len(tokens)
    names = [f'{name} <span style="color:{colour}">■</span>' for name, colour in zip(tokens, colours, strict=True)]
    ticks = {"tickvals": list(range(m)), "ticktext": names, "tickfont": {"size": 16}, "showgrid": False}
    lines = textwrap.wrap(textwrap.shorten(picture.question, 3 * LINE, placeholder="…"), LINE)
    top, left = 30 + 24 * len(lines), 60 + 9 * max(map(len, tokens))
    most = max(0.05, *cutout.starts, *cutout.ends)
    strip = {
        "range": [0, most * 1.05], "domain": [SPLIT + 0.02, 1], "showgrid": False, "nticks": 3,
        "tickfont": {"size": 16}, "zeroline": False,
    }  # fmt: skip
    drawn.update_layout(
        **plotly_layout(
            height=int(ROW * m / SPLIT + top + 130),
            plot_bgcolor="rgba(0,0,0,0)",
            bargap=0.25,
            margin={"l": left, "r": 10, "t": top, "b": 130},
            xaxis={**ticks, "domain": [0, SPLIT], "tickangle": -90, "range": [-0.5, m - 0.5], "zeroline": False,
                   "title": {"text": "… to this end", "font": {"size": 17}}},
            yaxis={**ticks, "domain": [0, SPLIT], "range": [m - 0.5, -0.5], "zeroline": False,
                   "title": {"text": "from this start …", "font": {"size": 17}}},
            xaxis2={**strip, "anchor": "y", "title": {"text": "start", "font": {"size": 16}}},
            yaxis2={**strip, "anchor": "x", "title": {"text": "end", "font": {"size": 16}}},
        )
    )  # fmt: skip
    # Grey under the cells that are no span: the end is before the start.
    drawn.add_shape(
        type="path", layer="below", line={"width": 0}, fillcolor=IMPOSSIBLE,
        path="M " + " L ".join(f"{x},{y}" for x, y in _stairs(m)) + " Z",
    )  # fmt: skip
    if m > 2:
        drawn.add_annotation(
            x=m * 0.3 - 0.5, y=m * 0.78 - 0.5, text="not an answer:<br>the end is before<br>the start", showarrow=False,
            font={"size": 17}, align="center",
        )  # fmt: skip
    drawn.add_annotation(
        x=0, y=1, xshift=12 - left, yshift=8, xref="paper", yref="paper", xanchor="left", yanchor="bottom",
        showarrow=False, align="left",
        text="<b>" + "<br>".join(map(plot_text, lines)) + "</b>", font={"size": 18},
    )  # fmt: skip


def _stairs(m: int) -> list[tuple[float, float]]:
    """The corners around the cells below the diagonal of an [m, m] table whose rows count downwards."""
    corners = [(-0.5, 0.5)]
    for step in range(1, m):
        corners += [(step - 0.5, step - 0.5), (step - 0.5, step + 0.5)]
    return [*corners, (-0.5, m - 0.5)]
