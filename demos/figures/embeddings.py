"""Sentence vectors drawn: the cosine heatmap, the PCA map, and which tokens a pooling takes (no model, no page)."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale, unlabel_rgb

from demos.bert.embeddings import Disagreement, Projection
from demos.bert.encoding import Encoding
from demos.figures.palette import PALETTE, colour_scale, plotly_layout

NUMBERS_IN_CELLS = 12  # sentences; with more the cells are too small to read
SIGNED = colour_scale("signed")
READABLE_ON_BOTH = "#7b8288"  # 3-D text is drawn by WebGL, which no style sheet reaches: this grey suits light and dark
ACCENT = PALETTE["light"]["accent"]
OUTLINE = PALETTE["classes"][5]
MARKS = {False: "circle", True: "diamond"}  # diamond: from the sentence bar
WIDTH, HEIGHT = 900, 420  # pixels that labels are placed for


def short(sentence: str, length: int = 24) -> str:
    """A sentence cut at a word where it can be, on one line."""
    line = " ".join(sentence.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip(" ,;:.") + "…"


def label(number: int, sentence: str, length: int = 24) -> str:
    """ "3 Willows grow…", escaped: Plotly reads tags in its labels."""
    return f"{number + 1} {html.escape(short(sentence, length))}"


def cosine_heatmap(cosine: np.ndarray, sentences: Sequence[str], outlined: Disagreement | None = None) -> go.Figure:
    """A cosine matrix [m, m] on the signed scale from -1 to 1, numbers in the cells where they can be read.

    `outlined` draws a frame around one pair's cells. Axes carry the sentences' numbers, the rows their beginnings.
    """
    m = len(sentences)
    named = [html.escape(short(sentence, 70)) for sentence in sentences]
    figure = go.Figure(
        go.Heatmap(
            z=np.round(cosine, 4),
            zmin=-1,
            zmax=1,
            colorscale=SIGNED,
            text=_cell_texts(cosine) if m <= NUMBERS_IN_CELLS else None,
            texttemplate="%{text}" if m <= NUMBERS_IN_CELLS else None,
            textfont={"size": 16 if m <= 8 else 14},
            customdata=[[[named[i], named[j]] for j in range(m)] for i in range(m)],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>cosine %{z:.3f}<extra></extra>",
            xgap=1,
            ygap=1,
            colorbar={"orientation": "h", "thickness": 12, "y": -0.02, "yanchor": "top", "tickvals": [-1, 0, 1]},
        )
    )
    if outlined is not None:
        for x, y in ((outlined.i, outlined.j), (outlined.j, outlined.i)):
            box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
            figure.add_shape(type="rect", line={"color": OUTLINE, "width": 3}, **box)
    ticks = list(range(m)) if m <= 32 else list(range(0, m, 4))
    figure.update_layout(
        **plotly_layout(height=min(720, max(330, 46 * m + 110)), margin={"l": 150, "r": 8, "t": 28, "b": 56})
    )
    figure.update_xaxes(
        tickvals=ticks, ticktext=[str(i + 1) for i in ticks], side="top", showgrid=False, zeroline=False
    )
    figure.update_yaxes(
        tickvals=ticks,
        ticktext=[label(i, sentences[i], 20) for i in ticks],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        tickfont={"size": 14},
    )
    return figure


def _cell_texts(cosine: np.ndarray) -> list[list[str]]:
    """Each cosine with two digits, in the ink that can be read on its cell's colour."""
    return [[f'<span style="color:{_ink_on(value)}">{value:.2f}</span>' for value in row] for row in cosine]


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
    marks = [MARKS[number < from_bar] for number in range(len(sentences))]
    titles = [f"axis {k + 1} ({share:.0%} of the variance)" for k, share in enumerate(projection.explained)]
    shared = {
        "mode": "markers+text",
        "text": [label(number, sentence) for number, sentence in enumerate(sentences)],
        "customdata": [html.escape(short(sentence, 70)) for sentence in sentences],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    if dimensions == 3:
        x, y, z = np.round(points, 4).T
        font = {"color": READABLE_ON_BOTH, "size": 14}
        marker = {"size": 6, "symbol": marks, "color": "#3585bf"}
        figure = go.Figure(go.Scatter3d(x=x, y=y, z=z, marker=marker, textfont=font, **shared))
        axis = {"color": READABLE_ON_BOTH, "gridcolor": READABLE_ON_BOTH, "showbackground": False}
        scene = {f"{name}axis": axis | {"title": {"text": titles[k], "font": font}} for k, name in enumerate("xyz")}
        figure.update_layout(
            **plotly_layout(height=560, margin={"l": 0, "r": 0, "t": 0, "b": 0}, scene=scene, uirevision="map")
        )
        return figure
    x, y = np.round(points, 4).T
    marker = {"size": 13, "symbol": marks, "color": "#3585bf"}
    placed = _label_sides(points, shared["text"])
    figure = go.Figure(go.Scatter(x=x, y=y, marker=marker, textposition=placed, cliponaxis=False, **shared))
    figure.update_traces(textfont={"size": 15})
    figure.update_layout(**plotly_layout(height=HEIGHT + 70, margin={"l": 56, "r": 24, "t": 24, "b": 56}))
    figure.update_xaxes(title=titles[0], zeroline=True)
    figure.update_yaxes(title=titles[1], zeroline=True, scaleanchor="x", scaleratio=1)
    return figure


def _label_sides(points: np.ndarray, texts: Sequence[str]) -> list[str]:
    """For each point the side on which its label covers the least of points and labels already there."""
    span = np.ptp(points, axis=0).max() or 1.0
    pixels = points * min(WIDTH, HEIGHT) / span * [1, -1]
    taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in pixels]
    sides = []
    for (x, y), text in zip(pixels, texts, strict=True):
        width, height = 8.0 * len(text), 20.0
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


def pooled_tokens(encoding: Encoding, weights: np.ndarray) -> str:
    """The tokens in an ordered list (HTML), under each a bar as long as its share [n] of the pooled vector."""
    most = float(weights.max()) or 1.0
    chips = []
    for token, word, weight in zip(encoding.tokens, encoding.word_index, weights, strict=True):
        hue = "var(--special)" if word is None else f"var(--word-{word % len(PALETTE['words'])})"
        kind = "" if weight > 0 else ' class="out"'
        share = f"{weight:.1%} of the vector" if weight > 0 else "left out"
        chips.append(
            f'<li{kind} style="--hue:{hue};--share:{weight / most:.3f}" title="{share}">{html.escape(token)}</li>'
        )
    return f'<ol class="pooled">{"".join(chips)}</ol>'
