"""What axe finds wrong on the page as it is: faults that keep somebody from reading or using it."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.events import settle

# axe walks through hidden tabs for nothing: they stand aside meanwhile, but for those whose frame would load anew.
VIOLATIONS = """async ([within, options]) => {
    const closed = [...document.querySelectorAll('[role=tabpanel]')]
        .filter((panel) => !panel.getClientRects().length && !panel.querySelector('iframe'));
    const aside = closed.map((panel) => {
        const held = document.createDocumentFragment();
        held.append(...panel.childNodes);
        return held;
    });
    try {
        return (await axe.run(within ?? document, options)).violations;
    } finally {
        closed.forEach((panel, at) => panel.append(aside[at]));
    }
}"""


def serious_faults(page: Page, rules: list[str], within: str | None = None) -> dict[str, list[str]]:
    """axe's serious and critical findings, by these of its rules or, where none is named, by all; `within` a selector.

    What is being drawn anew is dimmed for a moment: a fault outlasts that.
    """
    targets = {"target-size": {"enabled": True}}  # 24 pixels, WCAG 2.5.8; axe leaves it out by default
    chosen: dict[str, Any] = {"runOnly": rules} if rules else {"rules": targets}
    options = {"resultTypes": ["violations"], "iframes": False, **chosen}
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    serious: dict[str, list[str]] = {}
    for _ in range(6):
        settle(page, 200)
        serious = {
            rule["id"]: [node["html"][:160] for node in rule["nodes"][:3]]
            for rule in page.evaluate(VIOLATIONS, [within, options])
            if rule["impact"] in {"serious", "critical"}
        }
        if not serious:
            break
        page.wait_for_timeout(150)
    return serious
