"""A lesson in parts: a row of tabs on its page, each built, opened and redrawn on its own.

Only the open part computes when the sentence changes; `?part=slug` in the link opens one.
"""

import json
from dataclasses import dataclass, replace
from types import ModuleType

import gradio as gr
from gradio.blocks import Block, BlockContext

from demos.files import modules_in
from demos.page.glossary.glossary import terms_in, with_terms
from demos.page.lesson import IN_BROWSER, Lesson, Page, Part, moved_by_reader
from demos.page.links import Link
from demos.page.view import View
from demos.templates import templates

TEXT = templates(__file__)


def parts_of(lesson: str) -> tuple[Part, ...]:
    """The parts of the lesson in the package `lesson`, in their order: every folder in it that has a part.py.

    It defines the part's view; and, where a tour can pack the part as a file of its own, a function `standalone`.
    """
    parts = [
        replace(view_in(module).part(), slug=name, standalone=getattr(module, "standalone", None))
        for name, module in modules_in(lesson, "part").items()
    ]
    return tuple(sorted(parts, key=lambda part: part.order))


def view_in(module: ModuleType) -> type[View]:
    """The one view that a module defines. Raises ValueError where there is none, or another beside it."""
    classes = [thing for thing in vars(module).values() if isinstance(thing, type) and issubclass(thing, View)]
    (view,) = (thing for thing in classes if thing.__module__ == module.__name__)
    return view


@dataclass(frozen=True)
class PartTicks:
    """A lesson's hidden signals: which part is open, and for each part one that changes when it should redraw."""

    opened: gr.Radio
    settled: tuple[gr.Textbox, ...]


def part_ticks(lesson: Lesson) -> PartTicks:
    """The signals of a lesson with parts, made outside its tabs, which Gradio mounts only when opened."""
    slugs = [part.slug for part in lesson.parts]
    opened = gr.Radio(slugs, value=slugs[0], visible="hidden")
    return PartTicks(opened, tuple(gr.Textbox("", visible="hidden") for _ in slugs))


def build_lesson(page: Page) -> None:
    """Build a lesson: the area above its parts, then its parts, where it has any."""
    if page.lesson.only_bert:
        page.services = page.services.for_bert()
    if page.lesson.view is not None:
        page.lesson.view.build(page)
    if page.lesson.build is not None:
        page.lesson.build(page)
    if page.lesson.parts:
        build_parts(page, part_ticks(page.lesson))
    else:
        page.wire_redraws()


def unread_parts(lesson: Lesson) -> list[str]:
    """The lesson's classes by which ticks.js sees that an open part does not read the sentence in the bar."""
    return [f"unread-{part.slug}" for part in lesson.parts if not part.reads_sentence]


def build_parts(page: Page, ticks: PartTicks) -> None:
    """Lay the parts out and wire which of them redraws."""
    parts, slug = page.lesson.parts, page.lesson.slug
    page.keep(part=ticks.opened)
    page.links["part"] = Link(former={part.former: part.slug for part in parts if part.former})
    known = terms_in(page.lesson.look)  # marked above the parts
    page.opening.append(ticks.settled[0])
    with gr.Tabs(elem_id=f"{slug}-parts", elem_classes="parts", overflow_behavior="wrap") as tabs:
        for part, tick in zip(parts, ticks.settled, strict=True):
            with gr.Tab(part.tab, id=part.slug, elem_id=f"{slug}-{part.slug}") as tab:
                look = gr.HTML(
                    TEXT.look(with_terms(part.look, part.slug, known)), elem_classes="part-heading", render=False
                )
                notices = gr.Column(elem_classes="lesson-notices")  # a part's sentence is for its own eyes
                shared = list(page.redraws or ())
                services = page.services.for_bert() if part.only_bert else page.services
                of_part = replace(page, services=services, settled=tick, notices=notices, look=look, redraws=shared)
                of_part.reads_sentence = part.reads_sentence
                part.view.build(of_part)
                of_part.wire_redraws()  # with those of the inputs above the parts
                if not look.is_rendered:
                    look.render()
                    _move_below_picture(look, tab)
            tab.select(
                None,
                None,
                [ticks.opened, tick],
                js=f"() => insideBert.ticks.openPart({json.dumps(part.slug)})",
                **IN_BROWSER,
            )
    slugs = json.dumps([part.slug for part in parts])
    names_of = {id(component): name for name, component in page.choices.items()}
    moves = {names_of[id(component)]: moved_by_reader(component) for component in page.shared}
    changes = [name for name, move in moves.items() if move.event_name == "change"]
    for triggers, moved, names in (
        ([page.settled.change], "false", []),
        ([move for name, move in moves.items() if name not in changes], "true", []),
        ([moves[name] for name in changes], "false", changes),
    ):
        if triggers:
            gr.on(
                triggers,
                None,
                [page.choices[name] for name in names],
                list(ticks.settled),
                js=f"(...values) => insideBert.ticks.settledPart({slugs}, {moved}, {json.dumps(names)}, ...values)",
                **IN_BROWSER,
            )
    ticks.opened.change(None, None, [tabs], js="() => insideBert.ticks.selected()", **IN_BROWSER)


def _move_below_picture(look: gr.HTML, tab: gr.Tab) -> None:
    """Put the sentence on what to look at under the part's first picture, or last if no picture is at its top."""
    tab.children.remove(look)
    pictured = (place for place, block in enumerate(tab.children, 1) if _has_picture(block))
    tab.children.insert(next(pictured, len(tab.children)), look)


def _has_picture(block: Block) -> bool:
    """Whether the component is a picture, or holds one."""
    within = block.children if isinstance(block, BlockContext) else ()
    return "picture" in (block.elem_classes or ()) or any(map(_has_picture, within))
