"""Zero, one and few examples in a prompt: what the small decoder makes of a task that it is only told."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.causal.prompts import SHOTS, TASKS, Answered, Task, answered
from demos.lessons.family.prompts.figure import TEXT, all_html, one_html, ranks_figure
from demos.lessons.family.prompts.program import prompt_code
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services


def build(page: Page) -> None:
    """One question with 0, 1 and 3 examples; all questions as a picture; the folds."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="prompts-views"):
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            parts["one"] = gr.HTML("", elem_id="prompts-one")
        with gr.Column(scale=4, min_width=320):
            task = gr.Radio([each.name for each in TASKS], value=TASKS[0].name, label="Task", elem_id="prompts-task")
            number = gr.Slider(1, len(TASKS[0].pairs), value=1, step=1, label="Question", elem_id="prompts-question")
            page.show_look()
            parts["plot"] = gr.Plot(label="Rank of the right answer", show_label=False, elem_id="prompts-plot")
    gr.HTML(TEXT.larger(), elem_id="prompts-larger")
    parts["numbers"], parts["program"] = folds(__file__, "The answer's rank with each number of examples")
    page.keep(task=task, question=number)
    one, every = ({name: parts[name] for name in names} for names in (("one", "program"), ("plot", "numbers")))
    page.draw(by_component(one, partial(of_one, page.services)), [task, number], list(one.values()))
    page.draw(by_component(every, partial(of_all, page.services)), [task], list(every.values()))


def of_one(services: Services, _: Sentence, name: str, number: float) -> dict[str, Any]:
    """One question's prompts, and the program."""
    task = task_of(name)
    at = clamp(float(number or 1) - 1, len(task.pairs))
    return {"one": one_html(list(asked(services, task, at))), "program": prompt_code(task, at)}


def of_all(services: Services, _: Sentence, name: str) -> dict[str, Any]:
    """The ranks of all questions of a task."""
    task = task_of(name)
    rows = [list(asked(services, task, at)) for at in range(len(task.pairs))]
    words = services.decoder().decoder.out_features
    return {"plot": ranks_figure(task, rows, words), "numbers": all_html(task, rows)}


def asked(services: Services, task: Task, at: int) -> Iterator[Answered]:
    """The question `at` after 0, 1 and 3 examples."""
    for shots in SHOTS:
        yield answered(services.decoder(), task.prompt(at, shots), task.pairs[at][1])


def task_of(name: str) -> Task:
    """By its name; the first for an unknown one."""
    return next((task for task in TASKS if task.name == name), TASKS[0])


PART = Part(
    tab="Zero, one, few examples",
    look=(
        "A task is given to the decoder as text, with no, one or three solved examples, and nothing is trained. See "
        "how likely the right answer is then. With this small model, it stays far from the first place."
    ),
    build=build,
    reads_sentence=False,
    order=2,
)
