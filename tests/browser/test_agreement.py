"""Agrees with people? in a real browser: a clicked bar is picked and linked, a file is read."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

PART = "#embeddings-agreement"


def test_bars_are_clicked_and_files_read(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="agreement")
    part = page.locator(PART)
    bars = page.locator(f"{PART}-bars")
    expect(bars.locator(".barlayer .point path")).to_have_count(40)
    expect(part).to_contain_text("mean, last hidden layer (6): ρ =")
    bars.scroll_into_view_if_needed()
    box = bars.locator(".barlayer .trace").first.locator(".point path").nth(1).bounding_box()  # [CLS], layer 1
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 12)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 10)
    expect(part).to_contain_text("[CLS], layer 1 of 6: ρ =")
    page.wait_for_url("**agreement_pooling=cls**")
    part.get_by_label("STS-B, or your own, from a file").check()
    expect(part.locator(".notice")).to_contain_text("Choose a file of sentence pairs")
    picker = page.locator(f"{PART}-file input[type=file]")
    rows = "".join(f"A cat sleeps {n} times.,The {n} dogs bark.,{n}\n" for n in range(6))
    picker.set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": f"{rows}x,y,much\n".encode()})
    expect(part.locator(".notice")).to_have_text("Row 7 has no number for a score: 'much'.")
    page.locator(f"{PART}-file").get_by_label("Remove").or_(
        page.locator(f"{PART}-file").get_by_label("Clear")
    ).first.click()
    picker.set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    expect(part).to_contain_text("Best on these 6 pairs")
    expect(part.locator(".notice")).to_have_count(0)
