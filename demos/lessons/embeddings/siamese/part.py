"""Train on pairs: a training in the style of Sentence-BERT, and the agreement with people before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.agreement import scores_of
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosine_heatmap import short
from demos.lessons.embeddings.siamese.controller import (
    AXES,
    CHANGED,
    PairTrainer,
    Situation,
    before_scores,
    failed,
    most_wrong,
    read_pair_settings,
)
from demos.lessons.embeddings.siamese.figure import scatter_figure, spread_figure
from demos.lessons.embeddings.siamese.program import siamese_code
from demos.lessons.embeddings.siamese.text import TEXT, data_html
from demos.page.folds import all_controls, fold, formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part
from demos.page.progress import HEAVY, relayed
from demos.training.data.rated_pairs import HUB, MAX_PAIRS, OWN, UPLOAD, read_data
from demos.training.tasks.siamese.data import PairDataset, our_split, split_pairs
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.live_curve.live_curve import live_curve
from demos.widgets.run_controller.run_controller import RunController, cpu_button, guarded
from demos.widgets.seed_box.seed_box import seed_box

Changes = dict[gr.Component, Any]
BAR = -1  # in the menu of pairs: the sentence bar's own two
BARS_OWN = ("the two sentences from the top of the page", BAR)
SHOWN = ("situation", "cosines", "data", "code", "scores", "scatter", "pair", "towers", "spread", "after", "curve")
LISTED = 40  # held-out pairs in the menu, the most misjudged first
RATES = [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4]
QUIET: dict[str, Any] = {**HEAVY, "show_progress": "hidden"}
IDLE = {
    **AXES, "run": "", "done": True, "steps": [], "looks": [],
    "status": "Nothing has been trained yet; click Start and watch the gray points move.",
}  # fmt: skip
NO_PAIR = "Write a second sentence at the top of the page, or choose a held-out pair."


def build(page: Page) -> None:
    """The recipe beside scores, scatter and curve; the two towers; what moved; the folds."""
    trainer = PairTrainer(page.services)
    parts: dict[str, Any] = {
        **RunController.states(),
        "kept": gr.State(""),
        "situation": gr.State(""),
        "cosines": gr.State(None),  # of the held-out pairs, before and after, as they are drawn
    }
    with gr.Row(elem_classes="controls-first"):
        with gr.Column(scale=2, min_width=300):
            parts |= _recipe(page)
            page.show_look()
        with gr.Column(scale=5, min_width=320):
            parts |= _pictures(trainer)
    with gr.Row():
        with gr.Column(scale=4, min_width=320):
            gr.HTML(TEXT.towers_heading(), elem_classes="said")
            parts["pair"] = gr.Dropdown(
                [BARS_OWN],
                value=None,
                label="Held-out pair (largest errors first)",
                filterable=False,
                elem_id="embeddings-siamese-pair",
            )
            parts["towers"] = gr.HTML(elem_id="embeddings-siamese-towers")
        with gr.Column(scale=3, min_width=320):
            gr.HTML(TEXT.spread_heading(), elem_classes="said")
            parts["spread"] = gr.Plot(label="Cosines of the held-out pairs", show_label=False)
    with gr.Column(visible=False, elem_id="embeddings-siamese-after") as after:
        parts["moved"] = gr.HTML()
    parts["after"] = after
    with fold(__file__, "numbers", "The numbers"):
        parts["numbers"] = gr.HTML(TEXT.no_numbers())
    formula_fold(__file__)
    with fold(__file__, "code", "The code"):
        gr.Markdown(
            "The same training, using only torch and transformers. Run it in the project’s folder or next to your "
            "file; on a CPU, it prints the same two values of ρ as this page, up to rounding."
        )
        parts["code"] = gr.Code(language="python", interactive=False, show_label=False)
    source_fold(__file__)
    _wire(page, trainer, parts)
    page.keep(
        siamese_pooling=parts["pooling"],
        siamese_start=parts["begin"],
        siamese_rate=parts["rate"],
        siamese_epochs=parts["epochs"],
        siamese_batch=parts["batch"],
        siamese_seed=parts["seed"],
    )


def _recipe(page: Page) -> dict[str, Any]:
    """The controls of the model, the data and the recipe."""
    poolings = [("[CLS]", "cls"), ("mean", "mean"), ("max", "max")]
    pooling = gr.Radio(poolings, value="cls", label="Pooling: which vector represents the sentence")
    starts = [("the pre-trained model", "trained"), ("random layers (untrained)", "random")]
    epochs = gr.Slider(1, 10, 3, step=1, label="Epochs")
    with gr.Row():
        start = gr.Button("Start", variant="primary", elem_id="embeddings-siamese-start", min_width=110)
        stop = gr.Button("Stop early", interactive=False, elem_id="embeddings-siamese-stop", min_width=110)
    with all_controls(page, __file__):
        sources = [
            ("this app's own pairs", OWN),
            ("STS-B, or your own, from a file", UPLOAD),
            ("STS-B from the Hub", HUB),
        ]
        begin = gr.Radio(starts, value="trained", label="Start from")
        source = gr.Radio(sources, value=OWN, label="Sentence pairs and their ratings")
        kinds = f"CSV, Excel or JSON: sentence1, sentence2, score (at most {MAX_PAIRS:,} pairs)"
        file = file_picker(kinds, height=110, visible=False)
        with gr.Row():
            rates = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in RATES]
            rate = gr.Dropdown(rates, value=5e-5, label="Learning rate", filterable=False, min_width=110)
            batch = gr.Slider(4, 64, 16, step=4, label="Batch size (pairs)", min_width=140)
            seed = seed_box(label="Seed: split and order", min_width=140)
    data = gr.HTML()
    return {
        "pooling": pooling, "begin": begin, "epochs": epochs, "rate": rate, "start": start, "stop": stop,
        "source": source, "file": file, "batch": batch, "seed": seed, "data": data,
    }  # fmt: skip


def _pictures(trainer: PairTrainer) -> dict[str, Any]:
    """Scores, the scatter, the live curve."""
    with gr.Row():
        with gr.Column(min_width=320):
            scatter = gr.Plot(
                label="Cosine against rating of the held-out pairs",
                show_label=False,
                elem_id="embeddings-siamese-scatter",
                elem_classes="picture",
            )
        with gr.Column(min_width=320):
            curve = live_curve(trainer.feeds.news, elem_id="embeddings-siamese-curve")
            on_cpu = cpu_button(elem_id="embeddings-siamese-on-cpu")
    scores = gr.HTML(elem_classes="said", elem_id="embeddings-siamese-scores")
    return {"scores": scores, "scatter": scatter, "curve": curve, "on_cpu": on_cpu}


def read_split(source: str, file: str | None, seed: int) -> PairDataset:
    """The data menu's pairs, split by the seed. Raises UserError where there are none to be had."""
    return our_split(seed) if source == OWN else split_pairs(read_data(source, file), seed)


