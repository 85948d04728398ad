"""A lesson in parts: the open one alone is told to redraw, and each finds its choices in the lesson's link."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import ModelStore
from demos.page.lesson import Lesson, Page, Part
from demos.page.parts import build_lesson, part_ticks
from demos.page.services import Services


def lesson_of(built: dict[str, Page], *slugs: str) -> Lesson:
    def build(slug: str) -> Any:
        def keep(page: Page) -> None:
            built[slug] = page
            page.keep(**{f"choice_{slug}": gr.Textbox("")})

        return keep

    parts = tuple(Part(slug, slug.title(), f"Look at {slug} & see.", build(slug)) for slug in slugs)
    return Lesson("long", 9, "Long", "Long?", "Look. Here.", lambda page: built.update(top=page), parts)


@pytest.fixture
def built(store: ModelStore) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lesson = lesson_of(found, "one", "two")
    with gr.Blocks() as found["demo"]:
        found["ticks"] = ticks = part_ticks(lesson)
        hidden: list[Any] = [gr.Textbox() for _ in range(5)]
        page = Page(lesson, Services(store, "minilm"), *hidden, notices=gr.Column(), trained=gr.State(""))
        build_lesson(page, ticks)
    return found


def test_each_part_has_a_tick_of_its_own_and_shares_the_rest(built: dict[str, Any]) -> None:
    assert (built["one"].settled, built["two"].settled) == built["ticks"].settled
    assert built["top"].settled not in built["ticks"].settled
    assert built["one"].text is built["two"].text is built["top"].text
    assert len({id(built[name].notices) for name in ("top", "one", "two")}) == 3  # a sentence stays in its part
    assert set(built["top"].choices) == {"part", "choice_one", "choice_two"}
    assert built["top"].choices["part"].choices == [("one", "one"), ("two", "two")]  # a link can name no other


def test_the_lesson_passes_its_tick_to_the_open_part(built: dict[str, Any]) -> None:
    own = {
        (trigger[1], tuple(part._id for part in event.outputs))
        for event in built["demo"].fns.values()
        for trigger in event.targets
        if built["top"].settled._id == trigger[0]
    }
    assert own == {("change", tuple(tick._id for tick in built["ticks"].settled))}
    assert all(event.api_visibility == "private" for event in built["demo"].fns.values())


def test_a_lesson_without_parts_is_built_by_itself(store: ModelStore) -> None:
    assert part_ticks(Lesson("short", 9, "Short", "Short?", "Look. Here.", lambda page: None)) is None


def test_a_hostile_look_is_text(built: dict[str, Any]) -> None:
    texts = [block.value for block in built["demo"].blocks.values() if isinstance(block, gr.HTML)]
    assert '<p class="look">Look at one &amp; see.</p>' in texts
