"""Train live: a translator from random weights, its curve, and the alignment that appears."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.bert.translation.bundled import bundled, right
from demos.bert.translation.grammar import held_out
from demos.bert.translation.tasks import DATES, FRENCH
from demos.bert.translation.timing import measure
from demos.bert.translation.translators import TRANSFORMER
from demos.lessons.translation.training.controller import CHANGED, Ran, Trainer, idle, waits
from demos.lessons.translation.training.figure import times_figure, times_summary, training_code
from demos.page.lesson import Page
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, options, slider, unlinked
from demos.training.service.background import Changes
from demos.training.translation.training import FEWEST_STEPS, MOST_STEPS, Plan
from demos.widgets.live_curve.live_curve import live_curve
from demos.widgets.run_controller.run_controller import RunChoices, RunController, guarded
from demos.widgets.seed_box.seed_box import seed_choice

KINDS = [
    ("GRU, attention", "additive"),
    ("GRU, no attention: one vector for the sentence", "none"),
    ("GRU, attention, dot product", "dot"),
    ("the Transformer", TRANSFORMER),
]
WHAT = [("English to French", FRENCH), ("dates in words to digits", DATES)]
OF_A_RUN = ("ran", "translator", "translator_steps", "translator_seed", "translated")
SHORT, LONG = range(7), range(13, 100)  # English words


def runs(services: Services) -> RunController:
    """The part's runs, for all its readers."""
    trainer = services.shared(Trainer)

    def work(run: str, reader: str, on: On, c: Training.Choices) -> Iterator[Changes]:
        return guarded(lambda: trainer.train(run, plan_of(c), c.ran), trainer.failed)

    return RunController(services.trainings, "translation", work)


class Training(View):
    tab, order, reads_sentence = "Train live", 1, False
    look = (
        "A translator starts from random parameters and is trained on 64 sentence pairs per step. Click Start: at "
        "first, it writes nonsense and its attention is spread out; later, the largest weights are mostly on matching "
        "words. Then train the other models and compare."
    )

    @dataclass(frozen=True)
    class Choices(RunChoices):
        translated: str = options(WHAT, FRENCH, "Translation task", elem_id="translation-task")
        translator: str = options(KINDS, "additive", "Translator", elem_id="translation-score")
        translator_steps: int = slider(
            FEWEST_STEPS, MOST_STEPS, 500, "Steps (64 sentences each)", step=25, by_script=True
        )
        translator_seed: int = seed_choice(1, by_script=True)
        ran: tuple[Ran, ...] = unlinked(())

    def lay_out(self, at: Layout) -> None:
        page, buttons = at.page, {}
        with gr.Row():
            with gr.Column(scale=5, min_width=320):
                at.plot(
                    "plot", "Attention weights while it learns", elem_id="translation-learned", elem_classes="picture"
                )
                at["says"] = gr.HTML("", elem_id="translation-says", elem_classes="said")
            with gr.Column(scale=4, min_width=320):
                at.control("translated")
                at.control("translator")
                with gr.Row():
                    buttons["start"] = gr.Button("Start", variant="primary", elem_id="translation-start", min_width=110)
                    buttons["stop"] = gr.Button(
                        "Stop early", interactive=False, elem_id="translation-stop", min_width=110
                    )
                at.look()
                at["curve"] = live_curve(page.services.shared(Trainer).feeds.news, elem_id="translation-curve")
                with at.all_controls(), gr.Row():
                    at.control("translator_steps")
                    at.control("translator_seed")
        at["runs"] = gr.HTML("", elem_id="translation-runs")
        at.plot("curves", "Your runs side by side", elem_id="translation-curves")
        at["waits"] = gr.HTML("", elem_id="translation-waits", elem_classes="said")
        timing(page)
        at.folds("The training loop, with torch alone")
        at.hold("ran")
        page.services.shared(runs).wire(at, buttons, OF_A_RUN, CHANGED)

    def draw(self, on: On, c: Choices) -> Shown:
        """The part before a run; while one is under way or drawn, only what no run draws."""
        plan = plan_of(c)
        fixed = {"program": lambda: training_code(plan), "waits": waits(plan.task)}
        if c.run or c.ran or on.services.shared(runs).is_elsewhere(c.reader, c.begun):
            return fixed
        return fixed | idle(plan.task)


def timing(page: Page) -> None:
    """The button that times two translators on this server, and what it measured."""
    with gr.Row():
        timed = gr.Button(
            "Time the GRU and the Transformer on this server",
            size="md",
            elem_id="translation-time",
            scale=0,
            min_width=400,
        )
    times = gr.HTML("", elem_id="translation-times-told", elem_classes="said")
    plot = gr.Plot(label="Times of GRU and Transformer", show_label=False, visible=False, elem_id="translation-times")
    page.on(
        [timed.click],
        lambda: dict(zip((times, plot), time_both(), strict=True)),
        [],
        [times, plot],
        concurrency_id="time",  # alone, so that two readers do not time each other
        concurrency_limit=1,
        trigger_mode="once",
    )


def time_both() -> tuple[str, Any]:
    """The measured times of the GRU with attention and of the Transformer: in words, and as lines."""
    measured = measure({"GRU with attention": bundled("additive"), "Transformer": bundled(TRANSFORMER)})
    return times_summary(measured), gr.update(value=times_figure(measured), visible=True)


def plan_of(c: Training.Choices) -> Plan:
    """The run that is chosen."""
    return Plan(c.translator, c.translator_steps, c.translator_seed, c.translated).check()


def answer(services: Services, sentence: Sentence) -> Answer:
    """The shares of correct sentences, short and long."""
    facts: dict[str, object] = {"width": bundled("none").model.output.in_features}
    for name, score in (("with", "additive"), ("without", "none")):
        for length, words in (("short", SHORT), ("long", LONG)):
            pairs = zip(held_out(), right(score), strict=True)
            of_length = [is_right for pair, is_right in pairs if len(pair.source) in words]
            facts[f"{name}_{length}"] = sum(of_length) / len(of_length)
    return Answer(facts=facts)
