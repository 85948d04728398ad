"""Multiple choice on the Fine-tune page: an item as its sequences, margins, mistakes, the try-it box's answer."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.short_text import short_html
from demos.training.events import ChoiceMistake, ChoiceResult
from demos.training.tasks.multiple_choice.data import LETTERS, ChoiceDataset, ChoiceExample
from demos.training.tasks.multiple_choice.task import example_of, sequences_of
from demos.widgets.tasks.figure import Looks, TaskView
from demos.widgets.tasks.figure_example_tokens import calibration_table, encoded, looks_table, segment_chips, sizes_told

SHOWN_MISTAKES = 40
BINS = 20  # of margins from -1 to 1
FEW = 1_000  # training items
SHORT = 60  # characters: an item is shown whose texts are about so long


def told(dataset: ChoiceDataset, tokenizer: Any) -> str:
    """One training item as BERT reads it: a sequence an ending, of which only segment 1 differs."""
    item = min(dataset.train, key=lambda one: abs(len(one.context) + len(one.start) - SHORT))
    notes = "".join(f'<p class="aside">{html.escape(note)}</p>' for note in dataset.notes)
    sizes = sizes_told(dataset.name, "items", (dataset.train, dataset.validation, dataset.test))
    return (
        f'<div class="choice-item"><p>{sizes}'
        f" Each item becomes {dataset.choices} sequences; V · C gives each a score, and softmax makes probabilities of "
        f"the {dataset.choices} scores.</p>{_sequences(item, tokenizer)}{_warning(dataset)}{notes}</div>"
    )


def _warning(dataset: ChoiceDataset) -> str:
    """What so few items can't do, said beforehand."""
    if len(dataset.train) >= FEW:
        return ""
    return (
        f'<p class="aside">{len(dataset.train):,} items lift a small model hardly above guessing, 1 in '
        f"{dataset.choices}: what usually happens next must be known before. BERT’s paper trains on the 73,546 "
        "training items of SWAG (Zellers et al. 2018).</p>"
    )


def _sequences(item: ChoiceExample, tokenizer: Any) -> str:
    """A row a sequence: the first whole, then what is the same as a count; the right ending is marked."""
    rows = []
    for place, (text, ending) in enumerate(sequences_of(item)):
        encoding = encoded(text, ending, tokenizer)
        letter = LETTERS[place]
        if place:
            count = sum(segment == 0 for segment in encoding.token_type_ids)
            begun = f'<p class="same">the same {count} tokens</p>'
        else:
            begun = segment_chips(encoding, 0, f"Segment 0 of sequence {letter}")
        right = ' <span class="right">right</span>' if place == item.label else ""
        rows.append(
            f'<li class="{"is-right" if right else ""}"><b class="letter">{letter}</b><div class="small">'
            f'<div><span class="segment">segment 0</span>{begun}</div>'
            f'<div><span class="segment">segment 1{right}</span>'
            f"{segment_chips(encoding, 1, f'Segment 1 of sequence {letter}')}</div></div></li>"
        )
    return f'<ul class="sequences">{"".join(rows)}</ul>'


def scores(result: ChoiceResult, stopped: bool) -> str:
    """Accuracy beside guessing and the most frequent place, on the test items."""
    early = " It was stopped early, and is tested as it stood." if stopped else ""
    return (
        f'<ul class="scores"><li><b>{result.accuracy:.1%}</b>accuracy</li>'
        f'<li class="baseline"><b>{1 / len(result.labels):.1%}</b>accuracy of guessing</li>'
        f'<li class="baseline"><b>{result.majority_accuracy:.1%}</b>accuracy of always taking ending '
        f"{html.escape(result.majority_label)}</li></ul>"
        f"<p>On {len(result.margins):,} test items that it never saw.{early}</p>"
    )


