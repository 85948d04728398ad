"""Part "What was learned": the same sentences and heads before and after, its errors, and its calibration."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.comparison import Which
from demos.bert.attention.saliency import STEPS
from demos.counting import counted
from demos.errors import UserError
from demos.lessons.finetune.results.data import ERRORS, OWN, After, Afterwards
from demos.lessons.finetune.results.figure import after_map, reliability_figure
from demos.lessons.finetune.results.sample import sample
from demos.lessons.finetune.results.text import (
    TEXT,
    attention_summary,
    calibration_summary,
    decided_html,
    error_name,
    map_heading,
    maps_summary,
    maps_table,
    own_name,
    tokens_table,
    words_html,
)
from demos.page.guards import notice_html
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, menu, options, unlinked
from demos.training.metrics import calibration
from demos.training.ready.models import TASKS
from demos.training.results.evidence import chance_share
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multi_label.task import MultiLabel
from demos.training.tasks.similarity.task import Similarity
from demos.widgets.comparison.figure import heads_figure, most_different, pictures
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row
from demos.widgets.tasks.examples import calibration_table

MAP, ATTENTION, WORDS, TRUST = "map", "attention", "errors", "trust"  # as links have them
VIEWS = [
    ("Are the classes separated?", MAP),
    ("Which heads changed?", ATTENTION),
    ("Which words decided?", WORDS),
    ("Are its probabilities reliable?", TRUST),
]
THIRDS = ("first", "middle", "last")


class Results(View):
    tab, order, former = "What was learned", 2, "after"
    look = (
        "The same sentences and the same heads, before and after training: what has changed, and where is the model "
        "still wrong?"
    )

    @dataclass(frozen=True)
    class Choices:
        after: str = options(VIEWS, MAP, "Question about this model", show_label=False, elem_id="results-view")
        after_error: str = menu(  # all that a link may name; `draw` cuts it to the errors there are
            [*((f"error {number}", str(number)) for number in range(ERRORS)), ("your sentence", OWN)],
            "0",
            "Sentence",
            show_label=False,
            elem_id="results-error",
        )
        run: str = unlinked("")

    def lay_out(self, at: Layout) -> None:
        at.hold("run", at.page.trained)
        at.control("after")
        with gr.Row(elem_classes="results-maps") as at["map"]:
            for side in ("before", "after"):
                with gr.Column(min_width=340, elem_classes="results-side"):
                    at.plot(f"{side}_map", f"Map {side}", elem_id=f"results-map-{side}", elem_classes="picture")
                    at[f"{side}_told"] = gr.HTML(elem_classes="said")
        with gr.Column(visible=False) as at["errors"]:
            at.control("after_error")
            with gr.Row(elem_classes="results-words"):
                with gr.Column(min_width=340, scale=1):
                    at["tokens"] = gr.HTML(elem_id="results-tokens", elem_classes="said")
                with gr.Column(min_width=340, scale=1):
                    at["decided"] = gr.HTML(elem_id="results-decided", elem_classes="said")
        at["status"] = gr.HTML("", elem_id="results-status", elem_classes="said")
        at["map_told"] = gr.HTML(elem_classes="said")
        with gr.Column(visible=False) as at["attention"]:
            at["attention_told"] = gr.HTML(elem_classes="said")
            with gr.Row(elem_id="results-attention"):
                for name, title in (("heads", "How much each head changed"), ("left", "Before"), ("right", "After")):
                    with gr.Column(min_width=330, elem_classes="results-heatmap") as at[f"{name}_side"]:
                        at[f"{name}_name"] = gr.HTML(TEXT.side(title), elem_classes="said")
                        at.plot(name, title, elem_id=f"results-{name}")
        with gr.Row(visible=False, elem_classes="results-trust") as at["trust"]:
            with gr.Column(min_width=340, scale=6):
                at.plot("reliability", "Reliability", elem_id="results-reliability")
                with takeaway_row():
                    picture_buttons("#results-reliability", "fine-tune-calibration")
            with gr.Column(min_width=320, scale=5):
                at["trust_told"] = gr.HTML(elem_classes="said")
        at.folds()

    @drawn(limits=("after_error",))
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """The chosen view alone."""
        afterwards, after, gone = on.services.shared(Afterwards), None, ""
        try:
            after = afterwards.of(c.run) if c.run else None
        except UserError as error:
            gone = str(error)
        shown: Shown = {"status": "", "numbers": "", "map_told": ""}
        shown |= {name: gr.update(visible=False) for _, name in VIEWS}
        shown |= yield from _view(afterwards, on.sentence, c.after, c.after_error, after)
        yield shown | ({"status": notice_html(gone)} if gone else {})


def _view(
    afterwards: Afterwards, sentence: Sentence, view: str, error: str, after: After | None
) -> Generator[Shown, None, Shown]:
    """The outputs of the view, or a sentence if there is no data for it."""
    if after is not None and not after.classes and view in (MAP, WORDS):
        return {"status": TEXT.no_classes()}
    if view == MAP:
        return (yield from _maps(afterwards, sentence, after))
    if view == WORDS:
        return (yield from _words(afterwards, sentence, after, error))
    if view == ATTENTION:
        shown = _attention(afterwards, sentence, after) if after else _sample_attention()
    else:
        shown = _trust(after)
    return shown if after else {"status": TEXT.sample(sample().description)} | shown


def _maps(afterwards: Afterwards, sentence: Sentence, after: After | None) -> Generator[Shown, None, Shown]:
    services = afterwards.services
    mapped = afterwards.mapped(after) if after else afterwards.sample()
    if not mapped.examples:
        return {"status": TEXT.no_examples()}
    base = services.loaded(after.base if after else sentence.model)
    classes, labels, chance = mapped.classes, mapped.task.labels, chance_share(mapped.classes)
    layouts = [(yield from relayed(afterwards.layout(base, mapped), _progress(base.spec.title)))]
    shown: Shown = {
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


def _attention(afterwards: Afterwards, sentence: Sentence, after: After) -> Shown:
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


def _sample_attention() -> Shown:
    """Our own run's heads; there is no model whose weights could be shown."""
    heads = sample().heads
    layer, head, _ = most_different(heads, 1)[0]
    return _heads(heads, Which(layer, head), attention_summary(heads, layer, head, sample().text), False)


