"""The corruption machine and the labels, in Chromium: draw again, the link, the share that gives way, the answer."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.events import unfold

READ = ".corruption-row .read"


def test_a_draw_travels_in_the_link_and_the_answer_follows_it(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="corruption", corrupt_seed="7", corrupt_text="<b>Ships</b> wait in the fog.")
    row = page.locator("ol.corruption-row")
    expect(row).to_contain_text("ships")
    before = page.locator(READ).all_text_contents()
    page.locator("#corruption-again").click()
    expect(page.locator("#corruption-seed input")).to_have_value("8")
    page.wait_for_function(
        "([read, before]) => [...document.querySelectorAll(read)].map(one => one.textContent).join() !== before",
        arg=[READ, ",".join(before)],
    )
    page.wait_for_function("() => new URLSearchParams(location.search).get('corrupt_seed') === '8'")
    unfold(page.locator("#pretraining-corruption-controls"))
    page.locator("#corruption-masked input[type=number]").fill("95")
    page.locator("#corruption-masked input[type=number]").press("Tab")
    expect(page.locator("#corruption-replaced input[type=number]")).to_have_value("5")
    expect(page.locator("#corruption-rest")).to_contain_text("0%")
    seed = page.locator("#corruption-seed input")
    for typed, taken in ("-4", "0"), ("2.5", "3"), ("", "0"), ("9999999999", "2147483647"):
        seed.fill(typed)
        seed.press("Tab")
        expect(seed).to_have_value(taken)
    page.wait_for_function("() => new URLSearchParams(location.search).get('corrupt_seed') === '2147483647'")
    expect(page.locator(".toast-body")).to_have_count(0)

    page.get_by_role("tab", name="Supervised or not?").click()
    expect(page.locator(".labels-table").first).to_contain_text("letters")
    answer = page.locator(".labels-answer")
    expect(answer).to_contain_text("Self-supervised.")
    before = page.locator("#labels-rows").inner_text()
    page.locator("#labels-again").click()
    expect(page.locator("#labels-rows")).not_to_have_text(before)
    expect(answer).to_contain_text("Self-supervised.")
