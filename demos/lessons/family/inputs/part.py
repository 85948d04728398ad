"""Inputs for tasks: what BERT, GPT and T5 are given for the same task and the same sentences."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.model.catalogue import ARCHITECTURES
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.lessons.family.inputs.forms import TASKS, bert_inputs, gpt_inputs, t5_text, texts_of
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, words
from demos.templates import templates

TEXT = templates(__file__)
MOST_TOKENS, MOST_CHARACTERS = 96, 600  # of one input that is shown


class Inputs(View):
    tab, order = "Inputs for tasks", 4
    look = (
        "The same texts in each model's input format. For BERT and the first GPT, the input contains special tokens, "
        "and each task adds one new layer. T5 gets a prefix and writes its answer as text, so it needs no new layer."
    )

    @dataclass(frozen=True)
    class Choices:
        input_task: str = options(
            [(task.name, name) for name, task in TASKS.items()],
            "entailment",
            "Task",
            show_label=False,
            elem_id="inputs-task",
        )
        input_third: str = words(
            "",
            "Multiple choice: another ending (the second sentence above is the first)",
            max_lines=1,
            elem_id="inputs-third",
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            at.control("input_task")
        at.control("input_third")
        at["forms"] = gr.HTML("", elem_id="inputs-forms", elem_classes="picture")
        at.look()
        at.folds(numbers=())

    @drawn(limits=("input_third",))
    def draw(self, on: On, c: Choices) -> Shown:
        """The three forms, and whether another ending can be typed. Raises UserError for a text that is too long."""
        task = TASKS[c.input_task]
        typed = [clean_text(text) for text in (on.sentence.text, on.sentence.text_pair, c.input_third)]
        if max(map(len, typed)) > MOST_CHARACTERS:
            raise UserError(f"In this part, each text may have at most {MOST_CHARACTERS} characters.")
        texts, own = texts_of(task, typed)
        tokenizer = on.loaded.tokenizer
        return {
            "input_third": limit(visible=c.input_task == "choice"),
            "forms": TEXT.forms(
                task,
                own,
                ARCHITECTURES[on.loaded.spec.architecture],
                tokenizer.cls_token,
                bert_inputs(tokenizer, texts, MOST_TOKENS),
                gpt_inputs(c.input_task, texts),
                t5_text(task, texts),
                list(zip(task.fields, texts, strict=True)),
            ),
        }
