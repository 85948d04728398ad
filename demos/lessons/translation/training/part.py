"""Train live: a translator from random weights, its curve, and the alignment that appears."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.bert.translation.bundled import bundled
from demos.bert.translation.tasks import DATES, FRENCH, TASKS
from demos.bert.translation.timing import measure
from demos.bert.translation.translators import KINDS as ALL_KINDS
from demos.bert.translation.translators import TRANSFORMER
from demos.errors import UserError
from demos.lessons.translation.training.controller import CHANGED, Trainer, idle, waits
from demos.lessons.translation.training.figure_times import times_figure, times_summary
from demos.lessons.translation.training.program import training_code
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence
from demos.training.form_values import NO_NUMBER
from demos.training.translation.training import FEWEST_STEPS, MOST_STEPS, Plan
from demos.widgets.live_curve.live_curve import live_curve
from demos.widgets.run_controller.run_controller import RunController, guarded
from demos.widgets.seed_box.seed_box import seed_box

KINDS = [
    ("GRU, attention", "additive"),
    ("GRU, no attention: one vector for the sentence", "none"),
    ("GRU, attention, dot product", "dot"),
    ("the Transformer", TRANSFORMER),
]
WHAT = [("English to French", FRENCH), ("dates in words to digits", DATES)]


def build(page: Page) -> None:
    """The alignment and the curve beside the choices; the runs so far; the folds."""
    trainer = Trainer(page.services)
    parts: dict[str, Any] = {**RunController.states(), "ran": gr.State(())}
    with gr.Row():
        with gr.Column(scale=5, min_width=320):
            parts["plot"] = gr.Plot(
                label="Attention weights while it learns", show_label=False, elem_id="translation-learned",
                elem_classes="picture",
            )  # fmt: skip
            parts["says"] = gr.HTML("", elem_id="translation-says", elem_classes="said")
        with gr.Column(scale=4, min_width=320):
            task = gr.Radio(WHAT, value=FRENCH, label="Translation task", elem_id="translation-task")
            score = gr.Radio(KINDS, value="additive", label="Translator", elem_id="translation-score")
            with gr.Row():
                parts["start"] = gr.Button("Start", variant="primary", elem_id="translation-start", min_width=110)
                parts["stop"] = gr.Button("Stop early", interactive=False, elem_id="translation-stop", min_width=110)
            page.show_look()
            parts["curve"] = live_curve(trainer.feeds.news, elem_id="translation-curve")
            with all_controls(page, __file__), gr.Row():
                steps = gr.Slider(FEWEST_STEPS, MOST_STEPS, value=500, step=25, label="Steps (64 sentences each)")
                seed = seed_box(1)
    parts["runs"] = gr.HTML("", elem_id="translation-runs")
    parts["curves"] = gr.Plot(None, label="Your runs side by side", show_label=False, elem_id="translation-curves")
    parts["waits"] = gr.HTML("", elem_id="translation-waits", elem_classes="said")
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
    parts["numbers"], parts["program"] = folds(__file__, "The training loop, with torch alone")
    page.keep(translator=score, translator_steps=steps, translator_seed=seed, translated=task)
    chosen = [score, steps, seed, task]

    def show(_: Sentence, reader: str, begun: str, run: str, ran: Any, *values: Any) -> dict[str, Any]:
        """The part before a run; while one is under way or drawn, only what no run draws."""
        plan = read_plan(*values)
        fixed = {"program": lambda: training_code(plan), "waits": waits(plan.task)}
        if run or ran or controller.is_elsewhere(reader, begun):
            return fixed
        return fixed | idle(plan.task)

    def work(run: str, reader: str, ran: Any, *values: Any) -> Iterator[dict[str, Any]]:
        def changes() -> Iterator[dict[str, Any]]:
            yield from trainer.train(run, read_plan(*values), tuple(ran or ()))

        return guarded(changes(), trainer.failed)

    controller = RunController(page.services.trainings, "translation", work)
    shown = ["plot", "says", "curve", "runs", "curves", "numbers", "waits", "program"]
    page.draw(
        by_component(parts, show), [page.reader, parts["begun"], parts["run"], parts["ran"], *chosen],
        [parts[name] for name in shown], triggers=[task.input, score.input, steps.change, seed.change],
        show_progress="hidden",
    )  # fmt: skip
    page.on(
        [timed.click],
        lambda: dict(zip((times, plot), time_both(), strict=True)),
        [],
        [times, plot],
        concurrency_id="time",  # alone, so that two readers do not time each other
        concurrency_limit=1,
        trigger_mode="once",
    )
    controller.wire(page, parts, [(parts["start"].click, {})], [parts["ran"], *chosen], CHANGED)


def time_both() -> tuple[str, Any]:
    """The measured times of the GRU with attention and of the Transformer: in words, and as lines."""
    measured = measure({"GRU with attention": bundled("additive"), "Transformer": bundled(TRANSFORMER)})
    return times_summary(measured), gr.update(value=times_figure(measured), visible=True)


def read_plan(score: Any, steps: Any, seed: Any, task: Any = FRENCH) -> Plan:
    """The controls' values. Raises UserError where one is out of bounds."""
    try:
        kind, what = score if score in ALL_KINDS else "additive", task if task in TASKS else FRENCH
        return Plan(kind, int(steps), int(seed), what).check()
    except (TypeError, ValueError, OverflowError) as error:
        raise error if isinstance(error, UserError) else UserError(NO_NUMBER) from error


PART = Part(
    tab="Train live",
    look=(
        "A translator starts from random parameters and is trained on 64 sentence pairs per step. Click Start: at "
        "first, it writes nonsense and its attention is spread out; later, the largest weights are on the matching "
        "words. Then train the other models and compare."
    ),
    build=build,
    reads_sentence=False,
    order=1,
)
