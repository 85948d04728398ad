"""Shape of the space: mean cosines of unrelated vectors by layer, the dimensions behind them, and corrections."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.agreement import scores_of, sides_of
from demos.bert.embeddings.anisotropy_repairs import Repaired, repairs
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.embeddings.vector_space import CLS, MEAN, WORDS, Space, measure
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.lessons.embeddings.anisotropy.figure import (
    NAMES,
    cosines_figure,
    curve_figure,
    dimensions_figure,
    norms_figure,
    repairs_figure,
)  # fmt: skip
from demos.lessons.embeddings.anisotropy.program import shape_code
from demos.lessons.embeddings.anisotropy.text import TEXT, repairs_summary, repairs_table, space_summary, space_table
from demos.page.folds import code_fold, fold, formula_fold, source_fold
from demos.page.guards import notice_html
from demos.page.layer_head_choices import clamp, following, moving_slider, slider
from demos.page.lesson import Page, Part, moved_by_reader
from demos.page.progress import HEAVY, relayed
from demos.training.data.lists import our_library
from demos.training.data.rated_pairs import our_pairs

Shown = dict[gr.Component, Any]
SAMPLE = 200  # sentences that the space is measured on
FIRST_LAYER = 5  # what `most_alike` is for the bundled model; the first drawing picks anew for the model in use
KEPT_SPACES, KEPT_REPAIRS = 6, 48  # models; a model's layers


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    deepest = services.store.spec(services.default_model).num_layers
    first = min(FIRST_LAYER, deepest)
    spaces: OnceCache[Encoded, Space] = OnceCache(KEPT_SPACES)
    judged: OnceCache[Encoded, list[Repaired]] = OnceCache(KEPT_REPAIRS)

    with gr.Row():
        with gr.Column(scale=3, min_width=340):
            curve = gr.Plot(
                label="Mean cosine, layer by layer", show_label=False, elem_id="shape-curve", elem_classes="picture"
            )
        with gr.Column(scale=1, min_width=300):
            layer = moving_slider(0, deepest, first, label="Layer", elem_id="shape-layer")
            kind = gr.Radio([(name, key) for key, name in NAMES.items()], value=MEAN, label="Vectors of")
            summary = gr.HTML("", elem_classes="said shape-told", elem_id="shape-told")
            page.show_look()
            sampled, doing = gr.HTML("", elem_classes="said"), gr.HTML("", elem_classes="said")
    with gr.Row():
        with gr.Column(min_width=340):
            cosines = headed_plot(TEXT.cosines_heading(), "shape-cosines")
        with gr.Column(min_width=340):
            dimensions = headed_plot(TEXT.dimensions_heading(), "shape-dimensions")
    with gr.Row():
        with gr.Column(min_width=340):
            scores = headed_plot(TEXT.repairs_heading(), "shape-repairs")
            worth = gr.HTML("", elem_classes="said")
        with gr.Column(min_width=340):
            norms = headed_plot(TEXT.norms_heading(), "shape-norms")
    with fold(__file__, "numbers", "The numbers"):
        numbers, gains = gr.HTML(""), gr.HTML("")
    formula_fold(__file__)
    code = code_fold(__file__, "Prints the values of the thick line, over all pairs")
    source_fold(__file__)
    page.keep(shape_layer=layer, shape_vectors=kind)
    followed = gr.Textbox("", visible="hidden")  # for which model the layer was picked

    def space_of(loaded: LoadedModel) -> Generator[Encoded, None, Space]:
        sentences = our_library().sentences[:SAMPLE]
        return spaces.steps(loaded.spec.key, lambda: measure(loaded, sentences), Encoded(0, len(sentences)))

    def repairs_of(loaded: LoadedModel, at: int, pooling: str) -> Generator[Encoded, None, list[Repaired]]:
        return judged.steps(
            (loaded.spec.key, at, pooling), lambda: _repairs(page, loaded, at, pooling), Encoded(0, fitted_on())
        )

    def show(text: str, pair: str, model: str, at: float, whose: str, seen: str = "") -> Iterator[Shown]:
        loaded = services.loaded(model)
        space = yield from relayed(space_of(loaded), lambda step: {doing: TEXT.progress(step)})
        own, seen = following(at, first, seen, loaded.spec.key, lambda: most_alike(space))
        shown, vectors = clamp(own, space.num_layers + 1), whose if whose in NAMES else MEAN
        yield {
            curve: curve_figure(space, vectors, shown),
            cosines: cosines_figure(space, vectors, shown),
            dimensions: dimensions_figure(space, vectors, shown),
            norms: norms_figure(space, shown),
            summary: space_summary(space, vectors, shown),
            sampled: TEXT.sample(space),
            numbers: space_table(space),
            code: shape_code(loaded.spec, SAMPLE, vectors, shown),
            layer: slider(own, space.num_layers + 1, move=own != at),
            followed: seen,
            doing: "",
        }

    def judge(text: str, pair: str, model: str, at: float, whose: str, seen: str = "") -> Iterator[Shown]:
        def busy(step: Encoded) -> Shown:
            return {worth: TEXT.progress(step)}

        loaded = services.loaded(model)
        own: float | None = at
        if not seen.startswith(f"{loaded.spec.key} "):  # the layer is picked from the same space as in `show`
            space = yield from relayed(space_of(loaded), busy)
            own, _ = following(at, first, seen, loaded.spec.key, lambda: most_alike(space))
        shown = clamp(own, loaded.model.config.num_hidden_layers + 1)
        pooling = CLS if whose == CLS else MEAN
        try:
            repaired = yield from relayed(repairs_of(loaded, shown, pooling), busy)
        except UserError as error:  # [CLS] below the first layer: the rest is worth seeing all the same
            yield {scores: None, gains: "", worth: notice_html(str(error))}
            return
        yield {
            scores: repairs_figure(repaired),
            gains: repairs_table(repaired),
            worth: repairs_summary(repaired, fitted_on(), pooling, shown),
        }

    moved = [page.settled.change, moved_by_reader(layer), moved_by_reader(kind)]
    inputs = [*page.sentence, layer, kind, followed]
    always: dict[str, Any] = {"trigger_mode": "always_last", "show_progress": "hidden"}
    always["unread"] = (page.text, page.text_pair)
    drawn = [curve, cosines, dimensions, norms, summary, sampled, numbers, code, layer, followed, doing]
    page.on(moved, show, inputs, drawn, **always)
    page.on(moved, judge, inputs, [scores, gains, worth], **HEAVY, **always)


def headed_plot(heading: str, elem_id: str) -> gr.Plot:
    """A plot under its heading."""
    gr.HTML(heading, elem_classes="said")
    return gr.Plot(label=Markup(heading).striptags(), show_label=False, elem_id=elem_id)


def most_alike(space: Space) -> int:
    """The layer on which two words of different sentences are the most alike, the first of equals."""
    return int(space.clouds[WORDS].anisotropy.argmax())


def fitted_on() -> int:
    """The number of sentences that the corrections are fitted on: the library's and the pairs'."""
    return len(our_library().sentences) + len(sides_of(our_pairs().pairs)[0])


def _repairs(page: Page, loaded: LoadedModel, at: int, pooling: str) -> Generator[Encoded, None, list[Repaired]]:
    """Encode library and pairs, every layer and both poolings at once: the next choice is then there already."""
    layers = range(loaded.model.config.num_hidden_layers + 1)
    every = [Choice(kind, layer) for kind in (MEAN, CLS) for layer in layers]
    wanted = every.index(Choice(pooling, at))
    pairs, cache = our_pairs().pairs, page.services.vectors
    texts, first, second = sides_of(pairs)  # in the order in which the agreement part encodes them
    others = (yield from cache.steps(loaded, our_library().sentences, every))[wanted]
    own = (yield from cache.steps(loaded, texts, every))[wanted]
    return repairs(np.vstack([others, own]), own, first, second, scores_of(pairs))


PART = Part(
    tab="Shape of the space",
    look="Two random directions have a cosine near 0, but two unrelated sentences often do not. In BERT without "
    "tuning, the mean cosine of two random words is above 0 in all layers except the input (Ethayarajh 2019). "
    "Follow the thick line through the layers, and see how much of the mean cosine comes from two or three dimensions.",
    build=build,
    reads_sentence=False,
    order=6,
    former="shape",
)
