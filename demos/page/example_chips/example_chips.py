"""The bar's examples: a button opens chips, grouped by what they show; a press on one fills both sentences."""

import gradio as gr
from markupsafe import Markup

from demos.files import Json, read_beside, read_json_beside
from demos.page.lesson import IN_BROWSER
from demos.templates import templates

TEXT = templates(__file__)


def groups_for(lesson: str) -> list[Json]:
    """examples.json: groups of {label, text, text_pair}, those first that name the slug `lesson`."""
    groups: list[Json] = read_json_beside(__file__, "examples.json")
    for group in groups:
        group["examples"] = [{"text_pair": ""} | example for example in group["examples"]]
    return sorted(groups, key=lambda group: lesson not in group["lessons"])


def chips_html(lesson: str) -> Markup:
    """The button and its panel on the page of `lesson`."""
    return Markup(TEXT.panel(groups_for(lesson)))


def example_chips(lesson: str, text: gr.Textbox, text_pair: gr.Textbox) -> None:
    """Put the button here, and let a chip fill both boxes, in the browser alone."""
    chips = gr.HTML(
        chips_html(lesson), js_on_load=read_beside(__file__, "script.js"), elem_id="bar-examples", padding=False
    )
    chips.select(None, None, [text, text_pair], js="() => insideBert.picked.example()", **IN_BROWSER)