def figure(result: ChoiceResult) -> go.Figure:
    """Test items by margin, the right ending's probability less the best wrong one's: left of 0 it is wrong."""
    edges = np.linspace(-1, 1, BINS + 1)
    margins = np.asarray(result.margins)
    drawn = go.Figure()
    for name, chosen, colour in (
        ("wrong", margins <= 0, CLASSES[5]),
        ("right", margins > 0, CLASSES[0]),
    ):
        counts, _ = np.histogram(margins[chosen], edges)
        drawn.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=2 / BINS * 0.92,
            name=f"{name}: {int(chosen.sum()):,}",
            marker={"color": colour},
            customdata=[[f"{low:+.1f} to {high:+.1f}"] for low, high in pairwise(edges)],
            hovertemplate="%{y} items " + name + "<br>margin %{customdata[0]}<extra></extra>",
        )
    drawn.update_layout(
        **plotly_layout(
            height=340,
            barmode="stack",
            font={**plotly_layout()["font"], "size": 16},
            legend={"orientation": "h", "y": 1.12, "x": 0, "font": {"size": 18}},
            margin={"l": 60, "r": 20, "t": 40, "b": 60},
        )
    )
    drawn.update_xaxes(title="margin: P(right) − P(best other)", range=[-1.02, 1.02], zeroline=True)
    most = max((int(max(bars.y)) for bars in drawn.data), default=0)
    drawn.update_yaxes(title="test items", rangemode="tozero", tickformat="d", dtick=1 if most < 6 else None)
    return drawn


def mistakes(result: ChoiceResult) -> str:
    """The test items whose right ending it does not take, the surest first, each ending with its probability."""
    if not result.mistakes:
        return "<p>It took the right ending of every test item.</p>"
    rows = "".join(
        f'<tr><td class="sentence">{_begun(one)}</td>'
        f"<td>{endings_html(one.endings, one.probabilities, one.label)}</td></tr>"
        for one in result.mistakes[:SHOWN_MISTAKES]
    )
    more = len(result.mistakes) > SHOWN_MISTAKES
    shown = f"the surest {SHOWN_MISTAKES} of {len(result.mistakes)}" if more else f"{len(result.mistakes)} in all"
    return (
        '<div class="mistakes" tabindex="0" role="region" aria-label="Mistakes"><table class="plain"><caption>'
        f"Test items it gets wrong ({shown}), the surest first</caption><thead><tr>"
        '<th scope="col">what happens</th><th scope="col">its probabilities of the endings</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _begun(one: ChoiceMistake | ChoiceExample) -> str:
    started = f' <span class="second">{short_html(one.start, 120)} …</span>' if one.start else ""
    return f"{short_html(one.context, 300)}{started}"


def endings_html(endings: Sequence[str], chances: Sequence[float], right: int | None = None) -> str:
    """Endings with a bar and a probability each, in their own order; the likeliest is bold, the right one is told."""
    best = max(range(len(chances)), key=chances.__getitem__)
    rows = "".join(
        f'<tr{" class=first" if place == best else ""}><th scope="row">{LETTERS[place]}</th>'
        f'<td class="sentence">{short_html(ending, 160)}'
        f"{' <span class=right>right</span>' if place == right else ''}</td>"
        f'<td class="bar"><span class="amount" style="--hue:{CLASSES[place % len(CLASSES)]};width:{chance:.1%}"></span>'
        f"</td><td>{chance:.1%}</td></tr>"
        for place, (ending, chance) in enumerate(zip(endings, chances, strict=True))
    )
    return f'<table class="chances endings"><tbody>{rows}</tbody></table>'


def numbers(result: ChoiceResult, looks: Looks, per_epoch: int) -> str:
    """Every look, and the calibration."""
    return looks_table(looks, per_epoch, "accuracy") + calibration_table(result.calibration)


def answer(task: Any, chances: Sequence[float], boxes: Sequence[str]) -> str:
    """The trained model's probabilities for a person's own endings. Raises UserError where a box lacks them."""
    item = example_of(boxes)
    best = max(range(len(chances)), key=chances.__getitem__)
    return (
        f'<p>“{_begun(item)}” goes on with <b>{LETTERS[best]}</b>, says the trained model.</p>'
        f"{endings_html(item.endings, chances)}"
    )  # fmt: skip


VIEW = TaskView(
    told=told,
    scores=scores,
    figure=figure,
    mistakes=mistakes,
    numbers=numbers,
    answer=answer,
    boxes=(
        ("What happens", "It has rained all night, and the river is over the road."),
        ("How the next sentence starts", "The school bus"),
        (
            "Endings, one a line",
            "turns round and takes the long way.\nflies over the water.\nhas been painted blue.\nis full of dry sand.",
        ),
    ),
)
