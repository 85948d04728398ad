"""A model's size drawn: its parameters as a treemap, the same as a table, and the known BERTs beside it."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go

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
from demos.figures.numbers import with_prefix
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.tables import column_heads, scrolling_table

ROOT = "#545d63"  # behind all groups
GROUPS = {"Embeddings": CLASSES[0], "Attention": CLASSES[1], "Feed-forward": CLASSES[2], "Pooler": CLASSES[3]}
INKS = {
    "Embeddings": "#ffffff",
    "Attention": "#000000",
    "Feed-forward": "#000000",
    "Pooler": "#000000",
}  # on these hues
SAID = {  # what lectures and the paper say of the two (Devlin et al. 2019, section 3)
    "BERT base": "Lectures say 110 million: this number rounded, or {whole:,} with the two pre-training heads.",
    "BERT large": (
        "The paper and the lectures say 340 million; counted, it is {total:,}, or {whole:,} with the two pre-training "
        "heads, so that figure was rounded up."
    ),
}


def treemap(shape: Shape) -> go.Figure:
    """Each area is a part's share of all parameters; the layers' parts stand for all L of them."""
    counts, total = count_parameters(shape), total_parameters(shape)
    groups = [group for group in GROUPS if any(count.group == group for count in counts)]
    sums = {group: sum(count.total for count in counts if count.group == group) for group in groups}
    root = f"{html.escape(shape.name)}: {total:,}"
    times = [f" in {count.times} layers" if count.times > 1 else "" for count in counts]
    figure = go.Figure(
        go.Treemap(
            ids=["all", *groups, *(f"{count.group} {count.name}" for count in counts)],
            labels=[root, *groups, *(count.name for count in counts)],
            parents=["", *["all"] * len(groups), *(count.group for count in counts)],
            values=[total, *sums.values(), *(count.total for count in counts)],
            customdata=["", *[""] * len(groups), *times],
            marker={
                "colors": [
                    ROOT,
                    *(GROUPS[group] for group in groups),
                    *(GROUPS[c.group] for c in counts),
                ],
                "line": {"width": 1, "color": "#fdfcf9"},
                "pad": {"t": 30, "l": 4, "r": 4, "b": 4},
            },
            branchvalues="total",
            sort=False,
            tiling={"squarifyratio": 1.4},
            textinfo="label+value+percent root",
            texttemplate="%{label}<br>%{value:,}<br>%{percentRoot:.1%}",
            textfont={
                "size": 17,
                "color": ["#ffffff", *(INKS[group] for group in groups), *(INKS[c.group] for c in counts)],
            },
            hovertemplate="<b>%{label}</b>%{customdata}<br>%{value:,} parameters, %{percentRoot:.2%}<extra></extra>",
            pathbar={"visible": False},
        )
    )
    figure.update_layout(**plotly_layout(height=470, margin={"l": 0, "r": 0, "t": 0, "b": 0}))
    return figure


def told(shape: Shape, tokens: int) -> str:
    """What the size means, in sentences (HTML)."""
    total, work, takes = total_parameters(shape), work_per_token(shape, tokens), memory(shape, tokens)
    sentences = [
        f"<b>{html.escape(shape.name)}: {total:,} parameters</b>, {with_prefix(takes.weights, 'B')} in float32 and "
        f"{with_prefix(takes.training, 'B')} while all of it is trained with AdamW, activations not counted.",
        f"In an input of {tokens} tokens each token takes {with_prefix(work.total, '')} multiplications and additions: "
        f"{work.feed_forward / work.total:.0%} in the feed-forward, {work.projections / work.total:.0%} in the "
        f"projections (W<sub>Q</sub>, W<sub>K</sub>, W<sub>V</sub>, W<sup>O</sup>), "
        f"{work.attention / work.total:.0%} in comparing tokens, which alone grows with the length.",
        f"The {shape.layers} × {shape.heads} heads' weights of one such input are {with_prefix(takes.attention, 'B')}. "
        "More heads mean more of these and not one parameter more, since they share the width.",
    ]
    if shape.name in SAID:
        sentences.insert(1, SAID[shape.name].format(total=total, whole=total + pretraining_heads(shape)))
    return "".join(f"<p>{sentence}</p>" for sentence in sentences)


def parts_table(counts: Sequence[Count]) -> str:
    """Each part's formula and numbers, and the sum (HTML)."""
    rows = "".join(
        f'<tr><td>{count.group}</td><th scope="row">{count.name}</th><td>{count.formula}</td>'
        f"<td>{count.each:,}</td><td>{count.times}</td><td>{count.total:,}</td></tr>"
        for count in counts
    )
    total = sum(count.total for count in counts)
    return scrolling_table(
        "V word pieces, P positions, S segments, d the width, f the feed-forward's width.",
        column_heads(("part", "weights", "formula", "each", "times", "together")),
        rows,
        name="Parameters by part",
        foot=f'<tr><th scope="row" colspan="5">all</th><td><b>{total:,}</b></td></tr>',
        kind="lesson-table",
    )


def models_table(shapes: Sequence[Shape], tokens: int) -> str:
    """Known BERTs and the chosen one, side by side (HTML)."""
    names = ("model", "L", "H", "A", "parameters", "float32", "operations a token", f"attention at {tokens}")
    rows = ""
    for shape in shapes:
        takes = memory(shape, tokens)
        cells = (
            str(shape.layers),
            f"{shape.width:,}",
            str(shape.heads),
            f"{total_parameters(shape):,}",
            with_prefix(takes.weights, "B"),
            with_prefix(work_per_token(shape, tokens).total, ""),
            with_prefix(takes.attention, "B"),
        )
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        rows += f'<tr><th scope="row">{html.escape(shape.name)}</th>{row}</tr>'
    return scrolling_table("", column_heads(names), rows, name="BERTs by size", kind="lesson-table")


def beside(shape: Shape) -> list[Shape]:
    """The known BERTs, with `shape` among them by its size where it is none of them."""
    shapes = [*KNOWN] if any(known == shape or known.name == shape.name for known in KNOWN) else [*KNOWN, shape]
    return sorted(shapes, key=total_parameters)


def size_code(shape: Shape) -> str:
    """A program that builds this configuration without memory and counts it."""
    return (
        "import torch\nfrom transformers import BertConfig, BertModel\n\n"
        "config = BertConfig(\n"
        f"    vocab_size={shape.vocabulary}, max_position_embeddings={shape.positions}, "
        f"type_vocab_size={shape.segments},\n"
        f"    num_hidden_layers={shape.layers}, hidden_size={shape.width}, num_attention_heads={shape.heads},\n"
        f"    intermediate_size={shape.feed_forward},\n)\n"
        'with torch.device("meta"):  # shapes only: no memory, no time\n'
        f"    model = BertModel(config, add_pooling_layer={shape.pooler})\n"
        "print(sum(parameter.numel() for parameter in model.parameters()))\n"
    )