def _heads(heads: np.ndarray, which: Which, summary: str, both: bool) -> Shown:
    """The change of each head [L, A]; with `both`, pictures of the one that changed most, before and after."""
    return {
        "attention": gr.update(visible=True),
        "attention_told": summary,
        "heads": heads_figure(heads, which),
        "left_side": gr.update(visible=both),
        "right_side": gr.update(visible=both),
        "numbers": TEXT.heads_table(heads.tolist()),
    }


def _words(
    afterwards: Afterwards, sentence: Sentence, after: After | None, chosen: str
) -> Generator[Shown, None, Shown]:
    """The words that decided the class of one of the surest errors, or of the bar's sentence; a menu of all these."""
    run = after or sample()
    errors, labels = run.errors, run.labels
    names = [
        error_name(error.example, labels[error.example.label], labels[error.predicted], error.probability)
        for error in errors
    ]
    own = chosen == OWN or not errors
    at = 0 if own else min(int(chosen), len(errors) - 1)
    choices = [(name, str(number)) for number, name in enumerate(names)]
    choices.append((own_name(sentence.text, sentence.text_pair), OWN))
    shown: Shown = {
        "errors": gr.update(visible=True),
        "after_error": limit(choices=choices, value=OWN if own else str(at)),
        "status": "" if errors else TEXT.no_errors(),
    }
    note = TEXT.sample(sample().description, short=True)
    try:
        if own:
            example = afterwards.own(after, sentence)
            task = afterwards.classifier(after, bool(example.pair))[0].task
            labels, note = task.labels, TEXT.ready(TASKS["pair" if example.pair else "sentence"])
            steps = afterwards.evidence(after, example)
        elif after:
            steps = afterwards.evidence(after, errors[at].example, errors[at].example.label)
        else:
            steps = None
        evidence = (
            (yield from relayed(steps, lambda done: shown | {"decided": TEXT.steps(done, STEPS)}))
            if steps
            else sample().evidence[at]
        )
    except UserError as error:
        return shown | {"tokens": notice_html(str(error)), "decided": ""}
    return shown | {
        "tokens": words_html(evidence, labels),
        "decided": ("" if after else note) + decided_html(evidence, labels, labelled=not own),
        "numbers": tokens_table(evidence),
    }


def _trust(after: After | None) -> Shown:
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


def answer(_: Services, __: Sentence) -> Answer:
    """The layer whose heads moved the largest share of their attention, on average, and the third that it is in."""
    moved = sample().heads.mean(axis=1)  # [L]
    most, least = int(moved.argmax()), int(moved.argmin())
    facts = {"description": sample().description, "layers": len(moved)}
    facts |= {"least": counted(least), "lowest": moved[least], "most": counted(most), "highest": moved[most]}
    return Answer(keys=frozenset({THIRDS[most * 3 // len(moved)]}), facts=facts)
