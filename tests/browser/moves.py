"""A part's controls, whichever they are: moved as a reader moves them, and looked for in what the page asks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator, Page

# Marks the controls in sight, one a block, and returns their kinds in the page's order. What a reader types is none.
MARK = """(panel) => {
    for (const one of document.querySelectorAll("[data-movable]")) delete one.dataset.movable;
    const seen = (one) => (one.closest("label") ?? one).checkVisibility({ visibilityProperty: true });
    const kinds = [];
    for (const block of document.getElementById(panel).querySelectorAll(".block")) {
        const inputs = [...block.querySelectorAll("input:not(:disabled)")].filter(seen);
        if (!inputs.length || block.querySelector(".block") || block.closest(".question, .walk")) continue;
        const types = inputs.map((input) => input.getAttribute("role") === "listbox" ? "listbox" : input.type);
        const kind = ["range", "listbox", "radio", "checkbox"].find((one) => types.includes(one));
        if (!kind || (kind === "radio" && types.length < 2)) continue;
        block.dataset.movable = kinds.length;
        kinds.push(kind);
    }
    return kinds;
}"""
# -> the number of the component that holds each choice of the open lesson
COMPONENTS = r"""() => {
    const kept = ({ js }) => /insideBert\.link\.keep\((\[.*?\])/.exec(js);
    const writes = gradio_config.dependencies.find(kept);
    return writes ? JSON.parse(kept(writes)[1]).map((name, at) => [name, writes.inputs[at]]) : [];
}"""
INPUTS = "() => gradio_config.dependencies.map(({ id, inputs }) => [id, inputs])"
SLIDER = """(box) => {
    const range = box.closest(".block").querySelector("input[type=range]");
    return [range.value, range.min, range.step].map(Number);
}"""


def movable(page: Page, panel: str) -> list[tuple[str, Locator]]:
    """(kind, block) of each control in sight, once a control has these marks and no other."""
    kinds = page.evaluate(MARK, panel)
    return [(kind, page.locator(f'[data-movable="{at}"]')) for at, kind in enumerate(kinds)]


def move(page: Page, kind: str, block: Locator) -> None:
    """Give a control another value: the first other one that is on offer, of a slider the one below (or above)."""
    if kind == "range":
        box = block.locator("input[type=number]")
        value, least, step = box.evaluate(SLIDER)
        box.fill(f"{value - step if value - step >= least else value + step:g}")
        box.press("Enter")
    elif kind == "listbox":
        block.locator("input").focus()
        option = page.locator("[role=option]:visible:not([aria-selected=true])").first
        option.evaluate("(one) => one.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true }))")
    else:
        block.locator("input:not(:checked), input[type=checkbox]").first.evaluate("(one) => one.click()")


def last_asked(page: Page, events: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """The value of each choice in the last of these events that reads it."""
    inputs, names = dict(page.evaluate(INPUTS)), {number: name for name, number in page.evaluate(COMPONENTS)}
    sent = (pair for event, data in events for pair in zip(inputs[event], json.loads(data), strict=True))
    return {names[number]: value for number, value in sent if number in names}
