"""A lesson's choices as a reader meets them: which of them are in sight, and each moved by hand."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page

# -> [(the choice's name in the link, its component, its place in the page)] of those in sight within `panel`
IN_SIGHT = """(panel) => {
    const { dependencies } = gradio_config;
    const keeps = dependencies.find(({ js }) => `${js}`.includes("insideBert.keep("));
    const names = JSON.parse(/insideBert\\.keep\\((\\[.*?\\])/.exec(keeps.js)[1]);
    const { components } = gradio_config;
    return keeps.inputs.map((id, index) => {
        const { props } = components.find((component) => component.id === id);
        const place = props.elem_id || `component-${id}`;
        const block = document.getElementById(place);
        const inputs = [...(block?.querySelectorAll("input, textarea") ?? [])];
        const seen = inputs.some((input) => (input.closest("label") ?? input).checkVisibility({ visibilityProperty: true }) && !input.disabled);
        return seen && block.closest(`#${panel}`) ? [names[index], id, place] : undefined;
    }).filter(Boolean);
}"""  # noqa: E501
# -> [the inputs of the page's event `number`: components]
INPUTS = "(number) => gradio_config.dependencies.find(({ id }) => id === number).inputs"
SECOND, THIRD = "Two old boats lay on the bank.", "Three old boats lay on the bank."
CHOICES = "insideBert.view().choices"


def in_sight(page: Page, panel: str) -> list[tuple[str, int, str]]:
    """(name in the link, component, element) of each choice that can be made in the panel as it is."""
    return [tuple(choice) for choice in page.evaluate(IN_SIGHT, panel)]


def inputs_of(page: Page, number: int) -> list[int]:
    """The components that an event of the page reads."""
    components: list[int] = page.evaluate(INPUTS, number)
    return components


def choices(page: Page) -> dict[str, Any]:
    """What the page holds, by name in the link."""
    held: dict[str, Any] = page.evaluate(CHOICES)
    return held


def move(page: Page, place: str) -> None:
    """Make another choice with the control at `place`, as a reader does, and wait until the page has it."""
    block, before = page.locator(f"[id='{place}']"), choices(page)
    _move(page, block)
    page.wait_for_function(f"(before) => JSON.stringify({CHOICES}) !== before", arg=page.evaluate(_AS_TEXT, before))


_AS_TEXT = "(value) => JSON.stringify(value)"


def _move(page: Page, block: Locator) -> None:
    number, menu = block.locator("input[type=number]"), block.locator("input[role=combobox]")
    if number.count():
        value = float(number.input_value() or 0)
        low, high = (float(number.get_attribute(name) or default) for name, default in (("min", 0), ("max", 9)))
        step = float(number.get_attribute("step") or 1)
        number.fill(f"{value + step if value + step <= high else max(low, value - step):g}")
        number.press("Enter")
    elif menu.count():
        menu.click()
        page.locator("[role=option]:not(.selected):visible").first.click()
    elif block.locator("input[type=radio]").count():
        block.locator("label:has(input[type=radio]:not(:checked):not(:disabled)):visible").first.click()
    elif block.locator("input[type=checkbox]").count():
        block.locator("label:has(input[type=checkbox]:not(:disabled)):visible").first.click()
    else:
        field = block.locator("textarea, input").first
        field.fill(THIRD if field.input_value() == SECOND else SECOND)
