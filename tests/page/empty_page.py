"""A page of which there is nothing but the bar's hidden boxes, for tests of what is put on it."""

from typing import Any

import gradio as gr

from demos.page.lesson import Lesson, Page
from demos.page.services import Services

LONG = Lesson("long", 9, "Long", "Long?", "Look. Here.")


def empty_page(services: Services, lesson: Lesson = LONG, kind: Any = Page, **of_page: Any) -> Any:
    """A page, or another `kind` of one; inside of a `gr.Blocks`."""
    hidden = [gr.Textbox(value) for value in ("A text.", "", "minilm", "", "")]
    return kind(lesson, services, *hidden, **{"notices": gr.Column(), "trained": gr.State("")} | of_page)
