"""The effect of switching heads off, drawn (Plotly): layers x tokens, each cell 1 - cosine of before and after."""

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.counting import state_names
from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR, NAMED_COLUMNS, SPACED, named_step
from demos.figures.palette import colour_scale, inked, plotly_layout, word_colour
from demos.templates import plot_text

SHOWN = 128  # tokens
SCALE = colour_scale("magnitude")
NUMBERED = 18  # tokens; with more, a cell is too narrow for its number
ROW = 40  # pixels a layer takes; fewer where there are many


def change_figure(cosines: np.ndarray, encoding: Encoding) -> Figure:
    """1 - cosine of each token's state before and after, [L + 1, n]: one row per hidden state, one column per token.

    Colours run from 0 to the largest change, but at least to 0.01: smaller changes are negligible. Above its
    column a token has its word's hue.
    """
    n = min(len(encoding), SHOWN)
    changes = 1 - cosines[:, :n]
    names = state_names(len(cosines) - 1)
    tokens = [plot_text(token) for token in encoding.tokens[:n]]
    columns = [f"{index} {token}" for index, token in enumerate(tokens)]
    special = encoding.special_tokens_mask[:n]
    labels = [f"<i>{token}</i>" if mark else token for token, mark in zip(tokens, special, strict=True)]
    top = max(0.01, float(changes.max()))
    heatmap = {
        "type": "heatmap",
        "x": columns,
        "y": names,
        "z": np.round(changes, 5),
        "zmin": 0,
        "zmax": top,
        "colorscale": SCALE,
        "text": _numbers(changes, top) if n <= NUMBERED else None,
        "texttemplate": "%{text}" if n <= NUMBERED else None,
        "textfont": {"size": SMALL},
        "hovertemplate": "<b>%{x}</b> after %{y}<br>1 − cosine %{z:.5f}<extra></extra>",
        "xgap": 1 if n <= SPACED else 0,
        "ygap": 1,
        "colorbar": BAR | {"tickformat": ".2~g", "nticks": 5},
    }
    margin = int(min(130, 22 + max(map(len, encoding.tokens[:n])) * 9.5))
    row = ROW if len(names) <= 13 else 24
    unit = {
        "text": f"1 − cosine in {_unit(top)[1]}.",
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "yshift": -4,
        "showarrow": False,
    }
    hues = [  # the word's hue, between its name and its column
        {
            "type": "rect", "xref": "x", "x0": index - 0.46, "x1": index + 0.46,
            "yref": "paper", "ysizemode": "pixel", "yanchor": 1, "y0": 2, "y1": 7,
            "line": {"width": 0}, "fillcolor": word_colour(word),
        }
        for index, word in enumerate(encoding.word_index[:n])
    ]  # fmt: skip
    step = named_step(n, NAMED_COLUMNS)
    axis = {"showgrid": False, "ticks": "", "tickfont": {"size": SMALL}}
    named = {"tickvals": columns[::step], "ticktext": labels[::step], "ticklabelstandoff": 8}
    layout = plotly_layout(
        height=row * len(names) + margin + 46,
        margin={"l": 112, "r": 10, "t": margin + 12, "b": 32},
        xaxis=axis | {"side": "top", "tickangle": -90} | named,
        yaxis=axis | {"autorange": "reversed", "ticklabelstandoff": 6},
        annotations=[unit] if n <= NUMBERED else [],
        shapes=hues,
    )
    return {"data": [heatmap], "layout": layout}


def _unit(top: float) -> tuple[int, str]:
    """The unit of the numbers in the cells, which have room for two digits."""
    return (1000, "thousandths") if top < 0.1 else (100, "hundredths")


def _numbers(changes: np.ndarray, top: float) -> list[list[str]]:
    """Each change in an ink that is readable on its cell; no text for 0, so that unchanged cells stay empty."""
    per_one, _ = _unit(top)
    return [
        [inked(str(round(float(change) * per_one) or ""), SCALE, float(change) / top) for change in row]
        for row in changes
    ]
