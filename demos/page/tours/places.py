"""What a tour's stops can name: the lessons, with their parts, choices and elements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import gradio as gr

from demos.page.lesson import Page
from demos.page.tours.tour_file import Place


def places_of(demo: gr.Blocks, pages: Sequence[Page]) -> dict[str, Place]:
    """By lesson; `pages` in their order, the first at the address /."""
    elements = defaultdict(set)
    for block in demo.blocks.values():
        if block.elem_id:
            elements[block.page].add(block.elem_id)
    return {
        page.lesson.slug: Place(
            parts=frozenset(part.slug for part in page.lesson.parts),
            choices=frozenset(page.choices),
            elements=frozenset(elements[page.lesson.slug if number else ""]),
        )
        for number, page in enumerate(pages)
    }
