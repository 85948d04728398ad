"""The values that each mean is taken over, drawn in a batch, and the effect of another sentence."""

from collections.abc import Sequence

import numpy as np

from demos.bert.encoder.batch_norm import Changes, States
from demos.bert.model.catalogue import ModelSpec
from demos.figures.figure.figure import Figure, Mark
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.program import begin
from demos.figures.strips import signed_colours, strips_limit
from demos.templates import plot_text

FEATURES = 16  # that are drawn
ROW = 19  # pixels a token takes
LAYER, BATCH = CLASSES[1], CLASSES[2]


def batch_figure(states: States, row: int, feature: int, padding_counts: bool) -> Figure:
    """All tokens of the batch down, the first FEATURES numbers across.

    The frame across is what layer norm's mean is over for token `row`, the frame down what batch norm's is over for
    `feature`; padding that does not count is left out of it.
    """
    tokens = [token for of_input in states.tokens for token in of_input]
    n = len(states.tokens[0])
    values = states.values.reshape(len(tokens), -1)[:, :FEATURES]
    places = list(range(len(tokens)))
    heatmap = signed_colours(strips_limit(list(values)), ".2g", x=1.01) | {
        "type": "heatmap",
        "z": np.round(values, 5),
        "x": list(range(1, FEATURES + 1)),
        "y": places,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "feature %{x} of “%{y}”<br><b>%{z:+.4f}</b><extra></extra>",
    }
    across = {"x0": 0.5, "x1": FEATURES + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    shapes: list[Mark] = [{"type": "rect", "line": {"color": LAYER, "width": 4}} | across]
    for start in range(0, len(tokens), n):
        length = n if padding_counts else int(states.real[start // n].sum())
        down = {"x0": feature + 0.5, "x1": feature + 1.5, "y0": start - 0.5, "y1": start + length - 0.5}
        shapes.append({"type": "rect", "line": {"color": BATCH, "width": 4}} | down)
        if start:
            between = {"xref": "x domain", "x0": 0, "x1": 1, "y0": start - 0.5, "y1": start - 0.5}
            shapes.append({"type": "line", "line": {"width": 2, "color": "#8a9096", "dash": "dot"}} | between)
    shown = [
        plot_text(token) if states.real.ravel()[place] else f"<i>{plot_text(token)}</i>"
        for place, token in enumerate(tokens)
    ]
    title = {"text": f"features 1 to {FEATURES}", "standoff": 4}
    layout = plotly_layout(
        height=ROW * len(tokens) + 70,
        margin={"l": 120, "r": 70, "t": 46, "b": 10},
        showlegend=False,
        xaxis=BARE | {"side": "top", "dtick": 1, "title": title},
        yaxis=BARE | {"tickvals": places, "ticktext": shown, "autorange": "reversed", "ticklabelstandoff": 4},
        shapes=shapes,
    )
    return {"data": [heatmap], "layout": layout}


def changes_figure(changes: Changes) -> Figure:
    """Three bars for each token of the first sentence: the change of its output."""
    names = [f"{place} {plot_text(token)}" for place, token in enumerate(changes.tokens)]
    bars = [
        {
            "type": "bar",
            "x": names,
            "y": np.round(values, 6),
            "name": name,
            "marker": {"color": colour, "pattern": {"shape": pattern}},
            "hovertemplate": f"<b>%{{x}}</b><br>moved by %{{y:.2%}}<extra>{name}</extra>",
        }
        for name, values, colour, pattern in (
            ("layer norm", changes.layer, LAYER, ""),
            ("batch norm, training", changes.train, BATCH, "/"),
            ("batch norm, test", changes.test, CLASSES[3], "."),
        )
    ]
    layout = plotly_layout(
        height=300,
        margin={"l": 70, "r": 10, "t": 36, "b": 20},
        barmode="group",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"tickvals": names, "ticktext": [plot_text(token) for token in changes.tokens], "tickangle": -45},
        yaxis={"tickformat": ".0%", "rangemode": "tozero", "title": {"text": "change of the output"}},
    )
    return {"data": bars, "layout": layout}


def norms_code(spec: ModelSpec, texts: Sequence[str]) -> str:
    """Prints the first numbers of the first sentence's second token, by both norms."""
    return f"""{begin(spec, repr(texts[0]))}# The batch: all sentences, padded to the longest.
inputs = tokenizer({list(texts)!r}, padding=True, truncation=True, max_length=14, return_tensors="pt")
layer = model.embeddings
x = layer.word_embeddings(inputs["input_ids"]) + layer.position_embeddings.weight[: inputs["input_ids"].shape[1]]
if hasattr(layer, "token_type_embeddings"):
    x = x + layer.token_type_embeddings(inputs["token_type_ids"])
b, n, d = x.shape
layer_norm = torch.nn.LayerNorm(d, elementwise_affine=False)
batch_norm = torch.nn.BatchNorm1d(d, affine=False)  # padding counts here
with torch.inference_mode():
    by_layer, by_batch = layer_norm(x), batch_norm(x.reshape(b * n, d)).reshape(b, n, d)
for name, normed in (("layer norm", by_layer), ("batch norm", by_batch)):
    print(name, *[f"{{number:.4f}}" for number in normed[0, 1, :6].tolist()])
"""
