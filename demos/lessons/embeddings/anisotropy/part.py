"""Shape of the space: mean cosines of unrelated vectors by layer, the dimensions behind them, and corrections."""

from collections.abc import Generator
from dataclasses import dataclass, field

import gradio as gr
import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.agreement import scores_of, sides_of
from demos.bert.embeddings.anisotropy_repairs import Repaired, repairs
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine_matrix
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
)
from demos.lessons.embeddings.anisotropy.program import shape_code
from demos.lessons.embeddings.anisotropy.text import TEXT, repairs_summary, repairs_table, space_summary, space_table
from demos.page.guards import notice_html
from demos.page.layer_head_choices import clamp, following
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, unlinked
from demos.training.data.lists import our_library
from demos.training.data.rated_pairs import our_pairs
from demos.widgets.pooling_menus.pooling_menus import state_choice

SAMPLE = 200  # sentences that the space is measured on
FIRST_LAYER = 5  # `most_alike` of the bundled model; the first drawing picks that of the model in use
MAX_SPACES, MAX_REPAIRS = 6, 48  # models; a model's layers
TIE = 0.02  # cosines that differ by less are the same


@dataclass(frozen=True)
class Measured:
    """The latest results, for all readers."""

    services: Services
    spaces: OnceCache[Encoded, Space] = field(default_factory=lambda: OnceCache(MAX_SPACES))
    repaired: OnceCache[Encoded, list[Repaired]] = field(default_factory=lambda: OnceCache(MAX_REPAIRS))

    def space(self, loaded: LoadedModel) -> Generator[Encoded, None, Space]:
        """The space of a model's vectors."""
        sentences = our_library().sentences[:SAMPLE]
        return self.spaces.steps(loaded.spec.key, lambda: measure(loaded, sentences), Encoded(0, len(sentences)))

    def repairs(self, loaded: LoadedModel, layer: int, pooling: str) -> Generator[Encoded, None, list[Repaired]]:
        """The corrections of a layer's sentence vectors. Raises UserError if these have no spread."""
        return self.repaired.steps(
            (loaded.spec.key, layer, pooling),
            lambda: _repairs(self.services, loaded, layer, pooling),
            Encoded(0, fitted_on()),
        )


class Shape(View):
    tab, order, former = "Shape of the space", 6, "shape"
    look = (
        "In hundreds of dimensions, two random directions have a cosine near 0. Is this also true of the vectors of "
        "two unrelated sentences? Follow the thick line through the layers, and see how much of the mean cosine comes "
        "from two or three dimensions."
    )
    reads_sentence = False

    @dataclass(frozen=True)
    class Choices:
        shape_layer: int = state_choice(FIRST_LAYER, "Layer", cut=False, elem_id="shape-layer")
        shape_vectors: str = options([(name, key) for key, name in NAMES.items()], MEAN, "Vectors of")
        followed: str = unlinked("")  # for which model the layer was picked

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=3, min_width=340):
                at.plot("curve", "Mean cosine, layer by layer", elem_id="shape-curve", elem_classes="picture")
            with gr.Column(scale=1, min_width=300):
                at.control("shape_layer")
                at.control("shape_vectors")
                at["summary"] = gr.HTML("", elem_classes="said shape-told", elem_id="shape-told")
                at.look()
                at["sampled"], at["doing"] = gr.HTML("", elem_classes="said"), gr.HTML("", elem_classes="said")
        with gr.Row():
            with gr.Column(min_width=340):
                at["cosines"] = headed_plot(TEXT.cosines_heading(), "shape-cosines")
            with gr.Column(min_width=340):
                at["dimensions"] = headed_plot(TEXT.dimensions_heading(), "shape-dimensions")
        with gr.Row():
            with gr.Column(min_width=340):
                at["scores"] = headed_plot(TEXT.repairs_heading(), "shape-repairs")
                at["worth"] = gr.HTML("", elem_classes="said")
            with gr.Column(min_width=340):
                at["norms"] = headed_plot(TEXT.norms_heading(), "shape-norms")
        at.folds("Prints the values of the thick line, over all pairs", numbers=["numbers", "gains"])
        at["followed"] = at.hold("followed", gr.Textbox("", visible="hidden"))

    @drawn(limits=("shape_layer",))
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """The space of the model, at one of its layers; until a reader moves it, the layer is the model's own."""
        space = yield from relayed(
            on.services.shared(Measured).space(on.loaded), lambda step: {"doing": TEXT.progress(step)}
        )
        layer, followed = own_layer(on, c, space)
        yield {
            "curve": curve_figure(space, c.shape_vectors, layer),
            "cosines": cosines_figure(space, c.shape_vectors, layer),
            "dimensions": dimensions_figure(space, c.shape_vectors, layer),
            "norms": norms_figure(space, layer),
            "summary": space_summary(space, c.shape_vectors, layer),
            "sampled": TEXT.sample(space),
            "numbers": lambda: space_table(space),
            "program": lambda: shape_code(on.loaded.spec, SAMPLE, c.shape_vectors, layer),
            "shape_layer": limit(value=layer),
            "followed": followed,
            "doing": "",
        }

    @drawn("scores", "worth", "gains")
    def draw_repairs(self, on: On, c: Choices) -> Generator[Shown]:
        """The corrections of the same layer. [CLS] below the first layer has none: a sentence says so."""

        def busy(step: Encoded) -> Shown:
            return {"worth": TEXT.progress(step)}

        results = on.services.shared(Measured)
        space = yield from relayed(results.space(on.loaded), busy)
        layer, _ = own_layer(on, c, space)
        pooling = CLS if c.shape_vectors == CLS else MEAN
        try:
            repaired = yield from relayed(results.repairs(on.loaded, layer, pooling), busy)
        except UserError as error:
            yield {"scores": None, "gains": "", "worth": notice_html(str(error))}
            return
        yield {
            "scores": repairs_figure(repaired),
            "gains": lambda: repairs_table(repaired),
            "worth": repairs_summary(repaired, fitted_on(), pooling, layer),
        }


