"""Part "What was learned": the same sentences and heads before and after, its errors, and its calibration."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.comparison import Which
from demos.errors import UserError
from demos.lessons.finetune.results.data import After, Afterwards
from demos.lessons.finetune.results.figure import after_map, reliability_figure
from demos.lessons.finetune.results.layout import ATTENTION, ERROR, MAP, VIEWS, laid_out
from demos.lessons.finetune.results.sample import sample
from demos.lessons.finetune.results.text import (
    TEXT,
    attention_summary,
    calibration_summary,
    error_name,
    evidence_summary,
    heads_table,
    map_heading,
    maps_summary,
    maps_table,
    tokens_html,
    tokens_table,
)
from demos.page.guards import notice_html
from demos.page.lesson import Page, Part, by_component
from demos.page.progress import relayed
from demos.page.services import Sentence
from demos.training.metrics import calibration
from demos.training.results.evidence import chance_share
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multi_label.task import MultiLabel
from demos.training.tasks.similarity.task import Similarity
from demos.widgets.comparison.figure import heads_figure, most_different, pictures
from demos.widgets.tasks.examples import calibration_table


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts = laid_out(page)
    afterwards = Afterwards(page.services)

    def show(text: str, pair: str, model: str, *choices: str) -> Iterator[dict[str, Any]]:
        yield from drawn(afterwards, Sentence(text or "", pair or "", model), *choices)

    page.on(
        [page.settled.change, parts["view"].input, parts["error"].input],
        by_component(parts, show),
        [*page.sentence, parts["view"], parts["error"], page.trained, parts["seen"]],
        [component for name, component in parts.items() if name != "view"],
        trigger_mode="always_last",
        show_progress="hidden",
    )
    page.keep(after=parts["view"], after_error=parts["error"])


def drawn(
    afterwards: Afterwards, sentence: Sentence, view: str, error: str, run: str, seen: str
) -> Iterator[dict[str, Any]]:
    """The changes by name, for the chosen view alone; none if it is shown already."""
    after, gone = None, ""
    try:
        after = afterwards.of(run) if run else None
    except UserError as error_of_run:
        gone = str(error_of_run)
    depends_on = {
        MAP: "" if after else sentence.model,
        ATTENTION: f"{sentence.text}\n{sentence.text_pair}",
        ERROR: error,
    }.get(view, "")
    mark = f"{view} {run if after else ''} {depends_on}"
    if mark == seen and not gone:
        yield {}
        return
    shown: dict[str, Any] = {"status": "", "numbers": "", "map_told": "", "seen": mark}
    shown |= {name: gr.update(visible=False) for _, name in VIEWS}
    shown |= yield from _view(afterwards, sentence, view, error, after)
    if gone:
        shown["status"] = notice_html(gone)
    yield shown


def _view(
    afterwards: Afterwards, sentence: Sentence, view: str, error: str, after: After | None
) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """The outputs of the view, or a sentence if there is no data for it."""
    if after is not None and not after.classes and view in (MAP, ERROR):
        return {"status": TEXT.no_classes()}
    if view == MAP:
        return (yield from _maps(afterwards, sentence, after))
    if view == ATTENTION:
        shown = _attention(afterwards, sentence, after) if after else _sample_attention()
    else:
        shown = _error(afterwards, after, error) if view == ERROR else _trust(after)
    return shown if after else {"status": TEXT.sample(sample().description)} | shown


def _maps(
    afterwards: Afterwards, sentence: Sentence, after: After | None
) -> Generator[dict[str, Any], None, dict[str, Any]]:
    services = afterwards.services
    mapped = afterwards.mapped(after) if after else afterwards.sample()
    if not mapped.examples:
        return {"status": TEXT.no_examples()}
    base = services.loaded(after.base if after else sentence.model)
    classes, labels, chance = mapped.classes, mapped.task.labels, chance_share(mapped.classes)
    layouts = [(yield from relayed(afterwards.layout(base, mapped), _progress(base.spec.title)))]
    shown: dict[str, Any] = {
        "map": gr.update(visible=True),
        "before_told": map_heading(f"Before: {base.spec.title}", layouts[0], classes, chance),
        "before_map": after_map(layouts[0], mapped.examples, labels, "before"),
    }
    if after is None:
        shown |= {
            "status": TEXT.sample_map(base.spec.title, len(mapped.examples)),
            "after_told": TEXT.waiting(mapped.noun),
            "after_map": gr.update(visible=False),
        }
    else:
        tuned = services.tuned(after.run)
        layouts.append((yield from relayed(afterwards.layout(tuned, mapped), _progress("Your model"))))
        figure = after_map(layouts[1], mapped.examples, labels, f"after {after.run}")
        shown |= {
            "after_told": map_heading("After your training", layouts[1], classes, chance),
            "after_map": gr.update(value=figure, visible=True),
            "map_told": maps_summary(layouts[0], layouts[1], classes)
            + TEXT.how_read(len(mapped.examples), mapped.total, mapped.noun),
        }
    return shown | {"numbers": maps_table(layouts, classes, labels)}


def _progress(title: str) -> Any:
    return lambda step: {"status": TEXT.progress(title, step.done, step.total)}


def _attention(afterwards: Afterwards, sentence: Sentence, after: After) -> dict[str, Any]:
    pair, layer, head = afterwards.attention(sentence, after)
    heads = pair.comparison.heads
    if heads is None:  # one architecture on both sides: nothing of the kind can be, but a picture needs numbers
        return {"status": TEXT.other_heads()}
    left, right, _ = pictures(pair.comparison)
    for picture in (left, right):  # the colour bar's room is the columns' names'; the text says where the scale ends
        picture["data"][0]["showscale"] = False
    text = " / ".join(filter(None, (sentence.text, sentence.text_pair)))
    return _heads(
        heads, pair.left.which, attention_summary(heads, layer, head, text, float(left["data"][0]["zmax"])), True
    ) | {
        "left": left,
        "right": right,
        "left_name": TEXT.head_before(layer, head),
        "right_name": TEXT.head_after(),
    }


def _sample_attention() -> dict[str, Any]:
    """Our own run's heads; there is no model whose weights could be shown."""
    heads = sample().heads
    layer, head, _ = most_different(heads, 1)[0]
    return _heads(heads, Which(layer, head), attention_summary(heads, layer, head, sample().text), False)


