"""Maps: hundreds of vectors in two or three dimensions by PCA, t-SNE or UMAP, and the quality of each map."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from markupsafe import Markup

from demos.bert.embeddings.maps import METHODS, PCA_MAP, Laying, Layout, MapCache
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine, sentences_of
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.generators import drained
from demos.figures.maps import map_figure
from demos.lessons.embeddings.maps.data import LAYERS, SENTENCE, Answers, Mapped, mapped_steps
from demos.lessons.embeddings.maps.layout import INPUTS, KEPT, LIST, SIDES, laid_out, menus_shown
from demos.lessons.embeddings.maps.program import map_code, tokens_code
from demos.lessons.embeddings.maps.text import NAMES, TEXT, list_html, measures_html, numbers_html
from demos.page.lesson import IN_BROWSER, Page, Part, by_component, shut_fold
from demos.page.progress import relayed
from demos.page.services import Sentence, Services
from demos.widgets.pooling_menus.pooling_menus import read_choice

HEAVY: dict[str, Any] = {"concurrency_id": "maps", "concurrency_limit": 2}
SHOWN = ("status", "told", "drawn")

Result = TypeVar("Result")
Changes = dict[str, Any]
Lines = Generator[Changes, None, Result]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The data of one map."""

    mapped: Mapped
    layout: Layout
    choice: Choice
    at: int | None  # the chosen point


class Maps:
    """The part's handlers, which answer what changes by name; they share the maps of all its readers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.maps = MapCache()

    def show(self, *values: Any) -> Lines[None]:
        """All but the picture: which menus are seen, the figures below the map, the numbers, the program."""
        sentence, answers = read(values)
        loaded = self.services.loaded(sentence.model)
        menus = menus_shown(answers, loaded)

        def busy(step: Encoded | Laying) -> Changes:
            return {"status": progress(step), **menus}

        drawn = yield from relayed(self._drawn(sentence, answers), busy)
        if drawn is None:
            yield {"status": TEXT.awaited(), **menus}
            return
        yield {
            "status": TEXT.read_as(drawn.mapped.read_as) if drawn.mapped.read_as else "",
            "told": measures_html(drawn.layout, drawn.mapped.points, answers.method),
            "drawn": str(time.monotonic_ns()),
            **menus,
        }

    def numbers(self, *values: Any) -> Lines[None]:
        """The numbers of this map and of PCA's, for their fold."""
        yield from self._measured(values, (PCA_MAP,))

    def program(self, *values: Any) -> Changes:
        """The program for what is on screen, for its fold."""
        sentence, answers = read(values)
        drawn = drained(self._drawn(sentence, answers))
        return {} if drawn is None else {"code": program(self.services.loaded(sentence.model).spec, drawn, answers)}

    def mark(self, *values: Any) -> Changes:
        """The picture with its chosen point, and the list beside it."""
        sentence, answers = read(values)
        drawn = drained(self._drawn(sentence, answers))
        if drawn is None:
            return {}
        points = drawn.mapped.points
        look = f"{answers.recipe} {points.kind} {points.step} {len(points.names)} {drawn.choice}"
        return {"plot": map_figure(drawn.layout, points, drawn.at, look), "list": list_of(drawn, answers)}

    def look_up(self, *values: Any) -> Changes:
        """The list alone."""
        sentence, answers = read(values)
        drawn = drained(self._drawn(sentence, answers))
        return {} if drawn is None else {"list": list_of(drawn, answers)}

    def measure(self, *values: Any) -> Lines[None]:
        """The numbers of all three methods."""
        yield from self._measured(values, METHODS)

    def _measured(self, values: tuple[Any, ...], methods: Iterable[str]) -> Lines[None]:
        def busy(step: Encoded | Laying) -> Changes:
            return {"numbers": progress(step)}

        sentence, answers = read(values)
        drawn = yield from relayed(self._drawn(sentence, answers), busy)
        if drawn is None:
            yield {"numbers": TEXT.awaited()}
            return
        layouts = {answers.method: drawn.layout}
        for method in methods:
            steps = self.maps.steps(drawn.mapped.vectors, replace(answers.recipe, method=method))
            layouts[method] = yield from relayed(steps, busy)
        yield {"numbers": numbers_html(layouts, drawn.mapped.points, answers.method)}

    def _drawn(self, sentence: Sentence, answers: Answers) -> Generator[Encoded | Laying, None, Drawn | None]:
        """The requested map; None while a file is awaited. Raises UserError for data that can't be mapped."""
        loaded, sentences = self.services.loaded(sentence.model), answers.kind == SENTENCE
        choice = read_choice(loaded, answers.pooling if sentences else "mean", answers.layer)
        mapped = yield from mapped_steps(self.services, loaded, sentence, answers, choice)
        if mapped is None:
            return None
        layout = yield from self.maps.steps(mapped.vectors, answers.recipe)
        at = int((answers.picked if sentences else answers.picked_token) or 0)
        return Drawn(mapped, layout, choice, at if 0 <= at < len(mapped.vectors) else None)


