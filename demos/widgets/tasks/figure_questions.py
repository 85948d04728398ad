"""Questions on the Fine-tune page: a paragraph with its answer, scores, mistakes, the spans that can't be one."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from demos.figures.palette import CLASSES
from demos.figures.short_text import short_html
from demos.figures.tables import column_heads
from demos.training.tasks.questions.data import QuestionDataset, QuestionExample
from demos.training.tasks.questions.events import Impossible, Span, SpanAnswer, SpanMistake, SpanResult
from demos.training.tasks.questions.task import example_of
from demos.widgets.tasks.figure import Looks, TaskView
from demos.widgets.tasks.figure_example_tokens import looks_table, sizes_told
from demos.widgets.tasks.figure_question_marks import example_chips, marked_html
from demos.widgets.tasks.figure_spans import spans_figure

SHOWN_MISTAKES = 40
SHORT = 420  # characters: an example is shown whose paragraph is about so long


def told(dataset: QuestionDataset, tokenizer: Any) -> str:
    """One training question as BERT reads it: two segments, a start and an end in the second."""
    one = min(dataset.train, key=lambda example: (abs(len(example.context) - SHORT), len(example.question)))
    notes = "".join(f'<p class="aside">{html.escape(note)}</p>' for note in dataset.notes)
    sizes = sizes_told(dataset.name, "questions", (dataset.train, dataset.validation, dataset.test))
    paragraphs = [dataset.paragraphs(split) for split in ("train", "validation", "test")]
    return (
        f'<div class="questions"><p>{sizes} They are asked of {paragraphs[0]:,}, {paragraphs[1]:,} and '
        f"{paragraphs[2]:,} paragraphs, none in two splits. Each token gets a number as the <b>start</b> and one as "
        f"the <b>end</b>; the answer is what lies between.</p>"
        f"{example_chips(one, tokenizer)}{notes}</div>"
    )


def scores(result: SpanResult, stopped: bool) -> str:
    """Exact match and token F1 beside the baseline's."""
    early = " It was stopped early, and is tested as it stood." if stopped else ""
    found, base = result.scores, result.baseline_scores
    return (
        f'<div class="questions"><ul class="scores"><li><b>{found.exact:.1%}</b>exact match</li>'
        f"<li><b>{found.f1:.3f}</b>token F1</li>"
        f'<li class="baseline"><b>{base.exact:.1%}</b>exact match of the baseline</li>'
        f'<li class="baseline"><b>{base.f1:.3f}</b>its token F1</li></ul>'
        f"<p>On {found.count:,} test questions, on paragraphs that it never saw. The baseline takes "
        f"{html.escape(result.baseline)}.{early}</p></div>"
    )


def figure(result: SpanResult) -> go.Figure:
    """One test question's spans as a table; see `spans_figure`."""
    return spans_figure(result.picture)


def mistakes(result: SpanResult) -> str:
    """The test questions not answered exactly, the surest first: the right answer underlined, the found one marked."""
    if not result.mistakes:
        return "<p>It found the exact answer to every test question.</p>"
    items = "".join(_mistake(one) for one in result.mistakes[:SHOWN_MISTAKES])
    more = result.wrong > SHOWN_MISTAKES
    shown = f"The surest {SHOWN_MISTAKES} of {result.wrong:,}" if more else f"{result.wrong:,} in all, the surest first"
    return (
        f'<div class="questions"><p>{shown}: <mark class="found">found</mark>, <u class="true">right</u>.</p>'
        f'<div class="mistakes" tabindex="0" role="region" aria-label="Mistakes"><ul>{items}</ul></div></div>'
    )


def _mistake(one: SpanMistake) -> str:
    marks = {"true": (one.start, one.start + len(one.answers[0]))}
    told = "nothing found"
    if one.found:
        marks["found"] = (one.found.start, one.found.end)
        told = f"probability {one.found.probability:.2f}, F1 {one.f1:.2f}"
    others = ", ".join(f"“{short_html(text, 60)}”" for text in one.answers[1:4])
    also = f" Also right: {others}." if others else ""
    return (
        f'<li><b>{short_html(one.question, 200)}</b> <span class="aside">{told}.{also}</span>'
        f'<p class="read">{marked_html(one.context, marks, part=True)}</p></li>'
    )


