"""Measures what can be read of a page and its frames (readable.js), in the pixels of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SCRIPT = (Path(__file__).parent / "readable.js").read_text(encoding="utf-8")


def seen(page: Page) -> dict[str, list[dict[str, Any]]]:
    """The texts and marks of the open part, those of frames among them; a frame is as zoomed as the page around it."""
    found: dict[str, list[dict[str, Any]]] = page.evaluate(SCRIPT, "#lessons")
    for frame in page.frames[1:]:
        box = frame.frame_element().bounding_box()
        if not box or not box["width"]:
            continue
        inside = frame.evaluate(SCRIPT, None)
        zoom = box["width"] / frame.evaluate("innerWidth")
        found["texts"] += [text | {"size": text["size"] * zoom} for text in inside["texts"]]
    return found
