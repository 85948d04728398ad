"""Part "What it learned": the same sentences and heads before and after, what misled it, and how far to trust it."""

from __future__ import annotations

import html
from collections.abc import Generator, Iterator
from typing import Any

import gradio as gr

from demos.bert.attention.comparison import Which
from demos.bert.model.vectors import Encoded
from demos.errors import UserError
from demos.lessons.finetune.results.data import After, Afterwards, Mapped
from demos.lessons.finetune.results.figure import after_map, reliability_figure
from demos.lessons.finetune.results.layout import ATTENTION, ERROR, MAP, VIEWS, laid_out
from demos.lessons.finetune.results.sample import sample
from demos.lessons.finetune.results.text import (
    attention_told,
    calibration_told,
    error_name,
    evidence_told,
    heads_table,
    map_heading,
    maps_table,
    maps_told,
    tokens_html,
    tokens_table,
    waiting_html,
)
from demos.page.lesson import Page, Part, notice_html
from demos.page.progress import relayed
from demos.page.services import Sentence
from demos.training.metrics import calibration
from demos.training.results.evidence import chance_share
from demos.training.tasks.entities.task import Entities
from demos.widgets.comparison.figure import heads_figure, most_different, pictures
from demos.widgets.tasks.examples import calibration_table

FILLED = (
    "status", "map", "before_told", "before_map", "after_told", "after_map", "map_told", "attention", "attention_told",
    "heads", "left", "right", "left_name", "right_name", "left_side", "right_side", "errors",
    "error", "tokens", "trust", "reliability", "trust_told", "numbers", "seen",
)  # fmt: skip
SAMPLE_MAP = "A sample before your own training: {title} reads our {count} test sentences of six emotions."
SAMPLE = (
    "A sample before your own training: {told}. Train a model in the part “Train” and come back: this will be yours."
)
NOT_CLASSES = (
    "This view is for a class of one sentence, or of two; your last model learned another task. “Which heads changed?” "
    "is for every task."
)
NO_CHANCES = (
    "Your last model finds spans: it gives no one probability that could be held against how often it is right."
)
NO_ERROR = "It got every test example right, so there is nothing to explain."


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts = laid_out(page)
    afterwards = Afterwards(page.services)

    def show(
        text: str, pair: str, model: str, view: str, error: str, run: str, seen: str
    ) -> Iterator[list[Any]]:  # a generator: page.on streams what it yields
        yield from drawn(afterwards, Sentence(text or "", pair or "", model), view, error, run, seen)

    page.on(
        [page.settled.change, parts["view"].input, parts["error"].input],
        show,
        [*page.sentence, parts["view"], parts["error"], page.trained, parts["seen"]],
        [parts[name] for name in FILLED],
        trigger_mode="always_last",
        show_progress="hidden",
    )
    page.keep(after=parts["view"], after_error=parts["error"])


def drawn(
    afterwards: Afterwards, sentence: Sentence, view: str, error: str, run: str, seen: str
) -> Iterator[list[Any]]:
    """The part's outputs (FILLED), of the view that is asked for alone; nothing new where it is shown already."""
    after: After | None = None
    gone = ""
    if run:
        try:
            after = afterwards.of(run)
        except (UserError, OSError) as one:
            gone = str(one) if isinstance(one, UserError) else "That trained model is no longer kept here; train again."
    asked = {
        MAP: "" if after else sentence.model,
        ATTENTION: f"{sentence.text}\n{sentence.text_pair}",
        ERROR: error,
    }.get(view, "")
    mark = f"{view} {run if after else ''} {asked}"
    if mark == seen and not gone:
        yield [gr.skip()] * len(FILLED)
        return
    shown: dict[str, Any] = {"status": "", "numbers": "", "map_told": "", "seen": mark}
    shown |= {name: gr.update(visible=False) for _, name in VIEWS}
    shown |= yield from _view(afterwards, sentence, view, error, after)
    if gone:
        shown["status"] = notice_html(gone)
    yield _filled(shown)


def _view(
    afterwards: Afterwards, sentence: Sentence, view: str, error: str, after: After | None
) -> Generator[list[Any], None, dict[str, Any]]:
    """What the view shows; told instead where there is nothing that it could be of."""
    if after is not None and not after.classes and view in (MAP, ERROR):
        return {"status": _said(NOT_CLASSES)}
    if view == MAP:
        return (yield from _maps(afterwards, sentence, after))
    told = {} if after else {"status": _said(SAMPLE.format(told=html.escape(sample().told)))}
    if view == ATTENTION:
        return told | (_attention(afterwards, sentence, after) if after else _sample_attention())
    if view == ERROR:
        return told | _error(afterwards, after, error)
    return told | _trust(after)


