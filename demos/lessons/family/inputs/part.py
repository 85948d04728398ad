"""Inputs for tasks: what BERT, GPT and T5 are given for the same task and the same sentences."""

from __future__ import annotations

from functools import partial

import gradio as gr

from demos.bert.model.catalogue import ARCHITECTURES
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.lessons.family.inputs.forms import TASKS, bert_inputs, gpt_inputs, t5_text, texts_of
from demos.page.folds import source_fold
from demos.page.lesson import Page, Part
from demos.page.services import Sentence, Services
from demos.templates import templates

TEXT = templates(__file__)
MOST_TOKENS, MOST_CHARACTERS = 96, 600  # of one input that is shown


def build(page: Page) -> None:
    """The menu of tasks, and the input of one in three forms."""
    with gr.Row():
        choices = [(task.name, name) for name, task in TASKS.items()]
        task = gr.Radio(choices, value="entailment", label="Task", show_label=False, elem_id="inputs-task")
    third = gr.Textbox(
        "", label="Multiple choice: another ending (the second sentence above is the first)", max_lines=1,
        elem_id="inputs-third",
    )  # fmt: skip
    forms = gr.HTML("", elem_id="inputs-forms", elem_classes="picture")
    page.show_look()
    source_fold(__file__)
    page.keep(input_task=task, input_third=third)
    page.draw(partial(drawn, page.services), [task, third], [third, forms], show_progress="hidden")


def drawn(services: Services, sentence: Sentence, name: str, third: str) -> tuple[dict[str, object], str]:
    """(whether another ending can be typed, the three forms)."""
    if name not in TASKS:
        raise UserError("Choose one of the tasks.")
    task = TASKS[name]
    typed = [clean_text(text) for text in (sentence.text, sentence.text_pair, third)]
    if max(map(len, typed)) > MOST_CHARACTERS:
        raise UserError(f"In this part, each text may have at most {MOST_CHARACTERS} characters.")
    texts, own = texts_of(task, typed)
    loaded = services.loaded(sentence.model)
    tokenizer = loaded.tokenizer
    shown = TEXT.forms(
        task,
        own,
        ARCHITECTURES[loaded.spec.architecture],
        tokenizer.cls_token,
        bert_inputs(tokenizer, texts, MOST_TOKENS),
        gpt_inputs(name, texts),
        t5_text(task, texts),
        list(zip(task.fields, texts, strict=True)),
    )
    return gr.update(visible=name == "choice"), shown


PART = Part(
    tab="Inputs for tasks",
    look=(
        "The same texts in each model's input format. BERT and GPT get special tokens and one new layer for each "
        "task; T5 gets a prefix and writes its answer as text, so it needs no new layer."
    ),
    build=build,
    order=4,
)
