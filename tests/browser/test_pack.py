"""A tour as one file, opened from the disk in a browser without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gradio as gr
import pytest
from playwright.sync_api import Browser, Page, Request, expect

from app import build_pages
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.delivery.first_views import FirstViews
from demos.page.lesson import Page as LessonPage
from demos.page.services import Services
from demos.page.tours import pack as module
from demos.page.tours.checks import check_tour
from demos.page.tours.pack import MOST_BYTES, packed, write_pack
from demos.page.tours.places import places_of
from demos.page.tours.tour_file import parse_tour

TOUR = """---
title: A <b>pack</b>
---

## Pieces </script><script>alert(1)</script>

view: /tokens?text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+unflappable
light: tokens-picture
question: yes

Some **bold** text.

notes: For nobody's eyes.

## Self-attention

view: /encoder?part=self_attention&token=2&text=Thanks+for+all+the+fish
light: encoder-board

## A figure

view: /attention?part=rollout&text=Thanks+for+all+the+fish
light: rollout-heatmap

## Lines

view: /attention?part=heads&text=Thanks+for+all+the+fish

## A translation

view: /translation?part=decoding
light: translation-alignment

## Another last word

view: /family?part=last_word&text=Thanks+for+all+the+fish
light: last-word-changes
question: yes

## Training

view: /finetune?part=train
light: finetune-curve
"""


Pages = tuple[gr.Blocks, Sequence[LessonPage]]


@pytest.fixture(scope="module")
def pages(store: ModelStore) -> Pages:
    first_views = FirstViews()
    return build_pages(Services(store, "minilm"), first_views), first_views.pages


@pytest.fixture(scope="module")
def pack(pages: Pages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tour = parse_tour("mine.md", TOUR)
    check_tour(tour, places_of(*pages))
    path = tmp_path_factory.mktemp("pack") / "mine.html"
    write_pack(packed(tour, *pages), path)
    return path


def test_a_pack_of_twenty_stops_is_small_and_a_larger_one_is_refused(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, *stops = TOUR.split("## ")
    stops = [f"{number} {stop}" for number, stop in enumerate(stops * 3, 1)][:20]
    tour = parse_tour("mine.md", "## ".join([head, *stops]))
    assert len(tour.stops) == 20
    size = len(packed(tour, *pages).encode())
    assert size < 10_000_000
    monkeypatch.setattr(module, "MOST_BYTES", size - 1)
    with pytest.raises(UserError, match="leave out some stops"):
        packed(tour, *pages)


def the_question_has_its_answers(page: Page, store: ModelStore) -> None:
    expect(page.locator("#question ol li")).to_have_count(4)
    answer = page.locator("#question .revealed")
    expect(answer).to_be_hidden()
    page.get_by_text("The answer", exact=True).first.click()
    tokens = len(store.tokenizer("minilm")("<img src=x onerror=alert(1)> unflappable").input_ids)
    expect(answer).to_contain_text(f"the input has {tokens} tokens")
    expect(answer.locator("dd")).to_have_text(["Shorter pieces of the vocabulary"])


def test_a_pack_is_read_with_no_network(pack: Path, store: ModelStore, browser: Browser) -> None:
    assert pack.stat().st_size < MOST_BYTES
    assert "nobody's eyes" not in pack.read_text(encoding="utf-8")  # the speaker's notes stay with the speaker
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    asked: list[str] = []
    faults: list[str] = []

    def noted(request: Request) -> None:
        if not request.url.startswith(("data:", "blob:", "about:", pack.as_uri())):
            asked.append(request.url)

    context.on("request", noted)
    context.on("weberror", lambda fault: faults.append(str(fault.error)))
    context.on("dialog", lambda box: (faults.append(box.message), box.dismiss()))
    page = context.new_page()
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(pack.as_uri())
    expect(page.locator("h1")).to_have_text("A <b>pack</b>")
    expect(page.locator("#title")).to_have_text("Pieces </script><script>alert(1)</script>")
    ids = store.tokenizer("minilm")("unflappable", add_special_tokens=False).input_ids
    for number in ids:
        expect(page.locator("#stage")).to_contain_text(str(number))
    the_question_has_its_answers(page, store)
    page.keyboard.press("PageDown")
    expect(page.locator("#stage")).to_contain_text("weight × v")
    painted = "(canvas) => canvas.getContext('2d').getImageData(0, 0, 1, 1).data[3]"
    assert page.locator("#stage number-cells canvas").first.evaluate(painted) == 255
    expect(page.locator("#question")).to_be_empty()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#stage .js-plotly-plot .heatmaplayer > *").first).to_be_attached()
    page.get_by_role("button", name="Next").click()
    frame = page.frame_locator("#stage iframe")
    expect(frame.locator("svg line, svg path").first).to_be_attached()
    for title in ("A translation", "Another last word"):  # of the lessons before BERT and beside it
        page.keyboard.press("PageDown")
        expect(page.locator("#title")).to_have_text(title)
        expect(page.locator("#stage .js-plotly-plot .heatmaplayer > *").first).to_be_attached()
    expect(page.locator("#question .revealed")).to_contain_text("0 of the 5 tokens before it")
    page.locator("#stops").select_option("7")
    expect(page.locator("#none")).to_contain_text("Fine-tune")
    expect(page.locator("#on")).to_be_disabled()
    context.close()
    assert asked == []
    assert faults == []
