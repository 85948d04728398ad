"""Agreement with people: Spearman's correlation with human ratings for every pooling and layer, and what is "
"misjudged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.agreement import Agreement, misjudged, shared_steps
from demos.bert.embeddings.pooling import Choice, choices_of
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.figures.cosine_heatmap import tuned_for
from demos.files import read_beside
from demos.lessons.embeddings.agreement.figure import bars_figure, choice_row, scatter_figure
from demos.lessons.embeddings.agreement.program import agreement_code
from demos.lessons.embeddings.agreement.text import TEXT, misjudged_html, numbers_html, picked_html, said_html
from demos.page.folds import fold, formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import IN_BROWSER, Page, Part
from demos.page.progress import HEAVY, relayed
from demos.training.data.rated_pairs import HUB, MAX_PAIRS, OURS, OWN, UPLOAD, Rated, read_data
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.pooling_menus.pooling_menus import layer_menu, menu_values, pooling_menus, read_choice

Shown = dict[gr.Component, Any]
LISTED = 6  # pairs judged worst
KEPT_RESULTS = 12


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    results: OnceCache[Encoded, Agreement] = OnceCache(KEPT_RESULTS)

    bars = gr.Plot(
        label="Spearman’s ρ of every choice", show_label=False, elem_id="embeddings-agreement-bars",
        elem_classes="picture",
    )  # fmt: skip
    summary = gr.HTML(elem_classes="said")
    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            sources = [
                ("this app's own pairs", OWN),
                ("STS-B, or your own, from a file", UPLOAD),
                ("STS-B from the Hub", HUB),
            ]
            source = gr.Radio(sources, value=OWN, label="Sentence pairs and their ratings")
        with gr.Column(scale=2, min_width=320):
            file = file_picker(
                f"CSV, Excel or JSON: sentence1, sentence2, score (at most {MAX_PAIRS:,} pairs)",
                height=110, visible=False, elem_id="embeddings-agreement-file",
            )  # fmt: skip
            status = gr.HTML("", elem_id="embeddings-agreement-status")
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
    with fold(__file__, "numbers", "The numbers"):
        numbers = gr.HTML()
    formula_fold(__file__)
    with fold(__file__, "code", "The code"):
        prints = "Prints ρ for the selected choice; run it in the project’s folder or next to your file"
        code = gr.Code("", language="python", interactive=False, label=prints, lines=8)
        gr.DownloadButton("Download this app's pairs", value=str(OURS), size="sm")
    source_fold(__file__)
    outputs = [status, bars, summary, heading, scatter, worst, numbers, code, pooling, layer]

    def drawn(loaded: LoadedModel, data: Rated, ours: bool, agreement: Agreement, choice: Choice) -> Shown:
        """The pictures and words of one result and one picked choice."""
        deepest, width = loaded.model.config.num_hidden_layers, loaded.model.config.hidden_size
        row = choice_row(agreement.choices, choice)
        model, people = misjudged(agreement.cosines[row], agreement.scores)
        off = np.abs(model - people)
        marked = [int(index) for index in np.argsort(-off, kind="stable")[:LISTED] if off[index] > 0]
        return {
            status: TEXT.read_as(data.read_as.note) if data.read_as else "",
            bars: bars_figure(agreement, row, deepest),
            summary: said_html(agreement, deepest, tuned_for(loaded.spec), ours, loaded.spec.key == BUNDLED),
            heading: picked_html(agreement, row, deepest),
            scatter: scatter_figure(agreement, row, marked),
            worst: misjudged_html(agreement, row, marked, model, people),
            numbers: numbers_html(agreement, row, deepest, width),
            code: agreement_code(loaded.spec, agreement.choices[row], data.name, data.form),
        }

    def show(
        text: str, pair: str, model: str, where: str, path: str | None, pooling_key: str, layer_key: str
    ) -> Iterator[Shown]:
        try:
            loaded = services.loaded(model)
            choice = read_choice(loaded, pooling_key, layer_key)
            if where == HUB:
                yield {status: TEXT.fetching()}
            data = read_data(where, path)
            steps = shared_steps(results, services.vectors, loaded, data.pairs)
            agreement = yield from relayed(steps, lambda step: {status: TEXT.progress(step)})
        except UserError:
            yield {status: ""}  # the line of progress must not stay; the sentence is above it
            raise
        yield drawn(loaded, data, where == OWN, agreement, choice) | {layer: layer_menu(loaded, layer_key)}

    def show_clicked(text: str, pair: str, model: str, where: str, path: str | None, index: float) -> Iterator[Shown]:
        loaded = services.loaded(model)
        offered = choices_of(loaded)
        keys = menu_values(offered[clamp(index, len(offered))], loaded.model.config.num_hidden_layers)
        menus = {menu: gr.update(value=key) for menu, key in zip((pooling, layer), keys, strict=True)}
        for values in show(text, pair, model, where, path, *keys):
            yield values | menus

    heavy: dict[str, Any] = {**HEAVY, "trigger_mode": "always_last", "show_progress": "hidden"}
    moved = [page.settled.change, source.input, file.upload, pooling.input, layer.input]
    unread = (page.text, page.text_pair)
    page.on(moved, show, [*page.sentence, source, file, pooling, layer], outputs, unread=unread, **heavy)
    page.on([index.change], show_clicked, [*page.sentence, source, file, index], outputs, **heavy)
    source.change(
        None,
        [source],
        [file],
        js=f"(source) => ({{ __type__: 'update', visible: source === '{UPLOAD}' }})",
        show_progress="hidden",
        api_visibility="private",
    )
    clicked.select(None, None, [index], js="() => insideBert.picked['embeddings-agreement']()", **IN_BROWSER)
    page.keep(agreement_data=source, agreement_pooling=pooling, agreement_layer=layer)


PART = Part(
    tab="Agreement with people",
    look="The two sentences of each pair were rated for how similar their meanings are. Each bar is a rank "
    "correlation: do the cosines put the pairs in the same order as the ratings? 1 means the same order, 0 means no "
    "relation. Compare [CLS] across the layers.",
    build=build,
    reads_sentence=False,
    order=2,
)
