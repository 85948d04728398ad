"""Three masks drawn over one head's weights, and the changes that another last word makes under each."""

import numpy as np
from markupsafe import Markup

from demos.bert.attention.matrix_labels import Labels
from demos.bert.encoder.masks import Change
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.counting import from_zero
from demos.figures.figure.figure import Figure
from demos.figures.matrix import matrix_figure
from demos.figures.numbers import with_prefix
from demos.figures.palette import plotly_layout, word_colour
from demos.figures.program import begin
from demos.templates import plot_text, templates

TEXT = templates(__file__)
SHOWN = 32  # tokens a side: three pictures are beside each other


def mask_figure(
    weights: np.ndarray, allowed: np.ndarray | None, rows: Encoding, columns: Encoding, limit: float
) -> Figure:
    """One head's weights [n, m], coloured from 0 to `limit`, with the cells that the mask forbids left empty."""
    shown = weights[:SHOWN, :SHOWN].astype(np.float64)
    if allowed is not None:
        shown = np.where(allowed[:SHOWN, :SHOWN], shown, np.nan)
    figure = matrix_figure(shown, Labels.of_tokens(rows, SHOWN), Labels.of_tokens(columns, SHOWN), limit=limit)
    (heatmap,), layout = figure["data"], figure["layout"]
    untitled = {axis: layout[axis] | {"title": None} for axis in ("xaxis", "yaxis")}
    margin = layout["margin"] | {"t": layout["margin"]["t"] - 34}  # the titles' room
    heatmap |= {"showscale": False}  # three pictures are beside each other, so the numbers appear on hover
    return {"data": [heatmap], "layout": layout | untitled | {"margin": margin}}


def change_figure(change: Change) -> Figure:
    """Each token before the new word: how far its last state moved, in BERT (bars) and under a causal mask (marks)."""
    encoding, n = change.before, change.tokens
    names = [f"{index} {plot_text(token)}" for index, token in enumerate(encoding.tokens[:n])]
    colours = [word_colour(word) for word in encoding.word_index[:n]]
    bars = {
        "type": "bar",
        "x": names,
        "y": change.both_sides,
        "marker": {"color": colours},
        "name": "BERT: attends to both sides",
        "hovertemplate": "<b>%{x}</b><br>changed by %{y:.4f}<extra>BERT</extra>",
    }
    marks = {
        "type": "scatter",
        "x": names,
        "y": change.left_only,
        "mode": "markers",
        "cliponaxis": False,
        "name": "causal mask: attends only to the left",
        "marker": {"symbol": "line-ew-open", "size": 24, "line": {"width": 5}, "color": "#545d63"},
        "hovertemplate": "<b>%{x}</b><br>changed by %{y:.4f}<extra>causal mask</extra>",
    }
    layout = plotly_layout(
        height=360,
        margin={"l": 70, "r": 10, "t": 40, "b": 20},
        legend={"orientation": "h", "y": 1.16},
        xaxis={"tickvals": names, "ticktext": [name.split(" ", 1)[1] for name in names], "tickangle": -60},
        yaxis={"title": {"text": "1 − cosine"}, "rangemode": "tozero"},
    )
    return {"data": [bars, marks], "layout": layout}


def cost_summary(read: int, new: int, cached: int, recomputed: int) -> Markup:
    """The cost of generating text with each mask."""
    return TEXT.cost(read, new, with_prefix(cached, ""), with_prefix(recomputed, ""), recomputed / cached)


def mask_code(spec: ModelSpec, text: str, layer: int, head: int) -> str:
    """Prints this head's weights under the causal mask, laid over every layer."""
    return f"""{begin(spec, repr(text), attentions=True)}
layer, head = {layer}, {head}  # {from_zero(layer=layer, head=head)}
n = inputs["input_ids"].shape[1]
forbidden = torch.ones(n, n).triu(1).bool()  # what comes after each token
inputs["attention_mask"] = torch.zeros(1, 1, n, n).masked_fill(forbidden, torch.finfo(torch.float32).min)
with torch.inference_mode():
    attentions = model(**inputs, output_attentions=True).attentions
for token, row in zip(tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), attentions[layer][0, head]):
    print(token, [round(weight, 3) for weight in row.tolist()])
"""
