"""Zero, one and few examples in a prompt: answers of our decoder, GPT-2 and T5 to a task described in the input."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.causal.prompts import TASKS
from demos.bert.family.members import OUR_DECODER
from demos.errors import UserError
from demos.lessons.family.prompts.figure import TEXT, all_html, found_html, question_html, ranks_figure
from demos.lessons.family.prompts.models import WRITERS, answers, answers_to, model_of, task_of, texts, writer_of
from demos.lessons.family.prompts.program import prompt_code
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.loading.loading import AT_ONCE, loading
from demos.page.services import Sentence, Services


def build(page: Page) -> None:
    """One question with 0, 1 and 3 examples; all questions as a picture; the folds."""
    parts: dict[str, Any] = {"writer": gr.Textbox(OUR_DECODER, visible="hidden")}  # the models whose answers are shown
    with gr.Row(elem_classes="prompts-views"):
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            parts["one"] = gr.HTML("", elem_id="prompts-one")
        with gr.Column(scale=4, min_width=320):
            task = gr.Radio([each.name for each in TASKS], value=TASKS[0].name, label="Task", elem_id="prompts-task")
            parts["number"] = number = gr.Slider(
                1, len(TASKS[0].pairs), value=1, step=1, label="Question", elem_id="prompts-question"
            )
            parts["plot"] = gr.Plot(label="Rank of the correct answer", show_label=False, elem_id="prompts-plot")
            parts["found"] = gr.HTML("", elem_id="prompts-found")
            page.show_look()
            parts["asked"] = gr.Radio(
                [(member.label, key) for key, member in WRITERS.items()], value=OUR_DECODER, label="Model",
                elem_id="prompts-writer",
            )  # fmt: skip
            parts["said"] = gr.HTML("", elem_id="prompts-said", elem_classes="said")
    gr.HTML(TEXT.larger(), elem_id="prompts-larger")
    parts["numbers"], parts["program"] = folds(__file__, "The answer's rank with each number of examples")
    page.keep(task=task, question=number, answered_by=parts["asked"])
    question_parts, task_parts = (
        {name: parts[name] for name in names} for names in (("one", "number", "program"), ("plot", "found", "numbers"))
    )
    writer = parts["writer"]
    page.draw(
        by_component(question_parts, partial(of_one, page.services)),
        [task, number, writer],
        list(question_parts.values()),
    )
    page.draw(by_component(task_parts, partial(of_all, page.services)), [task, writer], list(task_parts.values()))
    page.on(
        [page.settled.change, parts["asked"].input],
        by_component(parts, partial(chosen, page.services)),
        [parts["asked"], writer],
        [parts[name] for name in ("writer", "asked", "said")],
        trigger_mode="always_last",
        show_progress="hidden",
        concurrency_id="prompts-writer",
        concurrency_limit=AT_ONCE,
    )


def chosen(services: Services, requested: str, shown: str) -> Iterator[dict[str, Any]]:
    """The model in use from now on, once it is in memory; if it can't be had, the one before and the reason."""
    try:
        for message in loading(services.family, writer_of(requested)):
            yield {"said": message}
    except UserError as error:
        yield {"asked": shown, "said": TEXT.stays(str(error), writer_of(shown))}
        return
    yield {"writer": writer_of(requested).key, "said": ""} if requested != shown else {}


def of_one(services: Services, _: Sentence, name: str, number: float, writer: str) -> dict[str, Any]:
    """One question's prompts, and the program."""
    task, member = task_of(name), writer_of(writer)
    at = clamp(float(number or 1) - 1, len(task.pairs))
    model = model_of(services, member)
    results = answers_to(model, task, at)
    return {
        "one": lambda: question_html(member, task, results, texts(model, task, at)),
        "number": gr.update(maximum=len(task.pairs), value=at + 1),
        "program": lambda: prompt_code(member, task, at),
    }


def of_all(services: Services, _: Sentence, name: str, writer: str) -> dict[str, Any]:
    """The ranks of all questions of a task."""
    task, member = task_of(name), writer_of(writer)
    model = model_of(services, member)
    rows = answers(model, task)
    return {
        "plot": ranks_figure(task, rows, model.words),
        "found": found_html(task, rows),
        "numbers": lambda: all_html(task, rows, member),
    }


PART = Part(
    tab="Zero, one, few examples",
    look=(
        "A task is given to a model as text, with zero, one or three solved examples, and nothing is trained. Look at "
        "the rank of the correct answer: in which of the five tasks do examples help our small model?"
    ),
    build=build,
    reads_sentence=False,
    order=2,
)
