"""Train live: pre-training steps on the reader's own paragraphs, with a copy of the model and from random weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.bert.model.text import MAX_CHARACTERS
from demos.files import read_beside
from demos.lessons.pretraining.learn.controller import CONTROLS, Learning, press_buttons
from demos.lessons.pretraining.learn.curve import loss_curve
from demos.lessons.pretraining.learn.text import TEXT
from demos.page.folds import all_controls, fold, folds
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence
from demos.training.pretraining.copies import BATCHES, Situation
from demos.widgets.run_controller.run_controller import RunController
from demos.widgets.seed_box.seed_box import seed_box

MANY = 100  # steps
RATES = [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3]
SHOWN = ("curve", "step", "asked", "after", "batch", "numbers", "code", "cost", "original", "cut")


def build(page: Page) -> None:
    """The text and the buttons beside the curve, the guesses, the effects of a step, the folds."""
    learning = Learning(page.services)
    parts: dict[str, Any] = {
        **RunController.states(),
        "steps": gr.State(1),  # of the current press
        "held": gr.State(""),  # the reader's copy
        "situation": gr.State(None),  # the situation that it was trained in
    }
    with gr.Row(elem_classes="learn-top"):
        with gr.Column(scale=5, min_width=320):
            parts["curve"] = loss_curve(learning.news, elem_id="pretraining-learn-curve", elem_classes="picture")
            parts["step"] = gr.HTML("", elem_id="pretraining-learn-step")
            parts["asked"] = gr.HTML("", elem_id="pretraining-learn-asked")
        with gr.Column(scale=3, min_width=300):
            parts |= _controls(page)
            page.show_look()
    with gr.Column(visible=False, elem_id="pretraining-learn-after") as after:
        with gr.Row():
            with gr.Column(scale=2, min_width=320):
                gr.HTML(TEXT.gradient_heading(), elem_classes="said")
                parts["gradient"] = gr.Plot(label="Norm of the gradient by layer", show_label=False)
            with gr.Column(scale=3, min_width=320):
                parts["told"] = gr.HTML("", elem_id="pretraining-learn-told")
                parts["moved"] = gr.Plot(label="Change of the word embeddings", show_label=False)
        parts["top"] = gr.HTML("", elem_id="pretraining-learn-top")
    parts["after"] = after
    with fold(__file__, "step_reads", "The batch of this step"):
        parts["batch"] = gr.HTML("", elem_id="pretraining-learn-batch")
    with fold(__file__, "original_run", "BERT's own pre-training, on this server"):
        parts["original"] = gr.HTML("", elem_id="pretraining-learn-original")
    parts["numbers"], parts["code"] = folds(__file__, "The first step, with transformers")
    page.keep(learn_rate=parts["rate"], learn_batch=parts["size"], learn_seed=parts["seed"])
    _wire(page, learning, parts)


def _controls(page: Page) -> dict[str, Any]:
    """The buttons, the text, the recipe."""
    with gr.Row():
        step_button = gr.Button("One step", variant="primary", min_width=120, elem_id="pretraining-learn-one")
        many = gr.Button("A hundred steps", variant="primary", min_width=160, elem_id="pretraining-learn-many")
    with gr.Row():
        stop = gr.Button("Stop", interactive=False, min_width=100, elem_id="pretraining-learn-stop")
        fresh = gr.Button("Start over", min_width=120, elem_id="pretraining-learn-fresh")
    cost = gr.HTML("", elem_id="pretraining-learn-cost")
    text = gr.Textbox(
        read_beside(__file__, "paragraphs.txt"),
        label="Text to train on",
        info=f"Up to {MAX_CHARACTERS:,} characters.",
        lines=7,
        max_lines=9,
        elem_id="pretraining-learn-text",
    )
    cut = gr.HTML("", elem_id="pretraining-learn-cut")
    with all_controls(page, __file__):
        rates = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in RATES]
        rate = gr.Dropdown(rates, value=1e-4, label="Learning rate", filterable=False, min_width=110)
        size = gr.Slider(*BATCHES, 8, step=1, label="Batch size (sequences)", min_width=130)
        seed = seed_box(min_width=80)
        untrained = gr.Checkbox(True, label="Also train the same model from random weights")
    return {
        "text": text, "cut": cut, "one": step_button, "many": many, "stop": stop, "fresh": fresh, "cost": cost,
        "rate": rate, "size": size, "seed": seed, "untrained": untrained,
    }  # fmt: skip


def _wire(page: Page, learning: Learning, parts: dict[str, Any]) -> None:
    """The part before the first step, and the changes after a press."""
    chosen = [parts[name] for name in CONTROLS]
    shown = [parts[name] for name in ("held", "situation", *SHOWN)]
    changed = [name for name in parts if name not in ("begun", "steps", "cut", "code")]

    def work(
        run: str, reader: str, text: str, pair: str, model: str, steps: int, copy_id: str, before: Any, *controls: Any
    ) -> Iterator[dict[str, Any]]:
        return learning.press(run, model, controls, copy_id, before, steps)

    controller = RunController(page.services.trainings, "learn", work, press_buttons)

    def show(
        sentence: Sentence, reader: str, begun: str, run: str, copy_id: str, before: Any, *controls: Any
    ) -> dict[Any, Any]:
        """The part before the first step; while a press is under way, and for the copy's own situation, all stays."""
        if run or controller.is_elsewhere(reader, begun):
            return {}
        situation = learning.situation(sentence.model, *controls)
        return {} if situation == before else begin(situation, reader, copy_id)

    def anew(sentence: Sentence, reader: str, copy_id: str, *controls: Any) -> dict[Any, Any]:
        return begin(learning.situation(sentence.model, *controls), reader, copy_id)

    def begin(situation: Situation, reader: str, copy_id: str) -> dict[Any, Any]:
        """Drop the reader's copy and show the part as it opened."""
        opening = learning.opening(situation)
        controller.forget(reader)
        learning.presses.copies.discard(copy_id)
        return {parts[name]: value for name, value in opening.items()} | {parts["held"]: "", parts["situation"]: None}

    moved = [parts["text"].change, parts["rate"].input, parts["size"].input, parts["seed"].input]
    moved += [parts["untrained"].input, parts["run"].change]  # when a press is over: the model may be another by then
    state = [page.reader, *(parts[name] for name in ("begun", "run", "held", "situation"))]
    page.draw(show, [*state, *chosen], shown, triggers=moved, show_progress="hidden")
    starts = [(parts["one"].click, {"steps": 1}), (parts["many"].click, {"steps": MANY})]
    inputs = [*page.sentence, *(parts[name] for name in ("steps", "held", "situation")), *chosen]
    controller.wire(page, parts, starts, inputs, changed, list(press_buttons(True)))
    page.on(
        [parts["fresh"].click],
        with_sentence(anew),
        [*page.sentence, page.reader, parts["held"], *chosen],
        shown,
        show_progress="hidden",
    )


PART = Part(
    tab="Train live",
    look=(
        "This is pre-training on a small scale. Each step corrupts the text, predicts the masked words, computes the "
        "loss and changes every weight a little. Train a hundred steps on your own text and see how the predictions "
        "change. The second curve shows the same steps from random weights."
    ),
    build=build,
    reads_sentence=False,
    order=5,
)
