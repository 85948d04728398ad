"""From lesson to lesson and back, in Chromium: the sentence goes along, and what was chosen before stands there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

SENTENCE = "#bar-text textarea"


def test_a_way_there_and_back_loses_nothing(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], tmp_path: Path
) -> None:
    page = open_lesson("encoder", part="position", text="Rivers have banks.", length=40)
    long = "word " * 2_000
    page.locator(SENTENCE).fill(long)  # and at once, before the link says it
    page.keyboard.press("Tab")  # while it is written in, a long sentence covers the lessons' links
    turn_to(page, "tokens")
    expect(page.locator(SENTENCE)).to_have_value(long)
    page.locator(SENTENCE).fill("Banks have money.")
    page.go_back()
    expect(page.locator("#lesson-encoder h2")).to_be_visible()
    expect(page.locator(SENTENCE)).to_have_value(long)
    page.go_forward()
    expect(page.locator("#lesson-tokens h2")).to_be_visible()
    page.locator(SENTENCE).fill("Banks have money.")
    turn_to(page, "encoder")
    expect(page.locator(SENTENCE)).to_have_value("Banks have money.")
    expect(page.locator("#encoder-position-button")).to_have_attribute("aria-selected", "true")
    page.wait_for_function("new URLSearchParams(location.search).get('length') === '40'")


def test_a_picked_file_stays_picked(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], tmp_path: Path
) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "text,label\n" + "".join(f"{word} day {n},{word}\n" for word in ("good", "bad") for n in range(20)),
        encoding="utf-8",
    )
    page = open_lesson("finetune", data="file")
    page.locator("#lesson-finetune input[type=file]").first.set_input_files(mine)
    expect(page.locator("#finetune-data")).to_contain_text("mine")
    turn_to(page, "tokens")
    turn_to(page, "finetune")
    expect(page.locator("#finetune-data")).to_contain_text("mine")
    expect(page.locator("#lesson-finetune")).to_contain_text("mine.csv")
    page.reload()
    expect(page.locator("#finetune-data")).to_contain_text("mine")
