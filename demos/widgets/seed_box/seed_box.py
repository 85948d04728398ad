"""The box for a seed: whole numbers that every generator takes."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.training.settings import BOUNDS

_, LEAST, MOST = BOUNDS["seed"]


def seed_box(value: int = 0, label: str = "Seed", **options: Any) -> gr.Number:
    """In the browser, what is typed beyond the bounds becomes the nearest seed (demos/page/controls.js)."""
    return gr.Number(value, label=label, **{"precision": 0, "minimum": LEAST, "maximum": MOST} | options)