def _heads(heads: np.ndarray, which: Which, summary: str, both: bool) -> dict[str, Any]:
    """The change of each head [L, A]; with `both`, pictures of the one that changed most, before and after."""
    return {
        "attention": gr.update(visible=True),
        "attention_told": summary,
        "heads": heads_figure(heads, which),
        "left_side": gr.update(visible=both),
        "right_side": gr.update(visible=both),
        "numbers": heads_table(heads),
    }


def _error(afterwards: Afterwards, after: After | None, chosen: str) -> dict[str, Any]:
    """One of the surest errors, and all of them to choose from."""
    run = after or sample()
    errors, labels = run.errors, run.labels
    if not errors:
        return {"status": TEXT.no_errors()}
    names = [(labels[error.example.label], labels[error.predicted]) for error in errors]
    at = min(int(chosen) if str(chosen).isdecimal() else 0, len(errors) - 1)
    evidence = afterwards.evidence(after, errors[at]) if after else sample().evidence[at]
    values, encoding, (truth, answer) = evidence.values, evidence.encoding, names[at]
    choices = [
        (error_name(error.example, *names[number], error.probability), str(number))
        for number, error in enumerate(errors)
    ]
    return {
        "errors": gr.update(visible=True),
        "error": gr.update(choices=choices, value=str(at)),
        "tokens": tokens_html(values, encoding, answer, truth)
        + evidence_summary(values, encoding, evidence.margin, evidence.empty, answer, truth),
        "numbers": tokens_table(values, encoding),
    }


def _trust(after: After | None) -> dict[str, Any]:
    """The reliability diagram of the kept answers."""
    answers = (after or sample()).answers
    if not answers.confidence:
        return {"status": TEXT.no_probabilities(score=after is not None and isinstance(after.task, Similarity))}
    reliability = calibration(answers.confidence, answers.right)
    task = after.task if after else None
    noun = "words" if isinstance(task, Entities) else "decisions" if isinstance(task, MultiLabel) else "answers"
    count = len(answers.confidence) if noun == "answers" else answers.total
    return {
        "trust": gr.update(visible=True),
        "reliability": reliability_figure(reliability),
        "trust_told": calibration_summary(reliability, noun, count, answers.total),
        "numbers": calibration_table(reliability),
    }


PART = Part(
    tab="What was learned",
    look="The same sentences and the same heads, before and after training: what has changed, and where is the model "
    "still wrong?",
    build=build,
    order=2,
    former="after",
)
