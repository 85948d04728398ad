"""The page's own script and style sheet: each is one text, of files that lie in the folders of what they are for."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from demos.bert.model.catalogue import CATALOGUE, ModelSpec
from demos.bert.model.models import at_hand
from demos.figures.palette import css_variables, scales
from demos.files import read_beside, read_text
from demos.page.tours.tour_file import Tour, offered
from demos.templates import in_script

DEMOS = Path(__file__).resolve().parents[1]
SCRIPTS = (
    "ask_again.js",
    "gradio_events.js",
    "room/room.js",
    "kept.js",
    "elements.js",
    "ticks.js",
    "limits.js",
    "link.js",
    "your_questions/boxes.js",
    "your_questions/review.js",
    "lead.js",
    "looks.js",
    "controls.js",
    "notebook.js",
    "redraw.js",
    "file_endings.js",
    "tours/own_tour.js",
    "tours/presenter.js",
    "tours/tour.js",
    "glossary/script.js",
    "finder/script.js",
    "larger_model/script.js",
    "full_screen/script.js",
    "plots.js",
    "figure_table.js",
)
SHEETS = (
    "page.css",
    "bar.css",
    "example_chips/style.css",
    "figure_table.css",
    "tours/style.css",
    "tours/presenter.css",
    "questions/style.css",
    "glossary/style.css",
    "finder/style.css",
    "larger_model/style.css",
    "full_screen/style.css",
    "embed/style.css",
)
SWITCHES = read_beside(__file__, "switches.js")  # what a component with switches runs when it is mounted
KEYFRAMES = re.compile(r"@keyframes [\w-]+ \{(?:[^{}]*\{[^{}]*\})*\s*\}")
FLOORS = ("figures", "widgets", "lessons")  # a later sheet may say more than an earlier one


def build_switches() -> gr.HTML:
    """Questions first, and the room."""
    return gr.HTML(read_beside(__file__, "switches.html"), js_on_load=SWITCHES, elem_id="switches", padding=False)


def downloads(catalogue: Mapping[str, ModelSpec] = CATALOGUE) -> str:
    """CSS that says in the menu of models what each one's weights weigh, where they would come from the Hub first."""
    entry = '#bar-model [role="option"][aria-label="{}"]::after{{content:"from the Hub, {:,} MB"}}'
    return "".join(entry.format(spec.title, spec.size_mb) for spec in catalogue.values() if not at_hand(spec))


def script(*widgets: str, tours: Sequence[Tour] = (), questions: Mapping[str, Any] | None = None) -> str:
    """JavaScript: the tours, the scripts, those of widgets last.

    `questions` are those that can be repeated (demos/page/your_questions/catalogue.py).
    """
    tours_json = in_script(offered(tours))
    questions_json = in_script(questions or {"names": {}, "sentences": []})
    colours = f"insideBert.scales = {json.dumps(scales())};"
    given = [f"window.tours = {tours_json};", f"window.questions = {questions_json};"]
    own = [*given, *(read_beside(__file__, name) for name in SCRIPTS)]
    needed = f"insideBert.requirements = {json.dumps(requirements())};"
    return "".join([*own, colours, needed, *widgets])


def style_sheet() -> str:
    """CSS: the palette as variables, and all style sheets, in which `&` is the page's root.

    All rules are nested in a selector of three pseudo-classes, so that they win over Gradio's own. Gradio's `css`
    would do the like in each browser, at each opening, and keep every rule twice.
    """
    sheets = "".join(map(read_text, style_sheets())) + downloads()
    frames = "".join(KEYFRAMES.findall(sheets))  # may not be nested
    return f"{css_variables()}{frames}:root:root:root{{{KEYFRAMES.sub('', sheets)}}}"


def requirements() -> dict[str, str]:
    """The versions that requirements.txt allows of each package, as pip takes them: {"torch": ">=2.8,<2.14"}."""
    lines = read_text(DEMOS.parent / "requirements.txt").splitlines()
    return {match[1]: match[2] for line in lines if (match := re.match(r"([\w-]+)([=<>]\S+)", line))}


def style_sheets() -> list[Path]:
    """Every style sheet of the page, the page's own first: a part's sheet is found by lying in its folder."""
    page = (DEMOS / "page" / name for name in SHEETS)
    return [*page, *(path for floor in FLOORS for path in sorted((DEMOS / floor).rglob("*.css")))]
