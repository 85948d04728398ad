"""What the page brings along: its header, its scripts, and every style sheet that lies beside what it styles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import gradio as gr

from demos.figures.palette import css_variables, scales
from demos.files import read_beside
from demos.page.tours.tour_file import Tour, as_json

DEMOS = Path(__file__).resolve().parents[1]
SCRIPTS = (
    "ask_again.js",
    "gradio_events.js",
    "link.js",
    "controls.js",
    "redraw.js",
    "file_endings.js",
    "tours/tour.js",
    "plot_colours.js",
)
FLOORS = ("figures", "widgets", "lessons")  # a later sheet may say more than an earlier one


def build_header() -> gr.HTML:
    """The page's title and its switches."""
    return gr.HTML(
        read_beside(__file__, "header.html"), js_on_load=read_beside(__file__, "header.js"), elem_id="header"
    )


def head(*widgets: str, tours: Sequence[Tour] = ()) -> str:
    """HTML for the page's `<head>`: the palette as CSS variables, the tours, the scripts, those of widgets last."""
    said = json.dumps(as_json(tours)).replace("<", "\\u003c")  # no text of a tour ends the script
    colours = f"insideBert.scales = {json.dumps(scales())};"
    own = [f"window.tours = {said};", *(read_beside(__file__, name) for name in SCRIPTS)]
    scripts = [*own, colours, *widgets]
    return f"<style>{css_variables()}</style><script>{''.join(scripts)}</script>"


def style_sheets() -> list[Path]:
    """Every style sheet of the page, the page's own first: a part's sheet is found by lying in its folder."""
    own = [DEMOS / "page" / "page.css", DEMOS / "page" / "tours" / "style.css"]
    return [*own, *(path for floor in FLOORS for path in sorted((DEMOS / floor).rglob("*.css")))]
