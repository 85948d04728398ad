"""A tour as one HTML file that needs no server and no network: its words, its pictures, and what turns it."""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from demos.errors import UserError
from demos.figures import cell_strip
from demos.figures.axes import plotly_script
from demos.figures.fonts.fonts import font_files
from demos.figures.palette import css_variables, scales
from demos.files import read_beside
from demos.page.bar import DEFAULT_TEXT
from demos.page.head import style_sheets
from demos.page.lesson import Page
from demos.page.tours.drawn_stops import draw_stop
from demos.page.tours.tour_file import Tour
from demos.templates import in_script, templates

MOST_BYTES = 10_000_000  # of a file
TEXT = templates(__file__, "text_pack.html")


def packed(tour: Tour, demo: gr.Blocks, pages: Sequence[Page]) -> str:
    """The file's text, drawn by the pages' own handlers. Raises UserError where it would be larger than 10 MB."""
    by_lesson = {page.lesson.slug: page for page in pages}
    stops = []
    for stop in tour.stops:
        page = by_lesson[stop.lesson]
        drawn = draw_stop(demo, page, stop, DEFAULT_TEXT)
        stops.append(
            {"title": stop.title, "said": stop.text, "lesson": stop.lesson, "tab": page.lesson.tab, **asdict(drawn)}
        )
    cells = f"window.insideBert = {{ scales: {json.dumps(scales())} }};{cell_strip.SCRIPT}"
    has_figures = any(picture["figure"] for stop in stops for picture in stop["pictures"])
    text = TEXT.page(
        tour.title,
        Markup(in_script(stops)),
        Markup(css_variables() + "".join(path.read_text(encoding="utf-8") for path in style_sheets())),
        Markup(read_beside(__file__, "pack.css")),
        b64encode(font_files()[0].data).decode(),
        Markup(plotly_script()) if has_figures else Markup(),
        Markup(cells + read_beside(__file__, "pack.js")),
    )
    if len(text.encode()) > MOST_BYTES:
        raise UserError(
            f"{tour.file}: the pack would have {len(text.encode()) / 1e6:.1f} MB, more than {MOST_BYTES // 10**6}; "
            "leave out some stops."
        )
    return text


def write_pack(text: str, path: Path) -> None:
    """Raises UserError where nothing can be written there."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: the file can't be written ({error.strerror}).") from error
