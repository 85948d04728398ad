"""Agrees with people?: Spearman's correlation with human ratings for every pooling and layer, and what is misjudged."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.agreement import Agreement, misjudged, shared_steps
from demos.bert.embeddings.pooling import POOLER, Choice, choices_of
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.bert.model.vectors import Encoded
from demos.errors import UserError
from demos.figures.cosines_text import tuned_for
from demos.files import read_beside
from demos.lessons.embeddings.agreement.figure import bars_figure, choice_row, scatter_figure
from demos.lessons.embeddings.agreement.program import agreement_code
from demos.lessons.embeddings.agreement.text import (
    about_html,
    best_html,
    gap_html,
    misjudged_html,
    nearly_same_html,
    numbers_html,
    picked_html,
)
from demos.page.choices import clamp
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part
from demos.training.data.pair_menu import FILES, HUB, OWN, UPLOAD, read_data
from demos.training.data.rated_pairs import MAX_PAIRS, OURS, Rated
from demos.widgets.pooling_menus.pooling_menus import LAST, layer_menu, pooling_menus, read_choice

LISTED = 6  # pairs judged worst
TOLD_SECONDS = 0.2  # between two lines of progress
KEPT_RESULTS = 12


def progress_html(step: Encoded) -> str:
    """How far the encoding is, in one line."""
    return f'<p role="status">Encoding {step.done:,} of {step.total:,} sentences, every layer of each …</p>'


def menus_of(choice: Choice, deepest: int) -> tuple[str, str]:
    """What the two menus must say to mean this choice."""
    named = {deepest: LAST, deepest - 1: "second_to_last"}
    layer = choice.layer if isinstance(choice.layer, str) else named.get(choice.layer, str(choice.layer))
    return choice.pooling, LAST if choice.pooling == POOLER else layer


def shown(loaded: LoadedModel, data: Rated, source: str, agreement: Agreement, choice: Choice) -> tuple[Any, ...]:
    """(bars, told, heading, scatter, worst list, numbers, code) for one result and one picked choice."""
    deepest, width = loaded.model.config.num_hidden_layers, loaded.model.config.hidden_size
    row = choice_row(agreement.choices, choice)
    model, people = misjudged(agreement.cosines[row], agreement.scores)
    off = np.abs(model - people)
    marked = [int(index) for index in np.argsort(-off, kind="stable")[:LISTED] if off[index] > 0]
    gaps = [gap_html(found, layer, deepest, layer != deepest) for layer, found in agreement.behind]
    for layer, _ in agreement.behind:
        gaps.append(nearly_same_html(agreement.cosines[choice_row(agreement.choices, Choice("cls", layer))], layer))
    told = best_html(agreement, deepest) + "".join(gaps)
    return (
        bars_figure(agreement, row, deepest),
        told
        + about_html(tuned_for(loaded.spec), len(agreement.pairs) if source == OWN else 0, loaded.spec.key == BUNDLED),
        picked_html(agreement, row, deepest),
        scatter_figure(agreement, row, marked),
        misjudged_html(agreement, row, marked, model, people),
        numbers_html(agreement, row, deepest, width),
        agreement_code(loaded.spec, agreement.choices[row], data.name, data.form),
    )


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    results: OnceCache[Encoded, Agreement] = OnceCache(KEPT_RESULTS)

    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            sources = [("our own pairs", OWN), ("STS-B, or your own, from a file", UPLOAD), ("STS-B from the Hub", HUB)]
            source = gr.Radio(sources, value=OWN, label="Sentence pairs and their ratings")
        with gr.Column(scale=2, min_width=320):
            file = gr.File(
                label=f"CSV, TSV or JSONL: sentence1, sentence2, score (at most {MAX_PAIRS:,} pairs)",
                file_types=FILES,
                height=110,
                visible=False,
                elem_id="embeddings-agreement-file",
            )
            status = gr.HTML("", elem_id="embeddings-agreement-status")
    bars = gr.Plot(label="Spearman’s ρ of every choice", show_label=False, elem_id="embeddings-agreement-bars")
    told = gr.HTML(elem_classes="said")
    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            with gr.Row():
                pooling, layer = pooling_menus(services)
            heading = gr.HTML(elem_classes="said")
            scatter = gr.Plot(label="Cosine against rating", show_label=False, elem_id="embeddings-agreement-scatter")
        with gr.Column(scale=2, min_width=320):
            worst = gr.HTML(elem_id="embeddings-agreement-worst")
    clicked = gr.HTML(
        "",
        html_template="",
        js_on_load=read_beside(__file__, "script.js"),
        apply_default_css=False,
        elem_id="embeddings-agreement-click",
        name="embeddings-agreement",
    )
    index = gr.Number(-1, precision=0, visible="hidden")
    with gr.Accordion("The numbers", open=False):
        numbers = gr.HTML()
    formula_fold(__file__)
    with gr.Accordion("The code", open=False):
        gr.Markdown("Prints the picked choice’s ρ, from the project’s folder or beside your file.")
        code = gr.Code(language="python", interactive=False, show_label=False)
        gr.DownloadButton("Our pairs as a file", value=str(OURS), size="sm")
    source_fold(__file__)
    outputs = [status, bars, told, heading, scatter, worst, numbers, code, pooling, layer]

    def show(
        text: str, pair: str, model: str, source: str, file: str | None, pooling: str, layer: str
    ) -> Iterator[list[Any]]:
        nothing = [gr.skip() for _ in outputs[1:]]
        try:
            loaded = services.loaded(model)
            choice = read_choice(loaded, pooling, layer)
            if source == HUB:
                yield ['<p role="status">Fetching STS-B from the Hugging Face Hub …</p>', *nothing]
            data = read_data(source, file)
            steps = shared_steps(results, services.vectors, loaded, data.pairs)
            agreement = yield from _told(steps, nothing)
        except UserError:
            yield ["", *nothing]  # the line of progress must not stay; the sentence stands above
            raise
        yield ["", *shown(loaded, data, source, agreement, choice), gr.skip(), layer_menu(loaded, layer)]

    def show_clicked(
        text: str, pair: str, model: str, source: str, file: str | None, index: float
    ) -> Iterator[list[Any]]:
        loaded = services.loaded(model)
        offered = choices_of(loaded)
        menus = menus_of(offered[clamp(index, len(offered))], loaded.model.config.num_hidden_layers)
        for *values, _, _ in show(text, pair, model, source, file, *menus):
            yield [*values, *[gr.update(value=value) for value in menus]]

    heavy: dict[str, Any] = {
        "trigger_mode": "always_last",
        "show_progress": "hidden",
        "concurrency_id": "vectors",
        "concurrency_limit": 2,
    }
    moved = [page.settled.change, source.input, file.upload, pooling.input, layer.input]
    page.on(moved, show, [*page.sentence, source, file, pooling, layer], outputs, **heavy)
    page.on([index.change], show_clicked, [*page.sentence, source, file, index], outputs, **heavy)
    source.change(
        None,
        [source],
        [file],
        js=f"(source) => ({{ __type__: 'update', visible: source === '{UPLOAD}' }})",
        show_progress="hidden",
        api_visibility="private",
    )
    clicked.select(
        None, None, [index], js="() => insideBert.picked['embeddings-agreement']()", show_progress="hidden",
        api_visibility="private", trigger_mode="multiple",
    )  # fmt: skip
    page.keep(agreement_data=source, agreement_pooling=pooling, agreement_layer=layer)


def _told(steps: Generator[Encoded, None, Agreement], nothing: list[Any]) -> Generator[list[Any], None, Agreement]:
    """The result of the steps; on the way, a line of progress a few times a second."""
    last = 0.0
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: Agreement = end.value
            return result
        if time.monotonic() - last > TOLD_SECONDS:
            last = time.monotonic()
            yield [progress_html(step), *nothing]


PART = Part(
    tab="Agrees with people?",
    look="Each bar asks one thing: does this vector put pairs of sentences in the order in which people put them, from "
    "nothing in common to the same meaning? 1 is the same order, 0 none; follow [CLS] from layer to layer.",
    build=build,
    order=2,
)
