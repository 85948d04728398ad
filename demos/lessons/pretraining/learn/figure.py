"""One step of pre-training in pictures: the gradient's norm by layer, and the distance that each embedding moved."""

from collections.abc import Mapping, Sequence

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.figures.figure.figure import Figure
from demos.figures.palette import CLASSES, plotly_layout
from demos.lessons.pretraining.program_loss import loss_lines
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.learner import CLIP, DECAY, EPSILON
from demos.training.pretraining.rows import Rows

HEIGHT = 330
BINS = 18  # of a logarithmic axis
NOWHERE, THERE = "not in the batch", "in the input, or a correct answer"
COLOURS = {THERE: CLASSES[0], NOWHERE: CLASSES[2]}


def gradient_figure(norms: Mapping[str, float]) -> Figure:
    """The norm of the current gradient, one bar per group of parameters, the embeddings at the bottom."""
    names, values = list(norms), [float(value) for value in norms.values()]
    bars = {
        "type": "bar",
        "x": values,
        "y": names,
        "orientation": "h",
        "marker": {"color": CLASSES[0]},
        "text": [f"{value:.2f}" for value in values],
        "textposition": "outside",
        "textfont": {"size": 16},
        "cliponaxis": False,
        "hovertemplate": "%{y}: <b>%{x:.4f}</b><extra></extra>",
    }
    layout = plotly_layout(
        height=max(HEIGHT, 90 + 24 * len(names)),
        margin={"l": 120, "r": 64, "t": 8, "b": 46},
        bargap=0.25,
        xaxis={"title": {"text": "norm of the gradient"}, "rangemode": "tozero", "zeroline": False},
        yaxis={"tickfont": {"size": 16}, "showgrid": False},
    )
    return {"data": [bars], "layout": layout}


def groups(rows: Rows) -> dict[str, np.ndarray]:
    """The rows <bool>[V] that belong to the batches' words, in the input or as a correct answer."""
    there = (rows.in_input > 0) | (rows.as_answer > 0)
    return {THERE: there, NOWHERE: ~there}


def moved_figure(rows: Rows) -> Figure:
    """The distances that the rows of the word embeddings moved: each group's shares along a logarithmic axis.

    Rows that did not move at all have no place on such an axis; the words beside the picture count them.
    """
    moved = rows.moved
    some = moved[moved > 0]
    low, high = (np.floor(np.log10(some.min())), np.log10(some.max()) + 0.05) if some.size else (-7.0, 0.0)
    edges = np.linspace(low, high, BINS + 1)
    middles = 10 ** ((edges[1:] + edges[:-1]) / 2)
    traces = []
    for name, members in reversed(groups(rows).items()):
        of = moved[members & (moved > 0)]
        if not of.size:
            continue
        counts, _ = np.histogram(np.log10(of), edges)
        bars = {
            "type": "bar",
            "x": middles,
            "y": counts / members.sum(),
            "width": np.diff(10**edges),
            "name": f"{name}: {members.sum():,}",
            "marker": {"color": COLOURS[name], "line": {"width": 0}},
            "opacity": 0.85,
            "customdata": counts,
            "hovertemplate": f"{name}: <b>%{{customdata:,}}</b> words, moved by about %{{x:.1e}}<extra></extra>",
        }
        traces.append(bars)
    exponents = {"type": "log", "dtick": 1, "exponentformat": "power", "range": [low, high]}
    layout = plotly_layout(
        height=HEIGHT,
        barmode="overlay",
        margin={"l": 62, "r": 16, "t": 8, "b": 84},
        legend={"orientation": "h", "y": -0.3, "traceorder": "reversed", "font": {"size": 16}},
        xaxis=exponents | {"title": {"text": "distance moved"}},
        yaxis={"tickformat": ".0%", "title": {"text": "share of its group"}, "rangemode": "tozero"},
    )
    return {"data": traces, "layout": layout}


def learn_code(spec: ModelSpec, instances: Sequence[Instance], rate: float) -> str:
    """Prints the loss, the gradient's norms, and the five words that moved farthest in one AdamW step.

    `spec` is the encoder's own, as in `Pretrained`; `instances` are the step's.
    """
    body, layers = ("distilbert", "transformer.layer") if not spec.segments else ("bert", "encoder.layer")
    return f"""{loss_lines(spec, instances)}output.loss.backward()
print("loss", round(output.loss.item(), 4))
for name, part in [("embeddings", model.{body}.embeddings), *enumerate(model.{body}.{layers})]:
    print(name, round(torch.stack([weight.grad.norm() for weight in part.parameters()]).norm().item(), 4))
print("all", round(torch.nn.utils.clip_grad_norm_(model.parameters(), {CLIP:g}).item(), 4))

matrix = model.get_input_embeddings().weight  # the output layer's too
before = matrix.detach().clone()
spared = ("bias", "LayerNorm.weight", "layer_norm.weight", "embeddings.weight")  # no decay
named = [(name, weight) for name, weight in model.named_parameters() if weight.grad is not None]
torch.optim.AdamW([
    {{"params": [weight for name, weight in named if not name.endswith(spared)], "weight_decay": {DECAY:g}}},
    {{"params": [weight for name, weight in named if name.endswith(spared)], "weight_decay": 0.0}},
], lr={rate:g}, eps={EPSILON:g}).step()
moved = (matrix.detach() - before).norm(dim=1)
print("rows moved", int((moved > 0).sum()))
for index in moved.topk(5).indices.tolist():
    print(tokenizer.convert_ids_to_tokens(index), f"{{moved[index].item():.2e}}")
"""