def read(values: tuple[Any, ...]) -> tuple[Sentence, Answers]:
    """The handlers' inputs in words: the bar's three, then INPUTS."""
    text, pair, model, *answers = values
    return Sentence(text or "", pair or "", model), Answers(*answers)


def progress(step: Encoded | Laying) -> Markup:
    """One line of progress."""
    return TEXT.encoding(step) if isinstance(step, Encoded) else TEXT.arranging(step, NAMES[step.method])


def list_of(drawn: Drawn, answers: Answers) -> Markup:
    """The list: the chosen point's nearest, or what is looked up."""
    vectors, at = drawn.mapped.vectors, drawn.at
    cosines = None if at is None else cosine(vectors, vectors[at])
    return list_html(drawn.layout, drawn.mapped.points, at, cosines, (answers.find or "")[:200])


def program(spec: ModelSpec, drawn: Drawn, answers: Answers) -> str:
    """The program for what is on screen."""
    recipe = answers.recipe
    if answers.kind == SENTENCE:
        return map_code(spec, drawn.choice, recipe, answers.source, drawn.mapped.own, drawn.layout.nearby)
    layer = None if answers.kind == LAYERS else drawn.choice.layer
    return tokens_code(spec, sentences_of(answers.lines), layer, recipe.dimensions)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    handlers = Maps(page.services)
    parts = laid_out(page)
    inputs = [*page.sentence, *[parts[name] for name in INPUTS]]

    def on(triggers: list[Any], handler: Callable[..., Any], outputs: tuple[str, ...], **options: Any) -> None:
        page.on(triggers, by_component(parts, handler), inputs, [parts[name] for name in outputs], **options)

    moved = [parts[name].input for name in ("kind", "source", "bar", "method", "axes", "pooling", "layer")]
    moved += [parts[name].change for name in ("file", "own", "lines", "seed")]
    opened = [page.settled.change, *moved, parts["nearby"].release]
    on(opened, handlers.show, (*SHOWN, *SIDES), trigger_mode="always_last", show_progress="hidden", **HEAVY)
    # The picture is drawn by `mark` alone, with the point chosen by then: `show` may have begun before.
    chosen = [parts["picked"], parts["picked_token"]]
    at_once: dict[str, Any] = {"trigger_mode": "always_last", "show_progress": "hidden"}
    on([*(number.change for number in chosen), parts["drawn"].change], handlers.mark, ("plot", "list"), **at_once)
    on([parts["find"].change], handlers.look_up, ("list",), **at_once)
    on([parts["measure"].click], handlers.measure, ("numbers",), **HEAVY)
    for name, handler in (("numbers", handlers.numbers), ("code", handlers.program)):  # while their folds are open
        shut = shut_fold(parts[name])
        assert shut
        inner = page.within(shut, parts["drawn"])
        shown = by_component(parts, handler)
        inner.on([inner.settled.change], shown, inputs, [parts[name]], **at_once, **HEAVY)
    among = f"kind === {SENTENCE!r} ? [number, token, ''] : [picked, number, '']"
    parts["list"].select(
        None,
        [parts["kind"], *chosen],
        [*chosen, parts["find"]],
        js=f"(kind, picked, token) => {{ const number = insideBert.maps.chosen[{LIST!r}](); return {among}; }}",
        **IN_BROWSER,
    )
    page.keep(**{name: parts[component] for name, component in KEPT.items()})


PART = Part(
    tab="Maps",
    look="The map projects hundreds of sentence vectors onto two or three dimensions. "
    "Are sentences on the same topic close "
    "together? What changes with [CLS], or with another layer? Every map distorts the distances; the numbers below "
    "the map measure how much.",
    build=build,
    order=4,
)
