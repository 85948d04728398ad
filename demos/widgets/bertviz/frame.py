"""The bridge to bertviz: a component whose value is a message for a sandboxed frame that runs bertviz's own scripts.

The frame is loaded once and has no origin and no network; what a reader typed reaches it as data, never as markup.
"""

from pathlib import Path
from typing import Any

import gradio as gr

from demos.files import ASSETS, read_asset
from demos.page.lesson import IN_BROWSER
from demos.page.view import Control, choice
from demos.widgets.bertviz.views import VIEWS, views_folder
from demos.widgets.takeaway.takeaway import PRIVATE, takeaway_row

FRAME = ASSETS / "bertviz"
TEMPLATE = '<iframe sandbox="allow-scripts" title="${title}"></iframe>'  # fixed: the value is never part of it


def static_paths() -> list[Path]:
    """The files that the browser may fetch for the frame: its own folder and bertviz's three scripts
    (`gr.set_static_paths`).
    """
    return [FRAME, *(views_folder() / f"{view}_view.js" for view in VIEWS)]


def bertviz_frame(title: str, **options: Any) -> gr.HTML:
    """The component: bertviz's views, filled with a message (`demos.widgets.bertviz.messages.frame_message`).

    The message is a text (`demos.templates.in_script`) and no dict: gradio wraps a dict in proxies, which can't be
    posted to another window. The component's `select` event reports a choice made inside.

    A function and no subclass: gradio writes a .pyi file beside the source of each subclass of a component.
    """
    return gr.HTML(
        None,
        html_template=TEMPLATE,
        js_on_load=read_asset("bertviz/bridge.js"),
        apply_default_css=False,
        title=title,
        page=(FRAME / "frame.html").as_posix(),
        views=views_folder().as_posix(),
        **options,
    )


def lines_buttons() -> None:
    """The row that saves the frame's lines as they are on screen: PNG and SVG, drawn in the frame."""
    with takeaway_row("Download the lines:"):
        for kind in ("png", "svg"):
            gr.Button(kind.upper(), size="sm", elem_classes="save", min_width=60).click(
                None, js=f"() => {{ insideBert.attention.save('{kind}'); }}", **PRIVATE
            )


def lines_choice(value: str = "") -> Any:
    """A choice of the heads whose lines are drawn, as `heads_on` reads it; the frame alone sets it."""
    control = Control(lambda _: gr.Textbox(value, visible="hidden"), lambda _, said: said or "", redraws=False)
    return choice(value, control)


def wire_frame(
    frame: gr.Component,
    layer: gr.Component,
    head: gr.Component,
    lines: gr.Component,
    cached: gr.Component,
    picked: gr.Component,
) -> None:
    """Write what is chosen in the frame to the controls at once, in the browser; the frame follows the controls.

    They say what the reader has chosen, also while an answer is awaited. `cached` is what the browser has of the
    drawing, and `picked` changes with each choice that is to be drawn.
    """
    place = [layer, head, lines, cached]
    chosen = "(...values) => [...insideBert.attention.chosen(values), String(Date.now())]"
    frame.select(None, place, [*place, picked], js=chosen, **IN_BROWSER)
    frame.input(None, None, [lines], js="() => insideBert.attention.lines()", **IN_BROWSER)
    followed = "(head, lines) => { insideBert.attention?.show(head, lines); }"
    # after a drawing, too: it may be of choices that others have followed
    gr.on([head.change, lines.change, frame.change], None, [head, lines], None, js=followed, **IN_BROWSER)