def _wire(page: Page, trainer: PairTrainer, parts: dict[str, Any]) -> None:
    chosen = [parts[name] for name in ("source", "file", "pooling", "begin", "rate", "epochs", "batch", "seed")]

    def situation_of(model: str, source: str, file: str | None, *recipe: Any) -> Situation:
        settings = read_pair_settings(*recipe)
        return Situation(page.services.pretrained_key(model), read_split(source, file, settings.seed), settings)

    def named(**changes: Any) -> Changes:
        return {parts[name]: value for name, value in changes.items()}

    def show(
        text: str, pair: str, model: str, reader: str, begun: str, run: str, before: str, source: str, *rest: Any
    ) -> Iterator[Changes]:
        """The pairs before any training; where this situation is the one on the page already, only its program."""
        try:
            situation = situation_of(model, source, *rest)
            dataset, settings = situation.dataset, situation.settings
            about = {
                "data": data_html(dataset, settings.start, source == OWN, situation.key == BUNDLED),
                "code": siamese_code(page.services.store.spec(situation.key), dataset, settings),
            }
            if situation.name == before or controller.is_elsewhere(reader, begun):
                yield named(**about)
                return
            controller.forget(reader)
            cosines = yield from relayed(trainer.before(situation), lambda step: named(scores=TEXT.progress(step)))
        except UserError:
            yield named(scores="")  # the line of progress must not stay; the sentence is above it
            raise
        worst, before_training = most_wrong(dataset, cosines), cosines.tolist()
        yield named(
            **about,
            situation=situation.name,
            cosines=(before_training, None),
            scores=before_scores(dataset, cosines),
            scatter=scatter_figure(dataset.held_out, dataset.top, before_training, None, worst),
            pair=gr.update(choices=[*_menu(dataset, cosines), BARS_OWN], value=worst),
            towers=trainer.rated_towers(situation, "", worst),
            spread=spread_figure(before_training, None),
            after=gr.update(visible=False),
            **({} if run else {"curve": json.dumps(IDLE)}),
        )

    def show_pair(
        text: str, pair: str, model: str, index: Any, finished_run: str, before: str, cosines: Any, *rest: Any
    ) -> Changes:
        """The picked pair through both towers; the trained ones only if they belong to the current settings."""
        situation = situation_of(model, *rest)
        drawn = bool(cosines) and situation.name == before
        trained = finished_run if drawn and cosines[1] else ""
        dataset = situation.dataset
        if index == BAR:
            texts = (clean_text(text, "The sentence").strip(), clean_text(pair, "The second sentence").strip())
            if not all(texts):
                raise UserError(NO_PAIR)
            changes = named(towers=trainer.towers(situation, trained, texts, None))
        else:
            index = clamp(index, len(dataset.held_out))
            changes = named(towers=trainer.rated_towers(situation, trained, index))
        if drawn:
            changes |= named(scatter=scatter_figure(dataset.held_out, dataset.top, cosines[0], cosines[1], index))
        return changes

    def show_own(text: str, pair: str, model: str, index: Any, *rest: Any) -> Changes:
        """The sentence bar's two have changed."""
        if index != BAR or not (text or "").strip() or not (pair or "").strip():
            return {}
        return show_pair(text, pair, model, index, *rest)

    def work(
        run: str,
        reader: str,
        text: str,
        pair: str,
        model: str,
        finished_run: str,
        index: Any,
        *rest: Any,
        on_cpu: bool = False,
    ) -> Any:
        def changes() -> Iterator[dict[str, Any]]:
            chosen = BAR if index is None else int(index)
            yield from trainer.train(run, situation_of(model, *rest), finished_run, chosen, on_cpu)

        return guarded(changes(), failed)

    controller = RunController(page.services.trainings, "siamese", work)
    inputs = [*page.sentence, page.reader, parts["begun"], parts["run"], parts["situation"], *chosen]
    moved = [page.settled.change, parts["source"].input, parts["file"].change, parts["seed"].change]
    moved += [parts[name].input for name in ("pooling", "begin", "rate", "epochs", "batch")]
    page.on(moved, show, inputs, [parts[name] for name in SHOWN], trigger_mode="always_last", **QUIET)
    pair_inputs = [*page.sentence, parts["pair"], parts["kept"], parts["situation"], parts["cosines"], *chosen]
    drawn = [parts["towers"], parts["scatter"]]
    page.on([parts["pair"].input], show_pair, pair_inputs, drawn, **QUIET)
    page.on([page.settled.change], show_own, pair_inputs, drawn, trigger_mode="always_last", **QUIET)
    run_inputs = [*page.sentence, parts["kept"], parts["pair"], *chosen]
    controller.wire(page, parts, [(parts["start"].click, {})], run_inputs, CHANGED)
    parts["source"].change(
        None, [parts["source"]], [parts["file"]],
        js=f"(source) => ({{ __type__: 'update', visible: source === '{UPLOAD}' }})",
        show_progress="hidden", api_visibility="private",
    )  # fmt: skip


def _menu(dataset: PairDataset, cosines: np.ndarray) -> list[tuple[str, int]]:
    """The held-out pairs to choose from, the most misjudged first."""
    off = np.abs(cosines - scores_of(dataset.held_out) / dataset.top)
    listed = [(int(row), dataset.held_out[row]) for row in (-off).argsort(kind="stable")[:LISTED]]
    return [(f"{short(pair.first, 70)} / {short(pair.second, 70)}", row) for row, pair in listed]


PART = Part(
    tab="Train on pairs",
    look="Both sentences are processed by the same encoder, and training moves the cosine of their vectors towards "
    "the human rating. Click Start: the points move towards the dashed line. The correlation ρ on held-out pairs "
    "shows whether their order has improved.",
    build=build,
    order=7,
    only_bert=True,
)
