"""Sentence vectors drawn: the cosine heatmap and the PCA map (Plotly)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale, unlabel_rgb

from demos.bert.embeddings import Disagreement, Projection
from demos.figures.palette import PALETTE, colour_scale, plotly_layout

NUMBERS_IN_CELLS = 10  # sentences; with more the cells are too small to read
NAMES_ON_HOVER = 24  # sentences; with more, naming both in each cell would be half a megabyte
SIGNED = colour_scale("signed")
READABLE_ON_BOTH = "#7b8288"  # 3-D text is drawn by WebGL, which no style sheet reaches: this grey suits light and dark
OUTLINE = PALETTE["classes"][5]
NAMES_ON_MAP = 16  # points; with more, names would cover each other, and the numbers must do
MARKS = {False: "circle", True: "diamond"}  # diamond: from the sentence bar
WIDTH, HEIGHT = 560, 400  # pixels that labels are placed for


def short(sentence: str, length: int = 24) -> str:
    """A sentence cut at a word where it can be, on one line."""
    line = " ".join(sentence.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip(" ,;:.") + "…"


def label(number: int, sentence: str, length: int, from_bar: int = 0) -> str:
    """ "3 Willows grow…", escaped: Plotly reads tags in its labels. The bar's own have their diamond before them."""
    mark = "◆ " if number < from_bar else ""
    # Plotly makes a tspan of the span, which the style sheet hides on a phone: there the number must do.
    return f'{mark}{number + 1} <span style="font-weight:400">{html.escape(short(sentence, length))}</span>'


def rounded(value: float) -> str:
    """Two digits, and never "-0.00"."""
    return f"{round(float(value), 2) + 0.0:.2f}"


def cosine_heatmap(
    cosine: np.ndarray, sentences: Sequence[str], outlined: Disagreement | None = None, from_bar: int = 0
) -> go.Figure:
    """A cosine matrix [m, m] on the signed scale from -1 to 1, numbers in the cells where they can be read.

    `outlined` draws a frame around one pair's cells. Axes carry the sentences' numbers, the rows their beginnings.
    """
    m = len(sentences)
    named = [html.escape(short(sentence, 70)) for sentence in sentences]
    pair = "%{customdata[0]}<br>%{customdata[1]}" if m <= NAMES_ON_HOVER else "%{y}<br>and sentence %{x}"
    figure = go.Figure(
        go.Heatmap(
            z=np.round(cosine, 4),
            zmin=-1,
            zmax=1,
            colorscale=SIGNED,
            text=_cell_texts(cosine) if m <= NUMBERS_IN_CELLS else None,
            texttemplate="%{text}" if m <= NUMBERS_IN_CELLS else None,
            textfont={"size": 16 if m <= 8 else 13},
            customdata=[[[a, b] for b in named] for a in named] if m <= NAMES_ON_HOVER else None,
            hovertemplate=f"{pair}<br>cosine %{{z:.3f}}<extra></extra>",
            xgap=1 if m <= NAMES_ON_HOVER else 0,
            ygap=1 if m <= NAMES_ON_HOVER else 0,
            colorbar={"orientation": "h", "thickness": 12, "y": -0.02, "yanchor": "top", "tickvals": [-1, 0, 1]},
        )
    )
    if outlined is not None:
        for x, y in ((outlined.i, outlined.j), (outlined.j, outlined.i)):
            box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
            figure.add_shape(type="rect", line={"color": OUTLINE, "width": 3 if m <= NAMES_ON_HOVER else 2}, **box)
    row = 42 if m <= NUMBERS_IN_CELLS else 25 if m <= NAMES_ON_HOVER else 15  # pixels
    step = 1 if m <= NAMES_ON_MAP else 5
    columns = sorted({0, *range(step - 1, m, step)})
    figure.update_layout(**plotly_layout(height=max(330, row * m + 110), margin={"l": 132, "r": 8, "t": 28, "b": 56}))
    figure.update_xaxes(
        tickvals=columns,
        ticktext=[str(i + 1) for i in columns],
        tickangle=0,
        side="top",
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        tickvals=list(range(m)),
        ticktext=[label(i, sentence, 17, from_bar) for i, sentence in enumerate(sentences)],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        tickfont={"size": 14 if m <= NAMES_ON_HOVER else 11},
    )
    return figure


def _cell_texts(cosine: np.ndarray) -> list[list[str]]:
    """Each cosine with two digits, in the ink that can be read on its cell's colour."""
    return [[f'<span style="color:{_ink_on(value)}">{rounded(value)}</span>' for value in row] for row in cosine]


