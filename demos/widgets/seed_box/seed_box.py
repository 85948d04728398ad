"""The box for a seed: whole numbers that every generator takes."""

from typing import Any

import gradio as gr

from demos.page.layer_head_choices import clamp
from demos.page.view import Control, choice
from demos.training.settings import BOUNDS

_, LEAST, MOST = BOUNDS["seed"]


def seed_box(value: int = 0, label: str = "Seed", **options: Any) -> gr.Number:
    """In the browser, what is typed beyond the bounds becomes the nearest seed (demos/page/controls.js)."""
    return gr.Number(value, label=label, **{"precision": 0, "minimum": LEAST, "maximum": MOST} | options)


def seed_choice(value: int, label: str = "Seed", *, by_script: bool = False, **look: Any) -> Any:
    """A view's choice of a seed."""

    def make(_: Any) -> gr.Component:
        return seed_box(value, label, **look)

    most = int(look.get("maximum", MOST))
    return choice(value, Control(make, lambda _, said: clamp(said, most + 1), by_script=by_script))
