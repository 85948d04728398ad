"""Maps: hundreds of vectors in two or three dimensions by PCA, t-SNE or UMAP, and the quality of each map."""

from collections.abc import Generator, Sequence
from dataclasses import fields, replace

import gradio as gr
from markupsafe import Markup

from demos.bert.embeddings.maps import METHODS, PCA_MAP, Laying
from demos.bert.embeddings.similarity import cosine, sentences_of
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.generators import drained
from demos.errors import UserError
from demos.figures.maps import map_figure
from demos.files import read_beside
from demos.lessons.embeddings.maps.data import FILE, LAYERS, SENTENCE, Drawn, MapChoices, drawn_steps, shared_maps
from demos.lessons.embeddings.maps.program import map_code, tokens_code
from demos.lessons.embeddings.maps.text import NAMES, TEXT, list_html, measures_html, numbers_html
from demos.page.bar import WAITING_LIMIT
from demos.page.folds import fold
from demos.page.lesson import IN_BROWSER
from demos.page.progress import EventOptions, relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.pooling_menus.pooling_menus import layer_limit
from demos.widgets.scripted.scripted import scripted
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

PLOT, LIST = "maps-plot", "maps-list"
POINTS = ("map_point", "map_token", "find")  # which leave the map as it is
DATA = tuple(known.name for known in fields(MapChoices) if known.name not in POINTS)
# A reader who waits blocks no other: the number of runs at once is bounded where vectors and maps are made.
WAITING: EventOptions = {"concurrency_id": "maps", "concurrency_limit": WAITING_LIMIT}
# The visible controls: a map of tokens needs no pooling, PCA neither neighbors nor seed.
SEEN = f"""(kind, source, method) => {{
    const sentences = kind === {SENTENCE!r}, chance = method !== {PCA_MAP!r};
    return [sentences, !sentences, sentences && source === {FILE!r}, chance, chance, sentences, kind !== {LAYERS!r}]
        .map((visible) => ({{ __type__: "update", visible }}));
}}"""
# The point of a row or a dot is the sentence's or the token's; nothing is looked up any more.
CHOSEN = f"""(kind, point, token) => {{
    const number = insideBert.maps.chosen[{LIST!r}]();
    return kind === {SENTENCE!r} ? [number, token, ""] : [point, number, ""];
}}"""
AT_REST = "() => String(Date.now())"
BY_KEY = """() => {
    if (!document.querySelector("#maps-nearby input:focus:not(:active)")) throw insideBert.ticks.ENOUGH;
    return String(Date.now());
}"""


