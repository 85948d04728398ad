"""Named entities on the Fine-tune page: the lecture's table of pieces and labels, scores, what became of each name."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from demos.figures.palette import PALETTE, plotly_layout
from demos.training.tasks.entities.data import EntityDataset
from demos.training.tasks.entities.events import Found, TagResult
from demos.training.tasks.entities.scores import EntityScore, spans_of
from demos.training.tasks.entities.task import example_of, telling_sentences
from demos.widgets.tasks.figure import Looks, TaskView
from demos.widgets.tasks.figure_entity_marks import cut_text, kind_colour, marked_html, mistake_html, pieces_html
from demos.widgets.tasks.figure_example_tokens import looks_table, sizes_told

SHOWN_MISTAKES = 40
SHOWN_NAMES = 5  # of a type
NAME_LENGTH = 18
RULE = "An I- that goes on with nothing begins an entity: seqeval's default, and CoNLL-2003's own script."
WAYS = (  # (what became of them, field, the shade of right to wrong, its numbers' ink)
    ("found", "right", PALETTE["signed"][6], "#ffffff"),
    ("wrong border", "wrong_border", PALETTE["signed"][4], "#000000"),
    ("wrong type", "wrong_type", PALETTE["signed"][2], "#000000"),
    ("missed", "missed", PALETTE["signed"][1], "#000000"),
    ("invented", "invented", PALETTE["signed"][0], "#ffffff"),
)


def told(dataset: EntityDataset, tokenizer: Any) -> str:
    """The lecture's table of a few training sentences, and the entities by type."""
    cut = telling_sentences(tokenizer, dataset)
    tables = "".join(pieces_html(one, dataset.types) for one in cut)
    notes = "".join(f'<p class="aside">{html.escape(note)}</p>' for note in dataset.notes)
    sizes = sizes_told(dataset.name, "sentences", (dataset.train, dataset.validation, dataset.test))
    return (
        f'<div class="entities"><p>{sizes} A word’s <b>first piece</b> carries its label; at <b>X</b> and <b>-100</b> '
        f"no loss is taken.</p>{tables}{_types_html(dataset)}{notes}</div>"
    )


def _types_html(dataset: EntityDataset) -> str:
    """Entities of each type to train on as bars, with some of them."""
    counts = dataset.counts("train")
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for example in dataset.train:
        for start, end, kind in spans_of([dataset.labels[label] for label in example.labels]):
            if len(names[kind]) < SHOWN_NAMES:
                names[kind][" ".join(example.words[start:end])] = None
    rows = "".join(
        f'<tr style="--hue:{kind_colour(dataset.types, kind)}"><th scope="row" class="label">'
        f'<span class="swatch"></span>{cut_text(kind, 24)}</th><td class="count"><span class="amount" '
        f'style="width:{round(70 * count / max(1, *counts))}px"></span>{count:,}</td>'
        f'<td class="sentence">{cut_text(", ".join(names[kind]), 110)}</td></tr>'
        for kind, count in zip(dataset.types, counts, strict=True)
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("type", "to train on", "some of them"))
    return (
        f'<div class="classes-scroll"><table class="classes"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def scores(result: TagResult, stopped: bool) -> str:
    """Entity F1, precision and recall beside the baseline, F1 by type, and why words are not counted."""
    total, base = result.scores.total, result.baseline_scores.total
    early = " It was stopped early, and is tested as it stood." if stopped else ""
    strict = (
        f" Where only B- begins an entity (strict IOB2): F1 {result.strict.f1:.3f}."
        if result.strict.f1 != total.f1
        else ""
    )
    types = [one.name for one in result.scores.types]
    by_type = "".join(
        f'<li style="--hue:{kind_colour(types, one.name)}"><span class="swatch"></span>{cut_text(one.name, 24)} '
        f"<b>{one.f1:.3f}</b></li>"
        for one in result.scores.types
    )
    return (
        f'<div class="entities"><ul class="scores"><li><b>{total.f1:.3f}</b>entity F1</li>'
        f"<li><b>{total.precision:.3f}</b>precision</li><li><b>{total.recall:.3f}</b>recall</li>"
        f'<li class="baseline"><b>{base.f1:.3f}</b>F1 of {html.escape(result.baseline)}</li></ul>'
        f'<ul class="kinds" aria-label="F1 by type">{by_type}</ul>'
        f"<p>On {result.sentences:,} test sentences that it never saw, whole names with the right type. Of the words "
        f"{result.word_accuracy:.1%} are right, but {result.outside:.1%} are O.{strict}{early}</p></div>"
    )


def figure(result: TagResult) -> go.Figure:
    """What became of each type's test entities: a bar a type, as long as it has entities; to the left the invented.

    Not a confusion matrix of words: there O fills the picture, and a wrong border can't be seen. Here what is counted
    is what entity F1 counts.
    """
    drawn = go.Figure()
    names = [_axis_name(one.name) for one in result.ways]
    for title, field, colour, ink in WAYS:
        counts = [getattr(one, field) for one in result.ways]
        drawn.add_bar(
            y=list(range(len(names))),
            x=[-count if field == "invented" else count for count in counts],
            orientation="h",
            name=f"{title} {sum(counts):,}",
            marker={"color": colour},
            text=[f"{count:,}" if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"size": 18, "color": ink},
            customdata=[[html.escape(one.name), count] for one, count in zip(result.ways, counts, strict=True)],
            hovertemplate="%{customdata[0]}: %{customdata[1]} " + title + "<extra></extra>",
        )
    drawn.update_layout(
        **plotly_layout(
            height=max(260, 56 * len(names) + 150),
            barmode="relative",
            bargap=0.25,
            font={**plotly_layout()["font"], "size": 16},
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal",
                    "font": {"size": 17}},
            margin={"l": 60, "r": 10, "t": 60, "b": 50},
        )
    )  # fmt: skip
    low = max((one.invented for one in result.ways), default=0)
    high = max((one.true for one in result.scores.types), default=0)
    step = _step(low + high)
    ticks = range(-(low // step) * step, high + step, step)
    drawn.update_xaxes(
        title="← invented   |   test entities",
        zeroline=True,
        tickvals=list(ticks),
        ticktext=[f"{abs(t)}" for t in ticks],
    )
    drawn.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, autorange="reversed", automargin=True, showgrid=False,
        tickfont={"size": 18},
    )  # fmt: skip
    return drawn


def _step(width: int) -> int:
    """A round distance between about six ticks."""
    return next((step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000) if width <= 7 * step), 5_000)


