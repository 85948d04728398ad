"""How well each layer tells senses apart, drawn and told: two curves with their chance levels, and the words' list."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from demos.bert.embeddings.word_senses import SenseScores
from demos.figures.cosines import rounded
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.tables import column_heads, scrolling_table

RAND, NEIGHBOUR = CLASSES[7], CLASSES[6]  # neither senses' nor the curves' hues
HEIGHT = 400


def where(row: int) -> str:
    """What a row of the scores is called: "static table", "layer 3"."""
    return f"layer {row - 1}" if row else "the static table"


def scores_figure(scores: SenseScores) -> go.Figure:
    """The average over all words by layer, and what chance would give (dashed)."""
    rows = scores.rand.shape[1]
    x = list(range(rows))
    figure = go.Figure()
    above = {"x": 0, "y": 0.95, "xanchor": "left"}  # where neither curve passes
    below = {"x": rows - 1, "y": 0.16, "xanchor": "right"}
    blind = float(scores.chance.mean())
    for values, chance, colour, name, place in (
        (scores.neighbour.mean(axis=0), blind, NEIGHBOUR, "nearest use has the sense", above),
        (scores.rand.mean(axis=0), 0.0, RAND, "clusters match senses", below),
    ):
        figure.add_trace(
            go.Scatter(
                x=x, y=[chance] * rows, mode="lines", line={"color": colour, "width": 2, "dash": "dash"},
                hovertemplate=f"chance: {chance:.2f}<extra>{name}</extra>", showlegend=False, name=f"chance: {name}",
            )
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=x, y=np.round(values, 4), mode="lines+markers", line={"color": colour, "width": 5},
                marker={"size": 9}, name=name, showlegend=False, cliponaxis=False,
                customdata=[where(row) for row in x],
                hovertemplate=f"%{{customdata}}: <b>%{{y:.3f}}</b><extra>{name}</extra>",
            )
        )  # fmt: skip
        figure.add_annotation(
            text=f'<span style="color:{colour}">━</span> <b>{name}</b>', showarrow=False, font={"size": 19}, **place
        )
        figure.add_annotation(
            text=f"<b>{values[-1]:.2f}</b>", x=rows - 1, y=float(values[-1]), xanchor="left", xshift=10,
            showarrow=False, font={"size": 19},
        )  # fmt: skip
        figure.add_annotation(
            text="chance", x=rows - 1, y=chance, xanchor="right", yshift=12, showarrow=False, font={"size": 16}
        )
    step = 1 if rows <= 14 else 3
    layers = range(0, rows - 1, step)
    figure.update_layout(**plotly_layout(height=HEIGHT, margin={"l": 52, "r": 56, "t": 14, "b": 54}))
    figure.update_xaxes(
        title={"text": "layer", "font": {"size": 17}},
        tickvals=[0, *(layer + 1 for layer in layers)],
        ticktext=["static", *map(str, layers)],
        tickfont={"size": 17},
        range=[-0.3, rows - 0.7],
        showgrid=False,
        zeroline=False,
    )
    low = min(0.0, float(scores.rand.mean(axis=0).min()))
    figure.update_yaxes(range=[low - 0.04, 1.02], tickfont={"size": 17}, nticks=7, zeroline=False)
    return figure


def scores_told(scores: SenseScores) -> str:
    """The best layer's averages against chance, in two sentences (HTML)."""
    best = scores.best
    rand, neighbour = scores.rand.mean(axis=0), scores.neighbour.mean(axis=0)
    total = sum(scores.uses)
    return (
        f"<p>{total:,} sentences, {len(scores.words)} words, {sum(scores.senses)} senses; no label is shown to the "
        f"model. At <b>{where(best)}</b>, where k-means does best, its clusters match the senses to "
        f"<b>{rand[best]:.2f}</b> (chance: 0, perfect: 1), and the nearest other use has the same sense in "
        f"<b>{neighbour[best]:.0%}</b> of the cases (chance: {scores.chance.mean():.0%}).</p>"
    )


def ranked(scores: SenseScores) -> list[int]:
    """The words' indices, best told apart first: by the Rand index of the best layer, then by the neighbours."""
    best = scores.best
    return sorted(range(len(scores.words)), key=lambda w: (-scores.rand[w, best], -scores.neighbour[w, best]))


def words_html(scores: SenseScores) -> str:
    """Every word with a bar of its adjusted Rand index at the best layer, best first (HTML)."""
    best = scores.best
    items = "".join(
        f'<li style="--share:{max(0.0, float(scores.rand[word, best])):.3f}"><b>{html.escape(scores.words[word])}</b>'
        f"<i></i><span>{rounded(scores.rand[word, best])}</span></li>"
        for word in ranked(scores)
    )
    return (
        f"<h4>From the best word to the worst: clusters at {where(best)}</h4>"
        f'<ol class="word-ranks" tabindex="0" aria-label="Words by how well their senses are told apart">{items}</ol>'
    )


def scores_table(scores: SenseScores) -> str:
    """Both scores, word by word and layer by layer (HTML)."""
    heads = column_heads(["static", *(f"layer {layer}" for layer in range(scores.rand.shape[1] - 1))])
    parts = []
    for title, values, chance in (
        ("Adjusted Rand index of k-means (chance: 0)", scores.rand, np.zeros(len(scores.words))),
        ("Nearest other use has the same sense (chance beside it)", scores.neighbour, scores.chance),
    ):
        lines = [
            (f"{html.escape(scores.words[w])} ({scores.senses[w]} senses)", values[w], chance[w])
            for w in ranked(scores)
        ]
        lines.append(("<b>average</b>", values.mean(axis=0), chance.mean()))
        body = "".join(
            f'<tr><th scope="row">{name}</th>{"".join(f"<td>{rounded(value)}</td>" for value in [*row, by])}</tr>'
            for name, row, by in lines
        )
        parts.append(scrolling_table(title, f"<td></td>{heads}{column_heads(['chance'])}", body))
    return "".join(parts)
