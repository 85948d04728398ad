"""How far each state moves with the last word, for BERT above the decoder; and who attends to whom in each."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from demos.bert.causal.last_word import Changes
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR, BARE, NO_VALUE
from demos.figures.palette import colour_scale, plotly_layout
from demos.templates import plot_text, templates

TEXT = templates(__file__)
ROW = 24  # pixels of a state
SEEN = 0.9  # the colour of a pair that attends


def changes_figure(bert: Changes, decoder: Changes, name: str, shown: int) -> go.Figure:
    """Two heatmaps over the same tokens: a row a state, the last layer on top, darker for a larger change."""
    limit = max(0.01, *(float(np.nanmax(changes.moved)) for changes in (bert, decoder)))
    titles = [f"{plot_text(name)}: attends to both sides", "The decoder: attends only to the left"]
    figure = make_subplots(rows=2, cols=1, subplot_titles=titles, vertical_spacing=0.16, shared_xaxes=True)
    for row, changes in enumerate((bert, decoder), start=1):
        first = max(0, len(bert.encoding) - shown)
        figure.add_trace(
            go.Heatmap(
                x=_names(changes, first),
                y=_states(changes),
                z=np.round(changes.moved[:, first:], 5),
                zmin=0,
                zmax=limit,
                colorscale=colour_scale("magnitude"),
                hoverongaps=False,
                hovertemplate="<b>%{x}</b>, %{y}<br>1 − cosine %{z:.4f}<extra></extra>",
                xgap=1,
                ygap=1,
                colorbar=BAR | {"tickformat": ".2~f", "nticks": 6},
                showscale=row == 1,
            ),
            row=row,
            col=1,
        )
    names = _names(bert, max(0, len(bert.encoding) - shown))
    rows = len(bert.moved) + len(decoder.moved)
    figure.update_layout(
        **plotly_layout(height=150 + ROW * rows, margin={"l": 96, "r": 10, "t": 30, "b": 90}, plot_bgcolor=NO_VALUE)
    )
    ticks = {"tickvals": names, "ticktext": [label.split(" ", 1)[1] for label in names], "tickangle": -60}
    figure.update_xaxes(**BARE, tickfont={"size": SMALL})
    figure.update_xaxes(**ticks, row=2, col=1)
    figure.update_yaxes(**BARE, tickfont={"size": SMALL})
    figure.update_annotations(font_size=17)
    return figure


def masks_figure(bert: Changes, decoder: Changes, shown: int) -> go.Figure:
    """Who attends to whom in every layer: a filled cell for each pair that does, queries down, keys across."""
    sizes = [min(shown, len(changes.encoding)) for changes in (bert, decoder)]
    masks = [np.ones((sizes[0], sizes[0])), np.tri(sizes[1])]
    figure = make_subplots(rows=1, cols=2, subplot_titles=["BERT's mask", "Decoder's mask"], horizontal_spacing=0.1)
    for column, (mask, changes) in enumerate(zip(masks, (bert, decoder), strict=True), start=1):
        names = _names(changes, max(0, len(changes.encoding) - shown))
        figure.add_trace(
            go.Heatmap(
                x=names,
                y=names,
                z=np.where(mask > 0, SEEN, np.nan),
                zmin=0,
                zmax=1,
                colorscale=colour_scale("magnitude"),
                hoverongaps=False,
                hovertemplate="<b>%{y}</b> attends to <b>%{x}</b><extra></extra>",
                xgap=1,
                ygap=1,
                showscale=False,
            ),
            row=1,
            col=column,
        )
    figure.update_layout(**plotly_layout(height=230, margin={"l": 24, "r": 6, "t": 30, "b": 24}, plot_bgcolor=NO_VALUE))
    figure.update_xaxes(**BARE, showticklabels=False, title={"text": "key", "standoff": 4})
    figure.update_yaxes(**BARE, showticklabels=False, autorange="reversed", title={"text": "query", "standoff": 4})
    figure.update_annotations(font_size=17)
    return figure


def summary_html(bert: Changes, decoder: Changes, word: str, name: str, shown: int) -> str:
    """How many tokens before the word change in each model, in the last layer."""
    before = bert.replaced[0] if bert.replaced else len(bert.encoding)
    counts = [changes.changed(before) for changes in (bert, decoder)]
    largest = float(np.nanmax(decoder.moved[:, :before])) if before else 0.0
    return TEXT.summary(word, name, before, counts, largest, bert.replaced, max(0, len(bert.encoding) - shown))


def numbers_html(bert: Changes, decoder: Changes, name: str) -> str:
    """Both as tables: a row a token, a column a state."""
    return TEXT.numbers(
        [
            (title, _states(changes), list(zip(changes.encoding.tokens, changes.moved.T.tolist(), strict=True)))
            for title, changes in ((name, bert), ("The decoder", decoder))
        ]
    )


def _names(changes: Changes, first: int) -> list[str]:
    return [f"{at} {plot_text(token)}" for at, token in enumerate(changes.encoding.tokens)][first:]


def _states(changes: Changes) -> list[str]:
    """Of the states 0 to L, as the page counts them."""
    return ["embeddings", *(f"layer {layer}" for layer in range(1, len(changes.moved)))]
