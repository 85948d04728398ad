"""Train live: pre-training steps on the reader's own paragraphs, with a copy of the model and from random weights."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

import gradio as gr

from demos.bert.model.text import MAX_CHARACTERS
from demos.files import read_beside
from demos.lessons.pretraining.learn.controller import CHANGED, Learning, Ran, press_buttons
from demos.lessons.pretraining.learn.curve import loss_curve
from demos.lessons.pretraining.learn.text import TEXT
from demos.page.folds import fold
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, menu, slider, unlinked
from demos.training.pretraining.copies import BATCHES, Recipe, Situation
from demos.training.pretraining.passage import read_passage
from demos.training.service.background import Changes
from demos.widgets.run_controller.run_controller import RunChoices, RunController
from demos.widgets.seed_box.seed_box import seed_choice

MANY = 100  # steps
RATES = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3)]
PARAGRAPHS = read_beside(__file__, "paragraphs.txt")
BEGINNING = ("text", "learn_rate", "learn_batch", "learn_seed", "untrained")  # of a copy, beside the model
NO_STEP = "There has been no training step yet. The dot is the loss on the first batch, before training."
OTHER_COPY = (
    "There has been no training step with these settings. To see a model that you trained, choose the settings of its "
    "training."
)
# A page that was loaded again begins with our paragraphs, and is given back the text that its copy is trained on.
RELOADED = f"""(said, text, untrained) =>
    said && text === {json.dumps(PARAGRAPHS)} ? JSON.parse(said) : [text, untrained]"""


def runs(services: Services) -> RunController:
    """The part's presses, for all its readers."""
    learning = services.shared(Learning)

    def work(run: str, reader: str, on: On, c: TrainLive.Choices) -> Iterator[Changes]:
        said = json.dumps([c.text, c.untrained])
        for changes in learning.press(run, lambda: situation_of(on, c), c.ran, c.steps):
            yield {"trained_on": said, **changes}

    return RunController(services.trainings, "learn", work, press_buttons)