def numbers(result: SpanResult, looks: Looks, per_epoch: int) -> str:
    """Every look, the scores by question word, and the drawn question's best spans."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(one.word)}</th><td>{one.scores.count:,}</td>'
        f"<td>{one.scores.exact:.1%}</td><td>{one.scores.f1:.3f}</td></tr>"
        for one in result.by_word
    )
    head = column_heads(["question word", "test questions", "exact match", "token F1"])
    by_word = (
        f'<table class="plain"><caption>Scores by question word; in {result.both_ends:.1%} of all, both ends are the '
        f"first answer’s</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
    picture = result.picture
    drawn = ""
    if picture is not None:
        one = QuestionExample(picture.question, picture.context, picture.answers, picture.start)
        drawn = f"<p>{html.escape(picture.question)}</p>{_spans_table(one, picture.answer.best)}"
    return f'<div class="questions">{looks_table(looks, per_epoch, "exact match")}{by_word}{drawn}</div>'


def answer(task: Any, found: SpanAnswer, boxes: Sequence[str]) -> str:
    """A person's own paragraph with the answer marked, the next best spans, and the best that can be none.

    Raises UserError where a box is empty.
    """
    one = example_of(boxes)
    if not found.best:
        return '<div class="questions"><p>The paragraph has no token to answer with.</p></div>'
    best = found.best[0]
    windows = f" It was read in {found.windows} windows." if found.windows > 1 else ""
    if found.unread:
        windows += f" Its last {found.unread:,} tokens were too many and were not read."
    away = found.cutout.nowhere[0] * found.cutout.nowhere[1] if found.cutout else 0.0
    nowhere = (
        f" “Not in this paragraph” ([CLS] as start and end) has the probability {away:.2f}, more than any span."
        if away > best.probability
        else ""
    )
    marked = marked_html(one.context, {"found": (best.start, best.end)})
    return (
        f'<div class="questions"><p><b>{html.escape(one.question)}</b>{windows}{nowhere}</p>'
        f'<p class="read large">{marked}</p>{_spans_table(one, found.best)}'
        f"{_impossible_table(found.impossible, best.score)}</div>"
    )


def _spans_table(one: QuestionExample, spans: Sequence[Span]) -> str:
    rows = "".join(
        f'<tr{"" if at else " class=first"}><th scope="row" class="sentence">'
        f"{short_html(one.context[span.start : span.end], 120)}</th>"
        f'<td class="bar"><span class="amount" style="--hue:{CLASSES[0]};width:{span.probability:.1%}"></span></td>'
        f"<td>{span.probability:.3f}</td><td>{span.score:+.2f}</td></tr>"
        for at, span in enumerate(spans)
    )
    head = column_heads(["best spans", "", "probability", "score"])
    return (
        f'<table class="chances spans"><caption>Score: start logit + end logit. Probability: the start’s times the '
        f"end’s.</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _impossible_table(spans: Sequence[Impossible], best: float) -> str:
    """What is ruled out; `best` is the score of the best that is not."""
    if not spans:
        return ""
    rows = "".join(
        f'<tr><th scope="row" class="sentence"><s>{short_html(one.first, 30)} … {short_html(one.last, 30)}</s></th>'
        f"<td>{html.escape(one.reason)}{'; it would win' if one.score > best else ''}</td>"
        f"<td>{one.score:+.2f}</td></tr>"
        for one in spans
    )
    head = column_heads(["start … end that can be no answer", "why not", "score"])
    return f'<table class="chances spans impossible"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


VIEW = TaskView(
    told=told,
    scores=scores,
    figure=figure,
    mistakes=mistakes,
    numbers=numbers,
    answer=answer,
    boxes=(
        ("A question", "When did Edith Marlowe open her bakery?"),
        (
            "A paragraph that answers it",
            "For eighty years the village of Hollin had no baker of its own, and carts brought the bread from Ashby. "
            "In 1931 Edith Marlowe, a miller's daughter, opened a bakery in the old post office. It sold brown bread "
            "on weekdays and buns on Saturdays, until her nephew Tom moved the ovens to the station in 1958.",
        ),
    ),
)
