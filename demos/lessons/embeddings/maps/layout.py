"""The layout of the part "Maps": its components, and the conditions under which they are visible."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import gradio as gr

from demos.bert.embeddings.maps import METHODS, PCA_MAP, TSNE_MAP
from demos.bert.model.models import LoadedModel
from demos.files import read_beside
from demos.lessons.embeddings.maps.data import (
    EMOTION,
    FILE,
    LAYERS,
    LIBRARY,
    MAX_LINES,
    SENTENCE,
    TOKEN,
    TOKEN_LINES,
    Answers,
    bundled,
)  # fmt: skip
from demos.lessons.embeddings.maps.text import NAMES
from demos.page.folds import all_controls, code_fold, fold, formula_fold, source_fold
from demos.page.lesson import Page
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.pooling_menus.pooling_menus import layer_menu, pooling_menus
from demos.widgets.scripted.scripted import scripted
from demos.widgets.seed_box.seed_box import seed_box
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

CHOSEN = "Is a tomato salad allowed to sit in the fridge?"  # cooking, but some of its nearest are the garden's
CHOSEN_TOKEN = 2  # "bank" in the first line
PLOT, LIST = "maps-plot", "maps-list"
SOURCES = [("320 sentences, 10 topics", LIBRARY), ("720 sentences, 6 emotions", EMOTION), ("a file", FILE)]
KINDS = [("a sentence", SENTENCE), ("a token, one layer", TOKEN), ("a token, every layer", LAYERS)]
INPUTS = tuple(field.name for field in fields(Answers))
SIDES = ("file", "for_sentences", "for_tokens", "nearby", "seed", "pooling", "layer")  # not always seen
KEPT = {
    "map_method": "method", "map_axes": "axes", "map_neighbours": "nearby", "map_seed": "seed", "map_of": "kind",
    "map_pooling": "pooling", "map_layer": "layer", "map_sentences": "source", "map_own": "own", "map_bar": "bar",
    "map_lines": "lines", "map_point": "picked", "map_token": "picked_token",
}  # fmt: skip


def laid_out(page: Page) -> dict[str, Any]:
    """Make the components, in their order on the page: name -> component."""
    parts: dict[str, Any] = {}
    library = bundled(LIBRARY).sentences
    with gr.Row(elem_classes="maps"):
        with gr.Column(min_width=270, elem_classes="maps-controls"):
            methods = [(NAMES[method], method) for method in METHODS]
            parts["method"] = gr.Radio(methods, value=TSNE_MAP, label="Map", elem_id="maps-method")
            parts["pooling"], parts["layer"] = pooling_menus(page.services)
            page.show_look()
        with gr.Column(min_width=480, elem_classes=["maps-picture", "picture"]):
            parts["plot"] = gr.Plot(show_label=False, label="Map of the vectors", elem_id=PLOT)
            parts["status"] = gr.HTML("", elem_id="maps-status", elem_classes="said")
            parts["told"] = gr.HTML(elem_classes="said maps-told")
            with takeaway_row("Download the map:"):
                picture_buttons(f"#{PLOT}", "bert-map-{map}", page, inputs={"map": parts["method"]})
        with gr.Column(min_width=320, elem_classes="maps-list"):
            parts["find"] = gr.Textbox("", label="Find a point (type a few letters)", max_lines=1, elem_id="maps-find")
            parts["list"] = scripted(read_beside(__file__, "script.js"), LIST, "", plot=PLOT)
            parts["drawn"] = gr.Textbox("0", visible="hidden")  # changes when a map is ready
            parts["picked"] = gr.Number(library.index(CHOSEN), precision=0, minimum=-1, visible="hidden")
            parts["picked_token"] = gr.Number(CHOSEN_TOKEN, precision=0, minimum=-1, visible="hidden")
    with all_controls(page, __file__):
        with gr.Row():
            parts["kind"] = gr.Radio(KINDS, value=SENTENCE, label="Each point is", elem_id="maps-kind")
            parts["axes"] = gr.Radio([("2-D", 2), ("3-D", 3)], value=2, label="Axes", elem_id="maps-axes")
            parts["nearby"] = gr.Slider(
                2, 100, value=30, step=1, label="Neighbours", elem_id="maps-nearby",
                info="perplexity (t-SNE), n_neighbors (UMAP)",
            )  # fmt: skip
            parts["seed"] = seed_box(
                maximum=9_999, elem_id="maps-seed",
                info="0 starts from the PCA map, other seeds from random positions",
            )  # fmt: skip
        with gr.Row(elem_classes="maps-sentences") as parts["for_sentences"]:
            parts["source"] = gr.Radio(SOURCES, value=LIBRARY, label="Sentences", elem_id="maps-source")
            parts["file"] = file_picker(
                "TXT (one sentence per line), CSV, Excel or JSON with a topic or label column; up to 2,000 sentences",
                height=120, visible=False, elem_id="maps-file",
            )  # fmt: skip
            parts["own"] = gr.Textbox(
                "", label="Add your own sentences, one per line (◆)", lines=2, max_lines=6, elem_id="maps-own",
                placeholder="The moon looks like a pizza tonight.",
            )  # fmt: skip
            parts["bar"] = gr.Checkbox(False, label="Add the sentence from the top of the page (◆)", elem_id="maps-bar")
        with gr.Row(visible=False) as parts["for_tokens"]:
            parts["lines"] = gr.Textbox(
                TOKEN_LINES, label=f"Sentences, one per line (at most {MAX_LINES})", lines=6, max_lines=12,
                elem_id="maps-lines",
            )  # fmt: skip
    with fold(__file__, "numbers", "The numbers"):
        parts["measure"] = gr.Button("Compute and measure all three maps", size="sm", elem_id="maps-measure")
        parts["numbers"] = gr.HTML()
    formula_fold(__file__)
    parts["code"] = code_fold(__file__, "Prints the quality measures of this map")
    source_fold(__file__)
    return parts


def menus_shown(answers: Answers, loaded: LoadedModel) -> dict[str, Any]:
    """The updates of controls that hide: a map of tokens needs no pooling, PCA neither neighbors nor seed."""
    sentences, chance = answers.kind == SENTENCE, answers.method != PCA_MAP
    seen = {
        "file": sentences and answers.source == FILE,
        "for_sentences": sentences,
        "for_tokens": not sentences,
        "nearby": chance,
        "seed": chance,
        "pooling": sentences,
    }
    updates = {name: gr.update(visible=visible) for name, visible in seen.items()}
    return updates | {"layer": layer_menu(loaded, answers.layer) | {"visible": answers.kind != LAYERS}}