class Maps(View):
    tab, order = "Maps", 4
    look = (
        "The map projects hundreds of sentence vectors onto two or three dimensions. Are sentences on the same topic "
        "close together? What changes if you choose [CLS], or another layer? Every map distorts the distances; the "
        "numbers below the map measure how much."
    )
    Choices = MapChoices

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="maps"):
            with gr.Column(min_width=270, elem_classes="maps-controls"):
                method = at.control("map_method")
                pooling, layer = at.control("map_pooling"), at.control("map_layer")
                at.look()
            with gr.Column(min_width=480, elem_classes=["maps-picture", "picture"]):
                at.plot("plot", "Map of the vectors", elem_id=PLOT)
                at["status"] = gr.HTML("", elem_id="maps-status", elem_classes="said")
                at["summary"] = gr.HTML(elem_classes="said maps-told")
                with takeaway_row("Download the map:"):
                    picture_buttons(f"#{PLOT}", "bert-map-{map}", inputs={"map": method})
            with gr.Column(min_width=320, elem_classes="maps-list"):
                typed = gr.Textbox("", label="Find a point (type a few letters)", max_lines=1, elem_id="maps-find")
                at.hold("find", typed)
                at["list"] = scripted(read_beside(__file__, "script.js"), LIST, "", plot=PLOT)
                points = [at.control("map_point"), at.control("map_token")]
        with at.all_controls():
            with gr.Row():
                kind = at.control("map_of")
                at.control("map_axes")
                nearby, seed = at.control("map_neighbours"), at.control("map_seed")
                moved = at.hold("neighbours_moved", gr.Textbox("", visible="hidden"))
            with gr.Row(elem_classes="maps-sentences") as for_sentences:
                source = at.control("map_sentences")
                kinds = "TXT (one sentence per line), CSV, Excel or JSON with a topic or label column"
                file = file_picker(f"{kinds}; up to 2,000 sentences", height=120, visible=False, elem_id="maps-file")
                at.hold("file", file)
                at.control("map_own")
                at.control("map_bar")
            with gr.Row(visible=False) as for_tokens:
                at.control("map_lines")
        with fold(__file__, "numbers", "The numbers"):
            measure = gr.Button("Compute and measure all three maps", size="sm", elem_id="maps-measure")
            at["numbers"] = gr.HTML()
        at.folds("Prints the quality measures of this map", numbers=())

        decide = [kind, source, method]
        sides = [for_sentences, for_tokens, file, nearby, seed, pooling, layer]
        gr.on([menu.change for menu in decide], None, decide, sides, js=SEEN, **IN_BROWSER)
        nearby.release(None, None, [moved], js=AT_REST, **IN_BROWSER)
        nearby.input(None, None, [moved], js=BY_KEY, **IN_BROWSER)
        at["list"].select(None, [kind, *points], [*points, typed], js=CHOSEN, **IN_BROWSER)

        late: EventOptions = {"trigger_mode": "always_last", "show_progress": "hidden"}
        at.answers(typed.change, look_up, {"list": at["list"]}, **WAITING | late)
        at.answers(measure.click, measure_all, {"numbers": at["numbers"]}, **WAITING)

    @drawn(by=DATA, limits=("map_layer",), **WAITING)
    def draw(self, on: On, c: MapChoices) -> Generator[Shown]:
        """The figures below the map, and its program; before that, its progress."""
        try:
            layers = {"map_layer": layer_limit(on.loaded, c.map_layer)}
            made = yield from relayed(drawn_steps(on, c), lambda step: {"status": progress(step)})
        except UserError:
            yield {"status": ""}  # the line of progress must not stay; the sentence is above it
            raise
        if made is None:
            yield layers | {"status": TEXT.awaited()}
            return
        yield layers | {
            "status": TEXT.read_as(made.mapped.read_as) if made.mapped.read_as else "",
            "summary": lambda: measures_html(made.layout, made.mapped.points, c.map_method),
            "program": lambda: program(on.loaded.spec, made, c),
        }

    @drawn("plot", "list", **WAITING)
    def draw_points(self, on: On, c: MapChoices) -> Generator[Shown]:
        """The map with its chosen point, and the list beside it; `draw` says why there is none."""
        try:
            made = yield from relayed(drawn_steps(on, c), lambda _: {})
        except UserError:
            made = None
        if made is None:
            yield {}
            return
        points = made.mapped.points
        look = f"{c.recipe} {points.kind} {points.step} {len(points.names)} {made.choice}"
        yield {"plot": lambda: map_figure(made.layout, points, made.at, look), "list": lambda: list_of(made, c)}

    @drawn("numbers", by=DATA, **WAITING)
    def draw_numbers(self, on: On, c: MapChoices) -> Generator[Shown]:
        """The numbers of this map and of PCA's; another point leaves them, and those of all three methods."""
        yield from measured(on, c, (PCA_MAP,))


def look_up(on: On, c: MapChoices) -> Shown:
    """The list alone."""
    made = drained(drawn_steps(on, c))
    return {} if made is None else {"list": list_of(made, c)}


def measure_all(on: On, c: MapChoices) -> Generator[Shown]:
    """The numbers of all three methods."""
    yield from measured(on, c, METHODS)


def measured(on: On, c: MapChoices, methods: Sequence[str]) -> Generator[Shown]:
    """The numbers of the map, and of these methods' maps of the same vectors."""

    def busy(step: Encoded | Laying) -> Shown:
        return {"numbers": progress(step)}

    made = yield from relayed(drawn_steps(on, c), busy)
    if made is None:
        yield {"numbers": TEXT.awaited()}
        return
    layouts, maps = {c.map_method: made.layout}, on.services.shared(shared_maps)
    for method in methods:
        layouts[method] = yield from relayed(maps.steps(made.mapped.vectors, replace(c.recipe, method=method)), busy)
    yield {"numbers": numbers_html(layouts, made.mapped.points, c.map_method)}


def progress(step: Encoded | Laying) -> Markup:
    return TEXT.encoding(step) if isinstance(step, Encoded) else TEXT.arranging(step, NAMES[step.method])


def list_of(made: Drawn, c: MapChoices) -> Markup:
    """The list: the chosen point's nearest, or the matches of the search."""
    vectors, at = made.mapped.vectors, made.at
    cosines = None if at is None else cosine(vectors, vectors[at])
    return list_html(made.layout, made.mapped.points, at, cosines, (c.find or "")[:200])


def program(spec: ModelSpec, made: Drawn, c: MapChoices) -> str:
    """The program for the map on screen."""
    if c.of_sentences:
        return map_code(spec, made.choice, c.recipe, c.map_sentences, made.mapped.own, made.layout.nearby)
    layer = None if c.map_of == LAYERS else made.choice.layer
    return tokens_code(spec, sentences_of(c.map_lines), layer, c.map_axes)


def answer(services: Services, sentence: Sentence) -> Answer:
    """The width of the reader's model."""
    return Answer(facts={"width": services.loaded(sentence.model).model.config.hidden_size})
