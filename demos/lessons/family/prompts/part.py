"""Zero, one and few examples in a prompt: answers of our decoder, GPT-2 and T5 to a task described in the input."""

from collections.abc import Generator
from dataclasses import dataclass

import gradio as gr

from demos.bert.causal.prompts import TASKS
from demos.bert.family.members import OUR_DECODER
from demos.errors import UserError
from demos.lessons.family.prompts.figure import (
    TEXT,
    all_html,
    found_html,
    medians_of,
    question_html,
    ranks_figure,
    stored_html,
)
from demos.lessons.family.prompts.models import WRITERS, answers, answers_to, model_of, task_of, texts, writer_of
from demos.lessons.family.prompts.program import prompt_code
from demos.lessons.family.prompts.stored import stored
from demos.page.loading.loading import AT_ONCE, loading
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, slider, unlinked


class Prompts(View):
    tab, order, reads_sentence = "Zero, one, few examples", 2, False
    look = (
        "A task is given to a model as text, with zero, one or three solved examples. Look at the rank of the correct "
        "answer: in which of the five tasks do examples help our small model?"
    )

    @dataclass(frozen=True)
    class Choices:
        task: str = options([(task.name, task.name) for task in TASKS], TASKS[0].name, "Task", elem_id="prompts-task")
        question: int = slider(1, max(len(task.pairs) for task in TASKS), 1, "Question", elem_id="prompts-question")
        answered_by: str = options(
            [(member.label, key) for key, member in WRITERS.items()], OUR_DECODER, "Model", elem_id="prompts-writer"
        )
        writer: str = unlinked(OUR_DECODER, redraws=True)  # whose answers are shown: `answered_by`, once it is there

    def lay_out(self, at: Layout) -> None:
        at["writer"] = at.hold("writer", gr.Textbox(OUR_DECODER, visible="hidden"))
        with gr.Row(elem_classes="prompts-views"):
            with gr.Column(scale=6, min_width=320, elem_classes="picture"):
                at["one"] = gr.HTML("", elem_id="prompts-one")
            with gr.Column(scale=4, min_width=320):
                at.control("task")
                at.control("question")
                at.plot("plot", "Rank of the correct answer", elem_id="prompts-plot")
                at["found"] = gr.HTML("", elem_id="prompts-found")
                at.look()
                at.control("answered_by")
                at["said"] = gr.HTML("", elem_id="prompts-said", elem_classes="said")
        at["stored"] = gr.HTML("", elem_id="prompts-stored")
        gr.HTML(TEXT.larger(), elem_id="prompts-larger")
        at.folds("The answer's rank with each number of examples")

    @drawn(by=("task", "question", "writer"), limits=("question",), show_progress="minimal")
    def draw(self, on: On, c: Choices) -> Shown:
        """One question's prompts, and the program."""
        task, member = task_of(c.task), writer_of(c.writer)
        at = min(c.question, len(task.pairs)) - 1
        model = model_of(on.services, member)
        results = answers_to(model, task, at)
        return {
            "one": lambda: question_html(member, task, results, texts(model, task, at)),
            "question": limit(maximum=len(task.pairs), value=at + 1),
            "stored": lambda: stored_html(stored(), task, at),
            "program": lambda: prompt_code(member, task, at),
        }

    @drawn("plot", "found", "numbers", by=("task", "writer"), show_progress="minimal")
    def draw_ranks(self, on: On, c: Choices) -> Shown:
        """The ranks of all questions of a task."""
        task, member = task_of(c.task), writer_of(c.writer)
        model = model_of(on.services, member)
        rows = answers(model, task)
        return {
            "plot": ranks_figure(task, rows, model.words),
            "found": found_html(task, rows),
            "numbers": lambda: all_html(task, rows, member),
        }

    @drawn(
        "writer",
        "said",
        by=("answered_by", "writer"),
        limits=("answered_by",),
        concurrency_id="prompts-writer",
        concurrency_limit=AT_ONCE,
    )
    def draw_writer(self, on: On, c: Choices) -> Generator[Shown]:
        """The model in use from now on, once it is in memory; if it can't be had, the one before and the reason."""
        if c.answered_by == c.writer:
            yield {}
            return
        try:
            for message in loading(on.services.family, writer_of(c.answered_by)):
                yield {"said": message}
        except UserError as error:
            yield {"answered_by": limit(value=c.writer), "said": TEXT.stays(str(error), writer_of(c.writer))}
            return
        yield {"writer": c.answered_by, "said": ""}


def answer(services: Services, sentence: Sentence, task: str) -> Answer:
    """Of the task that is open, by our decoder."""
    chosen, model = task_of(task), model_of(services, writer_of(OUR_DECODER))
    zero, *_, few = medians_of(answers(model, chosen))
    return Answer(facts={"name": chosen.name, "zero": zero, "few": few})
