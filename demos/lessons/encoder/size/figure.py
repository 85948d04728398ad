"""A model's size drawn: its parameters as a treemap, the same as a table, and the known BERTs beside it."""

from collections.abc import Sequence
from dataclasses import asdict

from markupsafe import Markup

from demos.bert.encoder.size import (
    KNOWN,
    Count,
    Shape,
    count_parameters,
    memory,
    pretraining_heads,
    total_parameters,
    work_per_token,
)
from demos.figures.figure.figure import Figure
from demos.figures.numbers import with_prefix
from demos.figures.palette import CLASSES, plotly_layout
from demos.templates import plot_text, templates

TEXT = templates(__file__)
ROOT = "#545d63"  # behind all groups
GROUPS = {"Embeddings": CLASSES[0], "Attention": CLASSES[1], "Feed-forward": CLASSES[2], "Pooler": CLASSES[3]}
WHITE, BLACK = "#ffffff", "#000000"  # the ink: black on all hues but the first


def treemap(shape: Shape) -> Figure:
    """Each area is a part's share of all parameters; the layers' parts stand for all L of them."""
    counts, total = count_parameters(shape), total_parameters(shape)
    groups = [group for group in GROUPS if any(count.group == group for count in counts)]
    sums = {group: sum(count.total for count in counts if count.group == group) for group in groups}
    root = f"{plot_text(shape.name)}: {total:,}"
    times = [f" in {count.times} layers" if count.times > 1 else "" for count in counts]
    shown = [*groups, *(count.group for count in counts)]  # the group of each area but the root
    areas = {
        "type": "treemap",
        "ids": ["all", *groups, *(f"{count.group} {count.name}" for count in counts)],
        "labels": [root, *groups, *(Markup(count.name).striptags() for count in counts)],  # no small type in a hall
        "parents": ["", *["all"] * len(groups), *(count.group for count in counts)],
        "values": [total, *sums.values(), *(count.total for count in counts)],
        "customdata": ["", *[""] * len(groups), *times],
        "marker": {
            "colors": [ROOT, *(GROUPS[group] for group in shown)],
            "line": {"width": 1, "color": "#fdfcf9"},
            "pad": {"t": 30, "l": 4, "r": 4, "b": 4},
        },
        "branchvalues": "total",
        "sort": False,
        "tiling": {"squarifyratio": 1.4},
        "textinfo": "label+value+percent root",
        "texttemplate": "%{label}<br>%{value:,}<br>%{percentRoot:.1%}",
        "textfont": {"size": 20, "color": [WHITE, *(WHITE if group == "Embeddings" else BLACK for group in shown)]},
        "hovertemplate": "<b>%{label}</b>%{customdata}<br>%{value:,} parameters, %{percentRoot:.2%}<extra></extra>",
        "pathbar": {"visible": False},
    }
    layout = plotly_layout(
        height=470, margin={"l": 0, "r": 0, "t": 0, "b": 0}, uniformtext={"minsize": 16, "mode": "hide"}
    )
    return {"data": [areas], "layout": layout}


def size_summary(shape: Shape, tokens: int) -> Markup:
    """Sentences that explain the size."""
    total, work, takes = total_parameters(shape), work_per_token(shape, tokens), memory(shape, tokens)
    bytes_ = {name: with_prefix(amount, "B") for name, amount in asdict(takes).items()}
    shares = {name: amount / work.total for name, amount in asdict(work).items()}
    whole = total + pretraining_heads(shape)
    return TEXT.summary(shape, total, whole, bytes_, tokens, with_prefix(work.total, ""), shares)


def parts_table(counts: Sequence[Count]) -> Markup:
    """Each part's formula and numbers, and the sum."""
    return TEXT.parts([(count, Markup(count.name)) for count in counts], sum(count.total for count in counts))


def models_table(shapes: Sequence[Shape], tokens: int) -> Markup:
    """Known BERTs and the chosen one, side by side."""
    rows = []
    for shape in shapes:
        takes, work = memory(shape, tokens), work_per_token(shape, tokens).total
        amounts = with_prefix(takes.weights, "B"), with_prefix(work, ""), with_prefix(takes.attention, "B")
        rows.append((shape, total_parameters(shape), *amounts))
    return TEXT.models(rows, tokens)


def beside(shape: Shape) -> list[Shape]:
    """The known BERTs, with `shape` among them by its size where it is none of them."""
    shapes = [*KNOWN] if any(known == shape or known.name == shape.name for known in KNOWN) else [*KNOWN, shape]
    return sorted(shapes, key=total_parameters)


def size_code(shape: Shape) -> str:
    """A program that builds this configuration without memory and counts it."""
    return f"""import torch
from transformers import BertConfig, BertModel

config = BertConfig(
    vocab_size={shape.vocabulary}, max_position_embeddings={shape.positions}, type_vocab_size={shape.segments},
    num_hidden_layers={shape.layers}, hidden_size={shape.width}, num_attention_heads={shape.heads},
    intermediate_size={shape.feed_forward},
)
with torch.device("meta"):  # shapes only: no memory, no time
    model = BertModel(config, add_pooling_layer={shape.pooler})
print(sum(parameter.numel() for parameter in model.parameters()))
"""
