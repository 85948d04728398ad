"""Maps: hundreds of vectors in two or three dimensions by PCA, t-SNE or UMAP, and how far each map can be trusted."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from markupsafe import Markup

from demos.bert.embeddings.maps import METHODS, PCA_MAP, Laying, Layout, MapCache, Recipe
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.steps import drained
from demos.figures.maps import map_figure
from demos.lessons.embeddings.maps.data import LAYERS, SENTENCE, Mapped, Selection, mapped_steps
from demos.lessons.embeddings.maps.layout import KEPT, LIST, MADE, MAPPED, SIDES, Changes, laid_out, menus_shown
from demos.lessons.embeddings.maps.program import map_code, tokens_code
from demos.lessons.embeddings.maps.text import NAMES, TEXT, list_html, numbers_html, told_html
from demos.page.lesson import Page, Part
from demos.page.progress import relayed
from demos.page.services import Sentence, Services
from demos.widgets.pooling_menus.pooling_menus import read_choice

HEAVY: dict[str, Any] = {"concurrency_id": "maps", "concurrency_limit": 2}
SHOWN = ("status", "told", "numbers", "code", "drawn")

Result = TypeVar("Result")
Steps = Generator[Encoded | Laying, None, Result]
Lines = Generator[Changes, None, Result]


@dataclass(frozen=True)
class Order:
    """The controls' answers."""

    sentence: Sentence
    selection: Selection
    method: str
    axes: int
    nearby: float | None
    seed: float | None
    pooling: str
    layer: str
    picked: float | None
    picked_token: float | None
    find: str

    @property
    def recipe(self) -> Recipe:
        """How the map is made; an emptied box means its default."""
        nearby = min(max(int(self.nearby or 30), 2), 100)
        return Recipe(self.method, 3 if self.axes == 3 else 2, nearby, min(max(int(self.seed or 0), 0), 9_999))


@dataclass(frozen=True, eq=False)
class Drawn:
    """All that one map is made of."""

    mapped: Mapped
    layout: Layout
    choice: Choice
    at: int | None  # the chosen point


def ordered(values: tuple[Any, ...]) -> Order:
    """The handlers' inputs in words: the bar's three, MAPPED, MADE, and the chosen points."""
    text, pair, model, *rest = values
    return Order(Sentence(text or "", pair or "", model), Selection(*rest[: len(MAPPED)]), *rest[len(MAPPED) :])


def progress(step: Encoded | Laying) -> Markup:
    """One line of progress."""
    return TEXT.encoding(step) if isinstance(step, Encoded) else TEXT.arranging(step, NAMES[step.method])


def drawn_steps(services: Services, maps: MapCache, order: Order) -> Steps[Drawn | None]:
    """The map that is asked for; None while a file is awaited. Raises UserError for what can't be mapped."""
    loaded = services.loaded(order.sentence.model)
    selection = order.selection
    choice = read_choice(loaded, order.pooling if selection.kind == SENTENCE else "mean", order.layer)
    mapped = yield from mapped_steps(services, loaded, order.sentence, selection, choice)
    if mapped is None:
        return None
    layout = yield from maps.steps(mapped.vectors, order.recipe)
    at = int((order.picked if selection.kind == SENTENCE else order.picked_token) or 0)
    return Drawn(mapped, layout, choice, at if 0 <= at < len(mapped.vectors) else None)


def list_of(drawn: Drawn, order: Order) -> Markup:
    """The list: the chosen point's nearest, or what is looked up."""
    vectors, at = drawn.mapped.vectors, drawn.at
    cosines = None if at is None else cosine(vectors, vectors[at])
    return list_html(drawn.layout, drawn.mapped.points, at, cosines, (order.find or "")[:200])