def _axis_name(kind: str) -> str:
    return html.escape(kind if len(kind) <= NAME_LENGTH else kind[: NAME_LENGTH - 1] + "…")


def mistakes(result: TagResult) -> str:
    """The test sentences with a wrong entity, the surest first: what is there, and below it what was found."""
    if not result.mistakes:
        return "<p>It found every name of the test sentences, and no other.</p>"
    types = [one.name for one in result.scores.types]
    rows = "".join(mistake_html(one, types) for one in result.mistakes[:SHOWN_MISTAKES])
    more = result.wrong > SHOWN_MISTAKES
    shown = f"the surest {SHOWN_MISTAKES} of {result.wrong:,}" if more else f"{result.wrong:,} in all"
    return (
        '<div class="entities"><p class="aside">Test sentences with a mistake '
        f'({shown}), the surest first</p><div class="mistakes" tabindex="0" role="region" aria-label="Mistakes">'
        f"<ul>{rows}</ul></div></div>"
    )


def numbers(result: TagResult, looks: Looks, per_epoch: int) -> str:
    """Every look; each type's scores; what became of each type's entities."""

    def row(name: str, one: EntityScore) -> str:
        values = "".join(f"<td>{value:.3f}</td>" for value in (one.precision, one.recall, one.f1))
        return f'<tr><th scope="row">{name}</th>{values}<td>{one.true:,}</td><td>{one.found:,}</td></tr>'

    by_type = "".join(row(cut_text(one.name, 60), one) for one in result.scores.types)
    rows = (
        by_type
        + row("all, micro average", result.scores.total)
        + row("all, strict IOB2: only B- begins one", result.strict)
        + row(html.escape(result.baseline), result.baseline_scores.total)
    )
    ways = "".join(
        f'<tr><th scope="row">{cut_text(one.name, 60)}</th>'
        + "".join(f"<td>{getattr(one, field):,}</td>" for _, field, *_ in WAYS)
        + "</tr>"
        for one in result.ways
    )
    lost = f" {result.cut:,} sentences lost words at their end; those count as O." if result.cut else ""
    return (
        looks_table(looks, per_epoch, "entity F1")
        + _table("Test entities, by type", ("type", "precision", "recall", "F1", "there", "found"), rows)
        + _table("What became of them", ("type", *(title for title, *_ in WAYS)), ways)
        + f'<p class="aside">{RULE} A name counts where all its words and its type are right.{lost}</p>'
    )


def _table(caption: str, names: Sequence[str], rows: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table class="plain">'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def answer(task: Any, answered: Sequence[tuple[int, float]], boxes: Sequence[str]) -> str:
    """A person's own sentence with the entities that the trained model finds, and each word's label."""
    words = example_of(boxes).words
    found: Sequence[Found] = task.found(answered)
    marks = [(one.start, one.end, one.kind, f"{one.probability:.0%}") for one in found]
    said = "" if found else '<p class="aside">It finds no name here: every word is O.</p>'
    text = marked_html(words, marks, task.types)
    labels = [task.labels[label] for label, _ in answered]
    rows = "".join(
        f'<tr><th scope="row">{cut_text(word, 60)}</th>{_label_cell(label, task.types)}<td>{chance}</td></tr>'
        for word, label, chance in _words_told(words, labels, [chance for _, chance in answered])
    )
    rule = f'<p class="aside">{RULE}</p>' if spans_of(labels) != spans_of(labels, strict=True) else ""
    table = _table("Words, cut as CoNLL cuts them", ("word", "label", "probability"), rows)
    return f'<div class="entities"><p class="marked">{text}</p>{said}{rule}<div class="words">{table}</div></div>'


def _words_told(words: Sequence[str], labels: Sequence[str], chances: Sequence[float]) -> list[tuple[str, str, str]]:
    """(word, label, probability) a row; the words that the model did not read come last, in one row."""
    rows = [(word, label, f"{chance:.1%}") for word, label, chance in zip(words, labels, chances, strict=False)]
    left = len(words) - len(labels)
    return rows + ([(f"{left:,} more", "not read", "–")] if left > 0 else [])


def _label_cell(label: str, types: Sequence[str]) -> str:
    if label[1:2] != "-":
        return f"<td>{html.escape(label)}</td>"
    return f'<td><span class="kind" style="--kind:{kind_colour(types, label[2:])}">{cut_text(label, 24)}</span></td>'


VIEW = TaskView(
    told=told,
    scores=scores,
    figure=figure,
    mistakes=mistakes,
    numbers=numbers,
    answer=answer,
    boxes=(("A sentence of your own", "Jim Henson cut his first frog out of a coat in Leland, Mississippi."),),
)