def own_layer(on: On, c: Shape.Choices, space: Space) -> tuple[int, str]:
    """(the layer that is shown, what `followed` is from now on)."""
    layer, followed = following(c.shape_layer, FIRST_LAYER, c.followed, on.loaded.spec.key, lambda: most_alike(space))
    return clamp(layer, space.num_layers + 1), followed


def headed_plot(heading: str, elem_id: str) -> gr.Plot:
    gr.HTML(heading, elem_classes="said")
    return gr.Plot(label=Markup(heading).striptags(), show_label=False, elem_id=elem_id)


def most_alike(space: Space) -> int:
    """The layer on which two words of different sentences are the most alike, the first of equals."""
    return int(space.clouds[WORDS].anisotropy.argmax())


def fitted_on() -> int:
    """The number of sentences that the corrections are fitted on: the library's and the pairs'."""
    return len(our_library().sentences) + len(sides_of(our_pairs().pairs)[0])


def _repairs(
    services: Services, loaded: LoadedModel, at: int, pooling: str
) -> Generator[Encoded, None, list[Repaired]]:
    """Encode library and pairs, every layer and both poolings at once: the next choice is then there already."""
    layers = range(loaded.model.config.num_hidden_layers + 1)
    every = [Choice(kind, layer) for kind in (MEAN, CLS) for layer in layers]
    wanted = every.index(Choice(pooling, at))
    pairs, cache = our_pairs().pairs, services.vectors
    texts, first, second = sides_of(pairs)  # in the order in which the agreement part encodes them
    others = (yield from cache.steps(loaded, our_library().sentences, every))[wanted]
    own = (yield from cache.steps(loaded, texts, every))[wanted]
    return repairs(np.vstack([others, own]), own, first, second, scores_of(pairs))


def answer(services: Services, sentence: Sentence) -> Answer:
    """The mean cosine of every two tokens that are no special ones, before the first layer and after the last."""
    run = services.run(sentence)
    own = np.flatnonzero(np.array(run.encoding.special_tokens_mask) == 0)
    if len(own) < 2:
        raise UserError("A sentence of at least two words is needed.")
    rows, columns = np.triu_indices(len(own), k=1)
    first, last = (float(cosine_matrix(states[own])[rows, columns].mean()) for states in run.hidden_states[[0, -1]])
    key = "rises" if last > first + TIE else "falls" if last < first - TIE else "stays"
    return Answer(keys=frozenset({key}), facts={"first": first, "last": last})