def program(spec: ModelSpec, drawn: Drawn, order: Order) -> str:
    """The program for what is on screen."""
    selection, recipe = order.selection, order.recipe
    if selection.kind == SENTENCE:
        return map_code(spec, drawn.choice, recipe, selection.source, drawn.mapped.own, drawn.layout.nearby)
    layer = None if selection.kind == LAYERS else drawn.choice.layer
    return tokens_code(spec, drawn.mapped.texts, layer, recipe.dimensions)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    maps = MapCache()
    made = laid_out(page)
    inputs = [*page.sentence, *[made[name] for name in (*MAPPED, *MADE, "picked", "picked_token", "find")]]

    def show(*values: Any) -> Lines[None]:
        order = ordered(values)
        loaded = services.loaded(order.sentence.model)
        menus = menus_shown(made, order.selection, order.method, loaded, order.layer)

        def busy(step: Encoded | Laying) -> Changes:
            return {made["status"]: progress(step), **menus}

        drawn = yield from relayed(drawn_steps(services, maps, order), busy)
        if drawn is None:
            yield {made["status"]: TEXT.awaited(), **menus}
            return
        points = drawn.mapped.points
        measured = {order.method: drawn.layout}
        if order.method != PCA_MAP:
            flat = Recipe(PCA_MAP, order.recipe.dimensions)
            measured[PCA_MAP] = yield from relayed(maps.steps(drawn.mapped.vectors, flat), busy)
        yield {
            made["status"]: "",
            made["told"]: told_html(drawn.layout, points, order.method),
            made["numbers"]: numbers_html(measured, points, order.method),
            made["code"]: program(loaded.spec, drawn, order),
            made["drawn"]: str(time.monotonic_ns()),
            **menus,
        }

    def mark(*values: Any) -> Changes:
        order = ordered(values)
        drawn = drained(drawn_steps(services, maps, order))
        if drawn is None:
            return {}
        points = drawn.mapped.points
        look = f"{order.recipe} {points.kind} {points.step} {len(points.names)} {drawn.choice}"
        picture = map_figure(drawn.layout, points, drawn.at, look)
        return {made["plot"]: picture, made["list"]: list_of(drawn, order)}

    def look_up(*values: Any) -> Changes:
        order = ordered(values)
        drawn = drained(drawn_steps(services, maps, order))
        return {} if drawn is None else {made["list"]: list_of(drawn, order)}

    def measure(*values: Any) -> Lines[None]:
        order = ordered(values)

        def busy(step: Encoded | Laying) -> Changes:
            return {made["numbers"]: progress(step)}

        drawn = yield from relayed(drawn_steps(services, maps, order), busy)
        if drawn is None:
            yield {made["numbers"]: TEXT.awaited()}
            return
        measured = {}
        for method in METHODS:
            recipe = replace(order.recipe, method=method)
            measured[method] = yield from relayed(maps.steps(drawn.mapped.vectors, recipe), busy)
        yield {made["numbers"]: numbers_html(measured, drawn.mapped.points, order.method)}

    moved = [made[name].input for name in ("kind", "source", "bar", "method", "axes", "pooling", "layer")]
    moved += [made[name].change for name in ("file", "own", "lines", "seed")]
    page.on(
        [page.settled.change, *moved, made["nearby"].release],
        show,
        inputs,
        [made[name] for name in (*SHOWN, *SIDES)],
        trigger_mode="always_last",
        **HEAVY,
    )
    page.on(
        # The picture is drawn here alone, with the point chosen by then: `show` may have begun before.
        [made["picked"].change, made["picked_token"].change, made["drawn"].change],
        mark,
        inputs,
        [made["plot"], made["list"]],
        trigger_mode="always_last",
        show_progress="hidden",
    )
    page.on([made["find"].change], look_up, inputs, [made["list"]], trigger_mode="always_last", show_progress="hidden")
    page.on([made["measure"].click], measure, inputs, [made["numbers"]], **HEAVY)
    chosen = [made["picked"], made["picked_token"]]
    among = f"kind === {SENTENCE!r} ? [number, token, ''] : [picked, number, '']"
    made["list"].select(
        None,
        [made["kind"], *chosen],
        [*chosen, made["find"]],
        js=f"(kind, picked, token) => {{ const number = insideBert.maps.chosen[{LIST!r}](); return {among}; }}",
        api_visibility="private",
        show_progress="hidden",
        trigger_mode="multiple",
    )
    page.keep(**{name: made[component] for name, component in KEPT.items()})


PART = Part(
    tab="Maps",
    look="Hundreds of sentence vectors laid out flat: do topics come together, and what becomes of them with [CLS], or "
    "layer by layer? Every map tells lies; the figures below it say how many.",
    build=build,
    order=4,
)
