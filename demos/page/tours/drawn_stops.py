"""A stop drawn without a browser: the pictures of its view as HTML, Plotly figures and whole documents."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from gradio.blocks import Block

from demos.page.batch import Redraw, changed_by
from demos.page.layer_head_choices import index_of, is_counted
from demos.page.lesson import Page, Part
from demos.page.links import read
from demos.page.questions import questions
from demos.page.questions.reveal import in_full
from demos.page.services import Sentence
from demos.page.tours.tour_file import Stop

SHOWN_AS_IT_IS = "${value}"  # the template of HTML that needs no script to be seen


@dataclass(frozen=True)
class Picture:
    """One picture of a stop; one of the three is filled."""

    place: str  # the id that styles know it by
    classes: str
    html: str = ""
    figure: str = ""  # Plotly's JSON
    document: str = ""  # a whole HTML file


@dataclass(frozen=True)
class Drawn:
    """A stop's view: its sentence, its question and its pictures, none where only the app can draw them."""

    text: str
    text_pair: str
    part: str
    question: str  # HTML, with the answer folded; "" where the stop has no question
    pictures: tuple[Picture, ...]


def draw_stop(demo: gr.Blocks, page: Page, stop: Stop, default_text: str) -> Drawn:
    """The element that the stop outlines, or else its part's pictures."""
    query = dict(parse_qsl(stop.query, keep_blank_values=True))
    part = next((candidate for candidate in page.lesson.parts if candidate.slug == query.get("part")), None)
    part = part or (page.lesson.parts[0] if page.lesson.parts else None)
    sentence = Sentence(query.get("text", default_text), query.get("pair", ""), query.get("model", ""))
    choices = read(query, page.schema())
    indices = {
        name: index_of(choices[name]) if is_counted(component) else choices[name]
        for name, component in page.choices.items()
    }
    slug = part.slug if part else ""
    question_html = (
        in_full(page.services, sentence, questions()[page.lesson.slug, slug], indices, choices) if stop.asks else ""
    )
    stop_fields = (sentence.text, sentence.text_pair, slug, question_html)
    if part and part.standalone:
        document = part.standalone(page.services, sentence, indices)
        return Drawn(*stop_fields, (Picture(f"{page.lesson.slug}-{part.slug}", "", document=document),))
    values = _initial(page, sentence, choices)
    here = [block for block in _within(demo, page, part) if isinstance(block, gr.HTML | gr.Plot)]
    for wanted in (
        [block for block in here if _has(block, lambda ancestor: ancestor.elem_id == stop.light)] if stop.light else [],
        [block for block in here if _has(block, lambda ancestor: "picture" in (ancestor.elem_classes or ()))],
    ):
        _draw(page.redrawn, wanted, page, values)
        pictures = [picture for block in wanted if (picture := _picture(block, values.get(block._id)))]
        if pictures:
            return Drawn(*stop_fields, tuple(pictures))
    return Drawn(*stop_fields, ())


def _initial(page: Page, sentence: Sentence, choices: Mapping[str, Any]) -> dict[int, Any]:
    """The values that differ from what the components were built with."""
    bar = zip(page.sentence, (sentence.text, sentence.text_pair, sentence.model), strict=True)
    return {
        **{component._id: value for component, value in bar},
        **{page.choices[name]._id: value for name, value in choices.items()},
    }


def _draw(redraws: Iterable[Redraw], wanted: Sequence[Block], page: Page, values: dict[int, Any]) -> None:
    """Put into `values` what the handlers answer that draw one of `wanted`, or set a choice beside others."""
    needed = {block._id for block in wanted} | {component._id for component in page.shared}
    for redraw in redraws:
        if not needed & {output._id for output in redraw.outputs} or inspect.isgeneratorfunction(redraw.handler):
            continue
        answer = redraw.handler(
            *(values.get(component._id, getattr(component, "value", None)) for component in redraw.inputs)
        )
        for output, value in zip(redraw.outputs, answer, strict=True):
            change = changed_by(value)
            if "value" in change:
                values[output._id] = change["value"]


def _within(demo: gr.Blocks, page: Page, part: Part | None) -> list[Block]:
    """The components of a part, or of a page without parts, in the page's order."""
    root = f"{page.lesson.slug}-{part.slug}" if part else f"lesson-{page.lesson.slug}"
    return [block for block in demo.blocks.values() if _has(block, lambda ancestor: ancestor.elem_id == root)]


def _has(block: Block | None, is_it: Any) -> bool:
    """Whether `is_it` holds for the component or for a block around it."""
    while block is not None and not is_it(block):
        block = block.parent
    return block is not None


def _picture(block: Block, value: Any) -> Picture | None:
    place, classes = block.elem_id or "", " ".join(block.elem_classes or ())
    if value is None or value == "":
        return None
    if isinstance(block, gr.Plot):
        return Picture(place, classes, figure=value["plot"] if isinstance(value, dict) else value.plot)
    if getattr(block, "html_template", SHOWN_AS_IT_IS) != SHOWN_AS_IT_IS:
        return None  # its script draws it
    return Picture(place, classes, html=str(value))