class TrainLive(View):
    tab, order, reads_sentence = "Train live", 5, False
    look = (
        "This is pre-training on a small scale. Each step corrupts the text, predicts the masked words, computes the "
        "loss and changes every weight a little. Train a hundred steps on your own text and see how the predictions "
        "change. The second curve shows the same steps from random weights."
    )

    @dataclass(frozen=True)
    class Choices(RunChoices):
        learn_rate: float = menu(RATES, 1e-4, "Learning rate", min_width=110)
        learn_batch: int = slider(*BATCHES, 8, "Batch size (sequences)", min_width=130)
        learn_seed: int = seed_choice(0, min_width=80)
        text: str = unlinked(PARAGRAPHS, redraws=True, by_script=True)  # by RELOADED
        untrained: bool = unlinked(True, redraws=True, by_script=True)
        steps: int = unlinked(1)  # of a press
        ran: Ran | None = unlinked(None, redraws=True)

    def lay_out(self, at: Layout) -> None:
        learning = at.page.services.shared(Learning)
        with gr.Row(elem_classes="learn-top"):
            with gr.Column(scale=5, min_width=320):
                at["curve"] = loss_curve(learning.news, elem_id="pretraining-learn-curve", elem_classes="picture")
                at["step"] = gr.HTML("", elem_id="pretraining-learn-step")
                at["guesses"] = gr.HTML("", elem_id="pretraining-learn-asked")
            with gr.Column(scale=3, min_width=300):
                buttons = self._controls(at)
                at.look()
        with gr.Column(visible=False, elem_id="pretraining-learn-after") as after:
            with gr.Row():
                with gr.Column(scale=2, min_width=320):
                    gr.HTML(TEXT.gradient_heading(), elem_classes="said")
                    at.plot("gradient", "Norm of the gradient by layer")
                with gr.Column(scale=3, min_width=320):
                    at["rows"] = gr.HTML("", elem_id="pretraining-learn-told")
                    at.plot("moved", "Change of the word embeddings")
            at["top"] = gr.HTML("", elem_id="pretraining-learn-top")
        at["after"] = after
        with fold(__file__, "step_reads", "The batch of this step"):
            at["batch"] = gr.HTML("", elem_id="pretraining-learn-batch")
        with fold(__file__, "original_run", "BERT's own pre-training, on this server"):
            at["original"] = gr.HTML("", elem_id="pretraining-learn-original")
        at.folds("The first step, with transformers")
        self._wire(at, buttons)

    def _controls(self, at: Layout) -> dict[str, gr.Component]:
        """The buttons, the text, the recipe."""
        with gr.Row():
            one_step = gr.Button("One step", variant="primary", min_width=120, elem_id="pretraining-learn-one")
            many = gr.Button("A hundred steps", variant="primary", min_width=160, elem_id="pretraining-learn-many")
        with gr.Row():
            stop = gr.Button("Stop", interactive=False, min_width=100, elem_id="pretraining-learn-stop")
            fresh = gr.Button("Start over", min_width=120, elem_id="pretraining-learn-fresh")
        at["cost"] = gr.HTML("", elem_id="pretraining-learn-cost")
        text = gr.Textbox(
            PARAGRAPHS,
            label="Text to train on",
            info=f"Up to {MAX_CHARACTERS:,} characters.",
            lines=7,
            max_lines=9,
            elem_id="pretraining-learn-text",
        )
        at.hold("text", text)
        at["cut"] = gr.HTML("", elem_id="pretraining-learn-cut")
        with at.all_controls():
            for name in ("learn_rate", "learn_batch", "learn_seed"):
                at.control(name)
            at.hold("untrained", gr.Checkbox(True, label="Also train the same model from random weights"))
        return {"one": one_step, "many": many, "stop": stop, "fresh": fresh}

    def _wire(self, at: Layout, buttons: dict[str, gr.Component]) -> None:
        """The buttons, and what a reloaded page is given back."""
        page, text, untrained = at.page, at.controls["text"], at.controls["untrained"]
        at.hold("steps"), at.hold("ran")
        trained_on = buttons["trained_on"] = gr.Textbox("", visible="hidden")
        starts = {"one": {"steps": 1}, "many": {"steps": MANY}}
        page.services.shared(runs).wire(at, buttons, ("steps", "ran", *BEGINNING), CHANGED, starts)
        trained_on.change(None, [trained_on, text, untrained], [text, untrained], js=RELOADED, **IN_BROWSER)
        changed = {"ran": at.controls["ran"], "curve": at["curve"]}
        at.answers(buttons["fresh"].click, start_over, changed, show_progress="hidden")

    @drawn()
    def draw(self, on: On, c: Choices) -> Shown:
        """The part before the first step; or, for what the reader's copy is trained on, after its last one."""
        situation, learning = situation_of(on, c), on.services.shared(Learning)
        ran = c.ran if c.ran and c.ran.situation == situation else None
        seen = ran.shown if ran else learning.opening(situation, OTHER_COPY if c.ran else NO_STEP)
        shown = {**seen, "cut": learning.cut(situation)}
        if c.run or on.services.shared(runs).is_elsewhere(c.reader, c.begun):
            del shown["curve"]
        return shown

    @drawn("program", by=BEGINNING)
    def program(self, on: On, c: Choices) -> Shown:
        """The first step as a program."""
        return {"program": on.services.shared(Learning).program(situation_of(on, c))}


def situation_of(on: On, c: TrainLive.Choices) -> Situation:
    """The model, text and recipe of a copy with these choices. Raises UserError for a text without a word."""
    recipe = Recipe(c.learn_rate, c.learn_batch, c.learn_seed, bool(c.untrained)).check()
    key = on.services.key(on.sentence.model)
    return Situation(key, read_passage(on.services.pretrained(key).tokenizer, c.text), recipe)


def start_over(on: On, c: TrainLive.Choices) -> Shown:
    """Drop the reader's copy."""
    learning = on.services.shared(Learning)
    if c.ran:
        learning.presses.copies.discard(c.ran.copy)
    on.services.shared(runs).forget(c.reader)
    return {"ran": None, "curve": learning.opening(situation_of(on, c), NO_STEP)["curve"]}


def answer(services: Services, sentence: Sentence) -> Answer:
    """ln V of the reader's model."""
    size = services.loaded(sentence.model).model.config.vocab_size
    loss = math.log(size)
    mistakes = {"zero": 0.0, "one": 1.0, "half": math.log(2)}
    return Answer(number=loss, facts={"vocabulary": f"{size:,}", "loss": loss}, mistakes=mistakes)
