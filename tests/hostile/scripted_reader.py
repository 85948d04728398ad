"""A reader in a real browser who puts script payloads into every input there is, and looks at every output.

Inputs: every box of each part, every picker of files (names, headers, cells and labels), the link. Outputs: what the
page shows, with every fold open and the pointer on its pictures, and every file that it offers, opened as a page.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import openpyxl
from playwright.sync_api import BrowserContext, Download, Error, Page

from tests.hostile.payloads import MADE

LESSONS = ("tokens", "attention", "encoder", "pretraining", "embeddings", "finetune", "overview")
LINKED = (
    *("hub", "next_a", "next_b", "corrupt_text", "labels_text", "other", "own", "lines", "letters", "piece", "list"),
    *("search_query", "word", "word_uses", "written", "compare_text", "find", "mask", "off", "view", "habit", "model"),
)
BOXES = "#lessons :is(textarea, input[type=text]):visible:not([role=combobox]):not([readonly]):not([disabled])"
FOLDS = "#lessons :is(details:not([open]) > summary, button.label-wrap:not(.open)):visible"
POINTED = ":is(.js-plotly-plot .nsewdrag, [data-token], [data-cell], [data-head], [title]):visible"
# What the page's policy refuses, but for fonts: none of the payloads is one.
NOTE_REFUSALS = """addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective }) => {
    if (!violatedDirective.startsWith("font")) (window.__refused ??= []).push(`${violatedDirective} ${blockedURI}`);
})"""
STILL = 300  # milliseconds without a change of the page
REST = """async ([still, most]) => {
    const begun = performance.now();
    let changed = begun;
    const seen = new MutationObserver(() => (changed = performance.now()));
    seen.observe(document.body, { childList: true, subtree: true, characterData: true });
    while (performance.now() - changed < still && performance.now() - begun < most)
        await new Promise((go) => setTimeout(go, 50));
    seen.disconnect();
}"""


@dataclass
class Seen:
    """What came of it: scripts that ran and elements that payloads became; where payloads were shown, and how often."""

    faults: list[str] = field(default_factory=list)
    shown: Counter[str] = field(default_factory=Counter)
    inputs: Counter[str] = field(default_factory=Counter)
    downloads: Counter[str] = field(default_factory=Counter)


class ScriptedReader:
    """One tab of `context`. `payloads` go into every input together; files are written into `folder`."""

    def __init__(self, context: BrowserContext, url: str, payloads: tuple[str, ...], folder: Path) -> None:
        self.page: Page = context.new_page()
        self.url, self.payloads, self.folder = url, payloads, folder
        self.text = " ".join(payloads)
        self.seen = Seen()
        self.saved: list[Download] = []
        self.page.on("download", lambda one: self.saved.append(one))
        self.page.on("dialog", lambda box: (self.seen.faults.append(f"dialog {box.message}"), box.dismiss()))
        self.page.add_init_script(NOTE_REFUSALS)

    def visit(self, lesson: str, downloads: bool = True) -> None:
        """Open a lesson by a link that holds payloads; go through its parts."""
        link = {"lesson": lesson, "text": self.text, "pair": self.payloads[-1]}
        self.page.goto(f"{self.url}/?{urlencode(link | dict.fromkeys(LINKED, self.payloads[0]))}")
        self.page.wait_for_selector("#bar-text textarea")
        self.page.wait_for_selector(f"#lesson-{lesson} .lesson-heading h2")
        self.page.wait_for_function("new URLSearchParams(location.search).has('model')")
        tabs = self.page.locator(f"[id^={lesson}-][id$=-button][role=tab]")
        for at in range(max(1, tabs.count())):
            if tabs.count():
                tabs.nth(at).click()
            self.part(f"{lesson} {at + 1}", downloads)

    def part(self, name: str, downloads: bool) -> None:
        """Whatever the open part takes, and then whatever it shows."""
        self.rest()
        self.unfold()
        for box in self.page.locator(BOXES).all():
            most = int(box.get_attribute("maxlength") or 100_000)
            box.fill(self.text[:most])
            self.seen.inputs["boxes"] += 1
        for picker in self.page.locator("#lessons input[type=file]").all():
            for path in self.files():
                picker.set_input_files(path)
                self.seen.inputs["files"] += 1
                self.rest()
        self.rest()
        self.unfold()
        self.point(name)
        self.look(name)
        if downloads:
            self.take(name)

    def unfold(self) -> None:
        """Open what is folded in the open part."""
        for fold in self.page.locator(FOLDS).all():
            without_error(fold.click, timeout=500)
        self.rest()

    def files(self) -> list[Path]:
        """A table as CSV, workbook and JSON, with payloads in its name, header, texts and labels."""
        labels = [payload[:60] for payload in self.payloads[:2]]
        rows = [[f"{self.payloads[n % len(self.payloads)]} {n}", labels[n % 2]] for n in range(24)]
        header, book, written = ["text", "label"], openpyxl.Workbook(), io.StringIO()
        csv.writer(written).writerows([header, *rows])
        sheet = book.active
        assert sheet is not None
        sheet.title = "<img src=x onerror="
        for row in [header, *rows]:
            sheet.append([f" {cell}" for cell in row])
        name = self.payloads[0].replace("/", "∕")[:80]
        paths = [self.folder / f"{name}.{ending}" for ending in ("csv", "xlsx", "json")]
        paths[0].write_text(written.getvalue(), encoding="utf-8")
        book.save(paths[1])
        paths[2].write_text(
            json.dumps([{"text": text, "label": label, name: 1} for text, label in rows]), encoding="utf-8"
        )
        return paths

    def point(self, name: str) -> None:
        """Rest the pointer on some of what answers to it."""
        for one in self.page.locator(f"#lessons {POINTED}").all()[:12]:
            without_error(one.hover, timeout=300, force=True)
        self.seen.faults += self.made(name)

    def look(self, name: str) -> None:
        self.seen.faults += self.made(name)
        self.seen.shown[name] += self.page.evaluate(
            "document.querySelector('#lessons').textContent.split('__ran').length - 1"
        )

    def made(self, name: str) -> list[str]:
        """What payloads have become in the page and its frames; and what its policy has refused."""
        found = []
        for frame in self.page.frames:
            try:
                found += [f"{name}: {one}" for one in frame.evaluate(MADE)]
                found += [f"{name}: refused {one}" for one in frame.evaluate("window.__refused ?? []")]
            except Error:  # a frame that is gone by now
                continue
        return found

    def take(self, name: str) -> None:
        """Every file that the part offers; those that a browser opens as a page are opened as one."""
        for button in self.page.locator("#lessons .takeaway button:visible:enabled").all():
            without_error(button.click, timeout=1_000)
            self.page.wait_for_timeout(100)
        self.rest()
        for download in self.saved:
            path = self.folder / download.suggested_filename
            download.save_as(path)
            self.seen.downloads[path.suffix] += 1
            if path.suffix == ".csv":
                with path.open(newline="", encoding="utf-8-sig") as file:
                    cells = [cell for row in csv.reader(file) for cell in row]
                self.seen.faults += [f"{name}: formula {cell[:50]!r}" for cell in cells if is_formula(cell)]
            if path.suffix in (".html", ".svg"):
                self.open_file(path)
        self.saved.clear()

    def open_file(self, path: Path) -> None:
        """As who has taken it home does, with no network."""
        browser = self.page.context.browser
        assert browser is not None
        home = browser.new_context(offline=True)
        tab = home.new_page()
        tab.goto(path.as_uri())
        self.seen.faults += [f"{path.name}: {one}" for one in tab.evaluate(MADE)]
        home.close()

    def rest(self, most: int = 8_000) -> None:
        self.page.evaluate(REST, [STILL, most])


def without_error(act: Callable[..., object], **options: Any) -> None:
    """Do this; what has gone by now is passed over."""
    try:
        act(**options)
    except Error:
        return


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet may take a cell for more than text; a number is none."""
    try:
        float(cell)
    except ValueError:
        return cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r"))
    return False
