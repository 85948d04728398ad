"""One head drawn: its heatmap (Plotly), the same numbers as a table, and a sentence that says what they show."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from demos.bert.encoding import Encoding
from demos.figures.palette import colour_scale, plotly_layout

ROW = 26  # pixels a token takes where there is room
LABELLED = 72  # tokens; beyond, each label would be smaller than 9 pixels


def heatmap(weights: np.ndarray, encoding: Encoding) -> go.Figure:
    """Weights [n, n] of one head over the first n tokens, a row a query; colours from 0 to the largest weight.

    In dark mode assets/attention.css turns the picture's scale round, since gr.Plot does not know the theme.
    """
    n = len(weights)
    names = [f"{index} {html.escape(token, quote=False)}" for index, token in enumerate(encoding.tokens[:n])]
    labels = [_label(encoding, index) for index in range(n)]
    figure = go.Figure(
        go.Heatmap(
            x=names,  # categories, told apart by their number where tokens repeat
            y=names,
            z=np.round(weights.astype(np.float64), 4),
            zmin=0,
            zmax=float(np.ceil(weights.max() * 100) / 100),
            colorscale=colour_scale("magnitude"),
            hovertemplate="from <b>%{y}</b><br>to <b>%{x}</b><br>weight %{z:.4f}<extra></extra>",
            xgap=1 if n <= LABELLED else 0,
            ygap=1 if n <= LABELLED else 0,
            colorbar={"thickness": 12, "len": 1, "outlinewidth": 0, "tickformat": ".2f", "nticks": 6},
        )
    )
    size = 15 if n <= 24 else 12 if n <= 40 else 9
    axis = {"tickvals": names, "ticktext": labels, "tickfont": {"size": size}, "showgrid": False, "ticks": ""}
    if n > LABELLED:
        axis |= {"tickvals": names[::4], "ticktext": labels[::4]}
    longest = max(len(token) for token in encoding.tokens[:n])
    margin = int(min(150, 30 + longest * size * 0.62))
    figure.update_layout(
        **plotly_layout(
            height=int(min(820, max(360, ROW * n + margin + 40))),
            margin={"l": margin + 18, "r": 10, "t": margin + 22, "b": 10},
        )
    )
    figure.update_xaxes(**axis, side="top", tickangle=-90, title={"text": "to (key)", "standoff": 6})
    figure.update_yaxes(**axis, autorange="reversed", title={"text": "from (query)", "standoff": 6})
    if (start := encoding.sentence_b_start) is not None and start < n:
        line = {"color": "#8a9096", "width": 2, "dash": "dot"}
        figure.add_shape(type="line", x0=start - 0.5, x1=start - 0.5, y0=-0.5, y1=n - 0.5, line=line)
        figure.add_shape(type="line", x0=-0.5, x1=n - 0.5, y0=start - 0.5, y1=start - 0.5, line=line)
    return figure


def weights_table(weights: np.ndarray, encoding: Encoding, title: str) -> str:
    """The weights [n, n] as an HTML table: a row a query, a column a key, and each row's sum."""
    n = len(weights)
    tokens = [_cell(encoding, index) for index in range(n)]
    head = "".join(f'<th scope="col">{token}</th>' for token in tokens)
    rows = "".join(
        f'<tr><th scope="row">{token}</th>'
        + "".join(f"<td>{weight:.3f}</td>" for weight in row)
        + f"<td><b>{row.sum():.3f}</b></td></tr>"
        for token, row in zip(tokens, weights, strict=True)
    )
    return (
        f'<div class="attention-table" tabindex="0" role="region" aria-label="{html.escape(title)}"><table>'
        f"<caption>{html.escape(title)}: from the row's token to the column's.</caption>"
        f'<thead><tr><td></td>{head}<th scope="col">sum</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def told(weights: np.ndarray, encoding: Encoding, layer: int, head: int) -> str:
    """One paragraph (HTML) on a head's weights [n, n]: its strongest one, how sharp it is, what special tokens take."""
    n = len(weights)
    query, key = np.unravel_index(int(weights.argmax()), weights.shape)
    special = np.array(encoding.special_tokens_mask[:n], dtype=bool)
    share = weights[:, special].sum() / weights.sum()
    before, itself, after = (float(np.diagonal(weights, offset).mean()) for offset in (-1, 0, 1))
    strongest = f"{weights.max():.2f}, from {_quoted(encoding, int(query))} to {_quoted(encoding, int(key))}"
    return (
        f"<p><b>Layer {layer}, head {head}.</b> The strongest weight is {strongest}. On average a token gives "
        f"{before:.2f} to the token before it, {itself:.2f} to itself and {after:.2f} to the next one; {share:.0%} of "
        "all attention goes to [CLS] and [SEP].</p>"
    )


def _label(encoding: Encoding, index: int) -> str:
    """A token for an axis; special ones in italics, so that they are known without their colour too."""
    token = html.escape(encoding.tokens[index], quote=False)
    return f"<i>{token}</i>" if encoding.special_tokens_mask[index] else token


def _cell(encoding: Encoding, index: int) -> str:
    sequence = "AB"[encoding.token_type_ids[index]] if encoding.sentence_b_start is not None else ""
    mark = f" <small>{sequence}</small>" if sequence else ""
    return f"{html.escape(encoding.tokens[index])}{mark}"


def _quoted(encoding: Encoding, index: int) -> str:
    return f"<q>{html.escape(encoding.tokens[index])}</q> (token {index})"