def _ink_on(value: float) -> str:
    """Black or white, whichever stands out more (WCAG 2's relative luminance) on the colour of this cosine."""
    colour = sample_colorscale(SIGNED, [(float(value) + 1) / 2])[0]
    channels = np.array(unlabel_rgb(colour)) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "#ffffff" if linear @ [0.2126, 0.7152, 0.0722] < 0.18 else "#000000"


def sentence_map(projection: Projection, sentences: Sequence[str], from_bar: int = 0) -> go.Figure:
    """PCA's points [m, 2] or [m, 3], each with its number and beginning; the first `from_bar` are diamonds.

    In 2-D one unit is as long on both axes, so that what looks near is near.
    """
    points = projection.points
    dimensions = points.shape[1]
    few = len(sentences) <= NAMES_ON_MAP
    marks = [MARKS[number < from_bar] for number in range(len(sentences))]
    titles = [f"axis {k + 1} ({share:.0%} of the variance)" for k, share in enumerate(projection.explained)]
    shared: dict[str, Any] = {
        "mode": "markers+text",
        "customdata": [html.escape(short(sentence, 70)) for sentence in sentences],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    if dimensions == 3:
        x, y, z = np.round(points, 4).T
        named = [f"{i + 1} {html.escape(short(sentence, 16))}" for i, sentence in enumerate(sentences)]
        texts = named if few else [str(i + 1) for i in range(len(sentences))]
        font = {"color": READABLE_ON_BOTH, "size": 15}
        marker = {"size": 6, "symbol": marks, "color": "#3585bf"}
        figure = go.Figure(go.Scatter3d(x=x, y=y, z=z, text=texts, marker=marker, textfont=font, **shared))
        axis = {"color": READABLE_ON_BOTH, "gridcolor": READABLE_ON_BOTH, "showbackground": False}
        scene: dict[str, Any] = {
            f"{name}axis": axis | {"title": {"text": f"axis {k + 1} ({projection.explained[k]:.0%})", "font": font}}
            for k, name in enumerate("xyz")
        }
        scene |= {"aspectmode": "data", "camera": {"eye": {"x": 1.7, "y": 1.7, "z": 1.0}}}
        figure.update_layout(
            **plotly_layout(height=560, margin={"l": 0, "r": 0, "t": 0, "b": 0}, scene=scene, uirevision="map")
        )
        return figure
    x, y = np.round(points, 4).T
    marker = {"size": 13 if few else 9, "symbol": marks, "color": "#3585bf"}
    texts = [label(i, sentence, 24) if few else str(i + 1) for i, sentence in enumerate(sentences)]
    placed = _label_sides(points, [len(short(sentence, 24)) + 3 if few else 2 for sentence in sentences])
    figure = go.Figure(go.Scatter(x=x, y=y, text=texts, marker=marker, textposition=placed, cliponaxis=False, **shared))
    figure.update_traces(textfont={"size": 15})
    figure.update_layout(**plotly_layout(height=HEIGHT + 70, margin={"l": 56, "r": 24, "t": 24, "b": 56}))
    figure.update_xaxes(title=titles[0], zeroline=True)
    figure.update_yaxes(title=titles[1], zeroline=True, scaleanchor="x", scaleratio=1)
    return figure


def _label_sides(points: np.ndarray, lengths: Sequence[int]) -> list[str]:
    """For each point the side on which its label covers the least of points and labels already there."""
    low, span = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-9)
    pixels = (points - low - span / 2) * (0.9 * np.min([WIDTH, HEIGHT] / span)) * [1, -1]  # from the middle
    taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in pixels]
    outside = 4e4  # a label cut off by the edge is worse than one on another label
    taken += [(WIDTH / 2, -outside, outside, outside), (-outside, -outside, -WIDTH / 2, outside)]
    sides = []
    for (x, y), length in zip(pixels, lengths, strict=True):
        width, height = 7.5 * length, 20.0
        boxes = {
            "middle right": (x + 10, y - height / 2, x + 10 + width, y + height / 2),
            "middle left": (x - 10 - width, y - height / 2, x - 10, y + height / 2),
            "top center": (x - width / 2, y - 10 - height, x + width / 2, y - 10),
            "bottom center": (x - width / 2, y + 10, x + width / 2, y + 10 + height),
        }
        side = min(boxes, key=lambda name: sum(_overlap(boxes[name], other) for other in taken))
        taken.append(boxes[side])
        sides.append(side)
    return sides


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The area that two boxes (left, top, right, bottom) share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