def _maps(
    afterwards: Afterwards, sentence: Sentence, after: After | None
) -> Generator[list[Any], None, dict[str, Any]]:
    services = afterwards.services
    mapped = afterwards.mapped(after) if after else afterwards.sample()
    if not mapped.examples:
        return {"status": _said("No test example was kept, so there is nothing to lay out.")}
    base = services.loaded(after.base if after else sentence.model)
    classes, labels, chance = mapped.classes, mapped.task.labels, chance_share(mapped.classes)
    before = yield from relayed(afterwards.layout(base, mapped), _told_progress(base.spec.title))
    layouts = [before]
    shown: dict[str, Any] = {
        "map": gr.update(visible=True),
        "before_told": map_heading(f"Before: {base.spec.title}", before, classes, chance),
        "before_map": after_map(before, mapped.examples, labels, "before"),
    }
    if after is None:
        count = f"{len(mapped.examples):,}"
        shown |= {
            "status": _said(SAMPLE_MAP.format(title=base.spec.title, count=count)),
            "after_told": waiting_html(mapped.noun),
            "after_map": gr.update(visible=False),
        }
    else:
        tuned = services.tuned(after.run)
        layouts.append((yield from relayed(afterwards.layout(tuned, mapped), _told_progress("Your model"))))
        shown |= {
            "after_told": map_heading("After your training", layouts[1], classes, chance),
            "after_map": gr.update(
                value=after_map(layouts[1], mapped.examples, labels, f"after {after.run}"), visible=True
            ),
            "map_told": maps_told(layouts[0], layouts[1], classes) + _how_read(mapped),
        }
    return shown | {"numbers": maps_table(layouts, classes, labels)}


def _how_read(mapped: Mapped) -> str:
    some = f"The first {len(mapped.examples):,} of {mapped.total:,}" if len(mapped.examples) < mapped.total else "All"
    return (
        f'<p class="aside">{some} test {mapped.noun}, which the training never saw, each as the one vector that the '
        "layers on top read. Each map is PCA of its own vectors, so the two have no axes in common; neighbours are "
        "counted over all dimensions, not on the map.</p>"
    )


def _told_progress(title: str) -> Any:
    def told(step: Encoded) -> list[Any]:
        return _filled({"status": _said(f"{title} reads: {step.done:,} of {step.total:,}")})

    return told


def _attention(afterwards: Afterwards, sentence: Sentence, after: After) -> dict[str, Any]:
    pair, layer, head = afterwards.attention(sentence, after)
    heads = pair.found.heads
    if heads is None:  # one architecture on both sides: nothing of the kind can be, but a picture needs numbers
        return {"status": _said("The two sides have different heads.")}
    left, right, _ = pictures(pair.found)
    text = " / ".join(filter(None, (sentence.text, sentence.text_pair)))
    return {
        "attention": gr.update(visible=True),
        "attention_told": attention_told(heads, layer, head, text, float(left.data[0].zmax)),
        "heads": heads_figure(heads, pair.left.which),
        "left": _bare(left),
        "right": _bare(right),
        "left_name": f"<h3>Layer {layer}, head {head}: before</h3>",
        "right_name": "<h3>The same head: after</h3>",
        "left_side": gr.update(visible=True),
        "right_side": gr.update(visible=True),
        "numbers": heads_table(heads),
    }


def _bare(figure: Any) -> Any:
    """Without its colour bar, whose room the columns' names need; `attention_told` says where the scale ends."""
    figure.update_traces(showscale=False)
    return figure


def _sample_attention() -> dict[str, Any]:
    """Our own run's heads; there is no model whose weights could be shown."""
    heads = sample().heads
    layer, head, _ = most_different(heads, 1)[0]
    return {
        "attention": gr.update(visible=True),
        "attention_told": attention_told(heads, layer, head, sample().text),
        "heads": heads_figure(heads, Which(layer, head)),
        "left_side": gr.update(visible=False),
        "right_side": gr.update(visible=False),
        "numbers": heads_table(heads),
    }


def _error(afterwards: Afterwards, after: After | None, chosen: str) -> dict[str, Any]:
    """One of the surest errors, and all of them to choose from."""
    shown = after or sample()
    errors, labels = shown.errors, shown.labels
    if not errors:
        return {"status": _said(NO_ERROR)}
    at = min(int(chosen) if str(chosen).isdecimal() else 0, len(errors) - 1)
    error = errors[at]
    found = afterwards.evidence(after, error) if after else sample().evidence[at]
    answer, truth = labels[error.predicted], labels[error.example.label]
    choices = [
        (error_name(one.example, labels[one.example.label], labels[one.predicted], one.probability), str(number))
        for number, one in enumerate(errors)
    ]
    return {
        "errors": gr.update(visible=True),
        "error": gr.update(choices=choices, value=str(at)),
        "tokens": tokens_html(found.values, found.encoding, answer, truth)
        + evidence_told(found.values, found.encoding, found.margin, found.empty, answer, truth),
        "numbers": tokens_table(found.values, found.encoding),
    }


def _trust(after: After | None) -> dict[str, Any]:
    """The reliability diagram of the kept answers."""
    kept = (after or sample()).kept
    if not kept.confidence:
        return {"status": _said(NO_CHANCES)}
    found = calibration(kept.confidence, kept.right)
    noun = "words" if after and isinstance(after.task, Entities) else "answers"
    held = len(kept.confidence) if noun == "answers" else kept.total
    return {
        "trust": gr.update(visible=True),
        "reliability": reliability_figure(found),
        "trust_told": calibration_told(found, noun, held, kept.total),
        "numbers": calibration_table(found),
    }


def _said(sentence: str) -> str:
    return f'<p role="status">{sentence}</p>'


def _filled(shown: dict[str, Any]) -> list[Any]:
    return [shown.get(name, gr.skip()) for name in FILLED]


PART = Part(
    tab="What it learned",
    look="The same sentences, the same heads, before and after: what did the training change, and where does it still "
    "go wrong?",
    build=build,
    order=2,
    former="after",
)
