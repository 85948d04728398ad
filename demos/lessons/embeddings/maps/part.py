"""Maps: hundreds of vectors in two or three dimensions by PCA, t-SNE or UMAP, and how far each map can be trusted."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import gradio as gr

from demos.bert.embeddings.maps import METHODS, PCA_MAP, Laying, Layout, MapCache, Recipe
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.sentence_vectors import cosine
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.steps import drained
from demos.bert.model.vectors import Encoded
from demos.figures.maps import map_figure
from demos.lessons.embeddings.maps.data import LAYERS, SENTENCE, Asked, Mapped, mapped_steps
from demos.lessons.embeddings.maps.layout import KEPT, LIST, MADE, MAPPED, SIDES, laid_out, sides_of
from demos.lessons.embeddings.maps.program import map_code, tokens_code
from demos.lessons.embeddings.maps.text import NAMES, list_html, numbers_html, told_html
from demos.page.lesson import Page, Part
from demos.page.progress import relayed
from demos.page.services import Sentence, Services
from demos.widgets.pooling_menus.pooling_menus import read_choice

AWAITED = "<p>Choose a file: one sentence a line, or a table with a text and a topic or label column.</p>"
HEAVY: dict[str, Any] = {"concurrency_id": "maps", "concurrency_limit": 2}
SHOWN = ("status", "told", "numbers", "code", "drawn")

Result = TypeVar("Result")
Steps = Generator[Encoded | Laying, None, Result]
Lines = Generator[list[Any], None, Result]


@dataclass(frozen=True)
class Order:
    """The controls' answers."""

    sentence: Sentence
    asked: Asked
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
    return Order(Sentence(text or "", pair or "", model), Asked(*rest[: len(MAPPED)]), *rest[len(MAPPED) :])


def said(step: Encoded | Laying) -> str:
    """One line of progress."""
    if isinstance(step, Encoded):
        return f"<p>Encoding {step.done:,} of {step.total:,} sentences</p>"
    if step.first:
        return f"<p>UMAP is being loaded and compiled, once, in ten seconds or more: {step.seconds:.0f} s</p>"
    return f"<p>{NAMES[step.method]} is arranging {step.count:,} points: {step.seconds:.0f} s</p>"


def drawn_steps(services: Services, maps: MapCache, order: Order) -> Steps[Drawn | None]:
    """The map that is asked for; None while a file is awaited. Raises UserError for what can't be mapped."""
    loaded = services.loaded(order.sentence.model)
    asked = order.asked
    choice = read_choice(loaded, order.pooling if asked.kind == SENTENCE else "mean", order.layer)
    mapped = yield from mapped_steps(services, loaded, order.sentence, asked, choice)
    if mapped is None:
        return None
    layout = yield from maps.steps(mapped.vectors, order.recipe)
    at = int((order.picked if asked.kind == SENTENCE else order.picked_token) or 0)
    return Drawn(mapped, layout, choice, at if 0 <= at < len(mapped.vectors) else None)


def picture(drawn: Drawn, order: Order) -> list[Any]:
    """The plot and the list."""
    points, vectors, at = drawn.mapped.points, drawn.mapped.vectors, drawn.at
    look = f"{order.recipe} {points.kind} {points.step} {len(vectors)} {drawn.choice}"
    return [map_figure(drawn.layout, points, at, look), told_of(drawn, order)]


def told_of(drawn: Drawn, order: Order) -> str:
    """The list: the chosen point's nearest, or what is looked up."""
    vectors, at = drawn.mapped.vectors, drawn.at
    cosines = None if at is None else cosine(vectors, vectors[at])
    return list_html(drawn.layout, drawn.mapped.points, at, cosines, (order.find or "")[:200])


def program(spec: ModelSpec, drawn: Drawn, order: Order) -> str:
    """The program for what is on screen."""
    asked, recipe = order.asked, order.recipe
    if asked.kind == SENTENCE:
        return map_code(spec, drawn.choice, recipe, asked.source, drawn.mapped.own, drawn.layout.nearby)
    layer = None if asked.kind == LAYERS else drawn.choice.layer
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
        sides = sides_of(order.asked, order.method, loaded, order.layer)

        def busy(line: str) -> list[Any]:
            return [line, *[gr.skip()] * (len(SHOWN) - 1), *sides]

        drawn = yield from relayed(drawn_steps(services, maps, order), lambda step: busy(said(step)))
        if drawn is None:
            yield busy(AWAITED)
            return
        measured = {order.method: drawn.layout}
        if order.method != PCA_MAP:
            flat = Recipe(PCA_MAP, order.recipe.dimensions)
            measured[PCA_MAP] = yield from relayed(
                maps.steps(drawn.mapped.vectors, flat), lambda step: busy(said(step))
            )
        points = drawn.mapped.points
        yield [
            "",
            told_html(drawn.layout, points, order.method),
            numbers_html(measured, points, order.method),
            program(loaded.spec, drawn, order),
            str(time.monotonic_ns()),
            *sides,
        ]

    def mark(*values: Any) -> list[Any]:
        order = ordered(values)
        drawn = drained(drawn_steps(services, maps, order))
        return [gr.skip()] * 2 if drawn is None else picture(drawn, order)

    def look_up(*values: Any) -> Any:
        order = ordered(values)
        drawn = drained(drawn_steps(services, maps, order))
        return gr.skip() if drawn is None else told_of(drawn, order)

    def measure(*values: Any) -> Lines[None]:
        order = ordered(values)

        def busy(line: str) -> list[Any]:
            return [line]

        drawn = yield from relayed(drawn_steps(services, maps, order), lambda step: busy(said(step)))
        if drawn is None:
            yield [AWAITED]
            return
        recipe = order.recipe
        measured = {}
        for one in METHODS:
            asked = Recipe(one, recipe.dimensions, recipe.nearby, recipe.seed)
            measured[one] = yield from relayed(maps.steps(drawn.mapped.vectors, asked), lambda step: busy(said(step)))
        yield [numbers_html(measured, drawn.mapped.points, order.method)]

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
