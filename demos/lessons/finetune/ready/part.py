"""Part "Ready models": one text, three answers from small adapters that were trained before."""

from __future__ import annotations

from functools import partial

import gradio as gr

from demos.bert.model.catalogue import BUNDLED
from demos.errors import UserError
from demos.lessons.finetune.ready.program import ready_code
from demos.page.examples import examples_of, fill_from
from demos.page.folds import code_fold, fold, formula_fold, source_fold
from demos.page.guards import notice_html
from demos.page.lesson import Page, Part
from demos.page.services import Sentence
from demos.templates import templates
from demos.training.ready.models import TASKS, ReadyModels, card
from demos.widgets.tasks.registry import view_of

TEXT = templates(__file__)
EXAMPLES = {
    "Example: where do I work?": ["My name is Sylvain and I work at Hugging Face in Brooklyn.", "Where do I work?"],
    "Example: two sentences": [
        "I've been waiting for a HuggingFace course my whole life.\nI hate this so much!",
        "What have I been waiting for?",
    ],
    "Example: droplets": [
        "Precipitation forms as smaller droplets coalesce via collision with other rain drops or ice crystals within a "
        "cloud.",
        "Where do water droplets collide with ice crystals to form precipitation?",
    ],
}  # fmt: skip
FIRST = next(iter(EXAMPLES.values()))
MOST_LINES = 5  # of the text, that are classified one by one
MAX_TEXT, MAX_QUESTION = 1_500, 300  # characters


def lines_of(text: str) -> list[str]:
    """The text's lines that are not empty, as far as they are classified."""
    return [line.strip() for line in text.splitlines() if line.strip()][:MOST_LINES]


def answer_html(models: ReadyModels, kind: str, inputs: list[list[str]]) -> str:
    """The answers of one task's model; `inputs` are what the task's try-it boxes would hold, one list an answer."""
    view = view_of(kind)
    try:
        examples = [view.example_of(boxes) for boxes in inputs]
    except UserError as error:
        return notice_html(str(error))
    trained = models.get(kind)
    answers = trained.answers(examples)
    return TEXT.answers(
        [view.answer(trained.task, answer, boxes) for answer, boxes in zip(answers, inputs, strict=True)]
    )


def show(models: ReadyModels, _: Sentence, text: str, question: str) -> tuple[str, ...]:
    """The three answers with the lines that call them, and the program that prints them."""
    text, question = (text or "")[:MAX_TEXT], (question or "")[:MAX_QUESTION]
    lines = lines_of(text)
    inputs = {
        "sentence": [[line] for line in lines] or [[""]],
        "entities": [[" ".join(lines)]],
        "question": [[question, " ".join(lines)]],
    }
    shown = [TEXT.task(kind, answer_html(models, kind, inputs[kind])) for kind in TASKS]
    return (*shown, ready_code(lines, question))


def build(page: Page) -> None:
    """One text and one question, three answers beside each other."""
    models = ReadyModels(lambda: page.services.loaded(BUNDLED), page.services.memory)
    with gr.Row():
        text = gr.Textbox(
            FIRST[0], label="Text (one sentence a line)", show_label=False,
            placeholder="A text, one sentence a line", lines=1, max_lines=6,
            max_length=MAX_TEXT, scale=5, elem_id="finetune-ready-text",
        )  # fmt: skip
        question = gr.Textbox(
            FIRST[1], label="Question about it", show_label=False,
            placeholder="A question about it", lines=1, max_lines=3, max_length=MAX_QUESTION,
            scale=3, elem_id="finetune-ready-ask",
        )  # fmt: skip
        menu = examples_of([*EXAMPLES], label="Examples of the slides", show_label=False, scale=2, min_width=200)
    fill_from(menu, [text, question], EXAMPLES)
    with gr.Row(elem_classes="ready-answers picture"):
        answers = [gr.HTML(min_height=120, elem_id=f"finetune-ready-{kind}") for kind in TASKS]
    page.show_look()
    with fold(__file__, "library", "The library, the Hub, and pipelines"):
        gr.HTML(TEXT.pipelines(), elem_id="finetune-ready-pipelines")
    with fold(__file__, "numbers", "The numbers"):
        gr.HTML(TEXT.numbers([card(kind) for kind in TASKS]), elem_id="finetune-ready-scores")
    formula_fold(__file__)
    program = code_fold(__file__, "Prints these answers")
    source_fold(__file__)
    page.keep(ready=text, ask=question)
    page.draw(partial(show, models), [text, question], [*answers, program], show_progress="hidden")


PART = Part(
    tab="Ready models",
    look="Three models, trained in advance, are applied to one text. They share one encoder; each adds only about "
    "0.7 MB of its own. Change a word: which answers change?",
    build=build,
    reads_sentence=False,
    order=7,
)
