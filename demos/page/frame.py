"""The bridge to bertviz: a component whose value is a message for a sandboxed frame that runs bertviz's own scripts.

The frame is loaded once and has no origin and no network; what a reader typed reaches it as data, never as markup.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradio as gr

from demos.page.assets import ASSETS, read_asset

FRAME = ASSETS / "bertviz"
TEMPLATE = '<iframe sandbox="allow-scripts" title="${title}"></iframe>'  # fixed: the value is never part of it


def views_folder() -> Path:
    """Where the installed bertviz keeps its scripts; found without importing it, which takes a second."""
    spec = find_spec("bertviz")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("bertviz is not installed: pip install -r requirements.txt")
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def static_paths() -> list[Path]:
    """What the browser may fetch for the frame: its own folder and bertviz's three scripts (`gr.set_static_paths`)."""
    return [FRAME, *(views_folder() / f"{view}_view.js" for view in ("head", "model", "neuron"))]


class BertvizFrame(gr.HTML):
    """bertviz's views; its value is a dict (`demos.figures.bertviz.frame_message`) or None for nothing yet."""

    def __init__(self, title: str, **options: Any) -> None:
        super().__init__(
            None,
            html_template=TEMPLATE,
            js_on_load=read_asset("bertviz/bridge.js"),
            apply_default_css=False,
            title=title,
            page=(FRAME / "frame.html").as_posix(),
            views=views_folder().as_posix(),
            **options,
        )

    def postprocess(self, value: dict[str, Any] | None) -> str | None:
        """JSON text: gradio would wrap a dict in proxies, which can't be posted to another window."""
        return None if value is None else json.dumps(value)

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}
