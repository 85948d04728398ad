"""The names that a tour's stops can use: the lessons, with their parts, choices, elements and questions."""

from collections import defaultdict
from collections.abc import Sequence

import gradio as gr
from gradio.blocks import Block

from demos.page.lesson import Page
from demos.page.questions import questions
from demos.page.tours.checks import Place


def places_of(demo: gr.Blocks, pages: Sequence[Page]) -> dict[str, Place]:
    """By lesson; `pages` in their order, the first at the address /."""
    elements: dict[str, dict[str, str]] = defaultdict(dict)
    for block in demo.blocks.values():
        if block.elem_id:
            elements[block.page][block.elem_id] = part_of(block)
    return {
        page.lesson.slug: Place(
            parts=tuple(part.slug for part in page.lesson.parts),
            choices=page.schema(),
            elements=elements[page.lesson.slug if number else ""],
            parts_with_question=[part for lesson, part in questions() if lesson == page.lesson.slug],
        )
        for number, page in enumerate(pages)
    }


def part_of(block: Block | None) -> str:
    """The name of the part that holds a component, "" above the parts."""
    while block is not None and not isinstance(block, gr.Tab):
        block = block.parent
    return "" if block is None else str(block.id)
