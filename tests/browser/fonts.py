"""What Latin text of a page is set in another font than ours, which would be as wide as the machine's fonts are."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from playwright.sync_api import Error, Page

FAMILIES = ("Inter", "Literata", "JetBrains Mono")
LATIN = r"/^[\u0020-\u017f\u0391-\u03c9\u2010-\u2027\u2190-\u2193\u2212\n]+$/u"
# Elements whose own text is Latin or Greek and can be seen: those that are new, or read otherwise, since the last call
# are marked as unread, with the number of their style. What decides a text's font is its style and its characters: each
# style gets a sample, out of sight, of all characters that are set in it. Returns how many texts there are in all.
MARK_LATIN = f"""() => {{
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const samples = new Map();
    const DECIDING = ["fontFamily", "fontWeight", "fontStyle", "fontStretch", "fontVariant", "textTransform"];
    while (walker.nextNode()) {{
        const [node, element] = [walker.currentNode, walker.currentNode.parentElement];
        if (!node.data.trim() || !element.checkVisibility()) continue;
        const own = [...element.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data).join("").trim();
        if (element.dataset.read === own || !{LATIN}.test(own)) continue;
        if (element.closest("script, style, option, .katex, .icon, .modebar-container")) continue;
        if (/[^\u0020-\u017f"]/.test(getComputedStyle(element, "::before").content)) continue; // a sign of the system's
        element.dataset.read = own;
        const computed = getComputedStyle(element);
        const style = Object.fromEntries(DECIDING.map((name) => [name, computed[name]]));
        const key = JSON.stringify(style);
        if (!samples.has(key)) samples.set(key, {{ style, number: samples.size, characters: new Set() }});
        for (const one of own) samples.get(key).characters.add(one);
        element.dataset.unread = samples.get(key).number;
    }}
    const aside = document.createElement("div");
    Object.assign(aside.style, {{ position: "fixed", visibility: "hidden" }});
    for (const {{ style, number, characters }} of samples.values()) {{
        const sample = document.createElement("div");
        Object.assign(sample.style, style);
        sample.dataset.sample = number;
        sample.textContent = [...characters].join("");
        aside.append(sample);
    }}
    document.body.append(aside);
    return document.querySelectorAll("[data-read]").length;
}}"""
ALL_READ = """() => {
    document.querySelectorAll("[data-unread]").forEach((one) => delete one.dataset.unread);
    document.querySelector("[data-sample]")?.parentElement.remove();
}"""


def foreign_fonts(page: Page) -> set[tuple[str, str]]:
    """(font, the text's beginning) of Latin text that is set in another's font, where this was not looked at before."""
    cdp = page.context.new_cdp_session(page)
    page.evaluate("document.fonts.ready")
    assert page.evaluate(MARK_LATIN) > 20
    cdp.send("DOM.enable")
    cdp.send("CSS.enable")
    root = cdp.send("DOM.getDocument")["root"]["nodeId"]

    def nodes(selector: str) -> list[int]:
        return list(cdp.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"])

    def foreign(node: int) -> list[str]:
        fonts: list[dict[str, Any]] = cdp.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        return [
            font["familyName"]
            for font in fonts
            if not font["isCustomFont"] or not font["familyName"].startswith(FAMILIES)
        ]

    found = set()
    for number, sample in enumerate(nodes("[data-sample]")):
        for node in nodes(f"[data-unread='{number}']") if foreign(sample) else []:
            with suppress(Error):  # what a redraw has taken away meanwhile
                for font in foreign(node):
                    markup = cdp.send("DOM.getOuterHTML", {"nodeId": node})["outerHTML"]
                    found.add((font, markup[:200]))
    page.evaluate(ALL_READ)
    cdp.detach()
    return found
