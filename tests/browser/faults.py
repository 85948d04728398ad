"""What axe finds wrong on the page as it is: faults that keep somebody from reading or using it."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.events import settle

# axe as it is, but quicker. Its build for old browsers keeps the parts of each colour in WeakMaps, it parses the few
# colours of a page again for each element, and it writes out the markup of each element that it looks at: half of its
# time. Here what belongs to a colour is a property of it, a colour is parsed once, and only a fault is written out.
QUICK_AXE = f"""() => {{
    class QuickMap extends WeakMap {{
        #name = Symbol();
        has(key) {{ return key instanceof Node ? super.has(key) : Object.hasOwn(key, this.#name); }}
        get(key) {{ return key instanceof Node ? super.get(key) : key[this.#name]; }}
        set(key, value) {{
            if (key instanceof Node) return super.set(key, value);
            key[this.#name] = value;
            return this;
        }}
    }}
    ((WeakMap) => {{ {AXE_SCRIPT} }})(QuickMap);
    const colours = axe.commons.color.Color.prototype;
    const parse = colours.parseString;
    const parsed = new Map();
    colours.parseString = function (text) {{
        if (!parsed.has(text)) {{
            const {{ r, g, b, alpha }} = parse.call(this, text);
            parsed.set(text, {{ r, g, b, alpha }});
        }}
        return Object.assign(this, parsed.get(text));
    }};
    axe.configure({{ noHtml: true }});
}}"""
# axe walks through hidden tabs for nothing: they stand aside meanwhile, but for those whose frame would load anew.
SERIOUS = """async ([within, options]) => {
    const closed = [...document.querySelectorAll('[role=tabpanel]')]
        .filter((panel) => !panel.getClientRects().length && !panel.querySelector('iframe'));
    const aside = closed.map((panel) => {
        const held = document.createDocumentFragment();
        held.append(...panel.childNodes);
        return held;
    });
    try {
        const { violations } = await axe.run(within ?? document, { ...options, elementRef: true });
        return violations
            .filter(({ impact }) => ["serious", "critical"].includes(impact))
            .map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ element }) => element.outerHTML.slice(0, 160))]);
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
        page.evaluate(QUICK_AXE)
    serious: dict[str, list[str]] = {}
    for _ in range(6):
        settle(page, 200)
        serious = dict(page.evaluate(SERIOUS, [within, options]))
        if not serious:
            break
        page.wait_for_timeout(150)
    return serious
