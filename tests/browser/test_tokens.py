"""The Tokens lesson in Chromium: chips as one types, both sides linked, the folded parts, hostile text."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from demos.lessons.tokens.part import BATCH_EXAMPLE
from tests.browser.events import unfold
from tests.browser.faults import serious_faults

SENTENCE = "#bar-text textarea"
CHIPS = "#tokens-picture .chip"
FOLDS = ["trace", "batch", "vocabulary", "cased", "others", "numbers", "formula", "code", "source"]
Open = Callable[..., Page]


def expect_pieces(page: Page, wanted: str) -> None:
    expect(page.locator(f"{CHIPS} .piece")).to_have_text(wanted.split())


def test_chips_and_folds(open_lesson: Open) -> None:
    page = open_lesson("tokens", text="He found it pronounceable.", under="id", word="found", letters="telecomm")
    the_trace_of_a_chosen_or_a_typed_word(page)
    the_vocabulary_explorer(page)
    chips_follow_typing_paste_cut_undo_and_delete(page)
    a_token_and_its_characters_light_up_together(page)
    too_much_text_is_told_and_typing_goes_on(page)


def the_trace_of_a_chosen_or_a_typed_word(page: Page) -> None:
    unfold(page.locator("#tokens-trace"))
    title = page.locator("#tokens-steps .search-title")
    expect(title).to_contain_text(["found"])
    page.locator("#tokens-own").locator("input, textarea").fill("Straße")
    expect(title).to_contain_text(["straße"])
    expect(page.locator("#tokens-steps .hit")).to_contain_text(["st", "##raße"])
    page.locator("#tokens-own").locator("input, textarea").fill("🍕")
    expect(title).to_contain_text(["the whole word becomes [UNK]"])
    page.locator("#tokens-own").locator("input, textarea").fill("")
    page.locator("#tokens-word input").click()
    page.get_by_role("option", name="pronounceable.").click()
    expect(title).to_contain_text(["pronounceable", "."])
    page.wait_for_function("new URLSearchParams(location.search).get('word') === 'pronounceable.'")


def the_vocabulary_explorer(page: Page) -> None:
    unfold(page.locator("#tokens-vocabulary"))
    expect(page.locator("#tokens-found .found")).to_have_text("2 entries")
    expect(page.locator("#tokens-vocabulary dd").first).to_have_text("30,522")
    page.locator("#tokens-id input").fill("103")
    expect(page.locator("#tokens-meaning .found")).to_contain_text("Id 103 is [MASK], a special token.")
    page.locator("#tokens-id input").fill("99999")
    expect(page.locator("#tokens-meaning .aside")).to_have_text("The ids of this vocabulary run from 0 to 30,521.")


def chips_follow_typing_paste_cut_undo_and_delete(page: Page) -> None:
    page.locator(SENTENCE).fill("hello")
    expect_pieces(page, "[CLS] hello [SEP]")
    page.locator(SENTENCE).press("End")
    page.keyboard.type("s!")
    expect_pieces(page, "[CLS] hello ##s ! [SEP]")
    page.keyboard.press("Backspace")
    expect_pieces(page, "[CLS] hello ##s [SEP]")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+X")
    expect_pieces(page, "[CLS] [SEP]")
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+V")
    expect_pieces(page, "[CLS] hello ##sh ##ello ##s [SEP]")
    page.keyboard.press("Control+Z")
    expect_pieces(page, "[CLS] hello ##s [SEP]")
    page.locator("#bar-pair textarea").fill("you too")
    expect_pieces(page, "[CLS] hello ##s [SEP] you too [SEP]")
    expect(page.locator("#tokens-picture .below").first).to_have_text("101")
    expect(page.locator(f"{CHIPS}.joined")).to_have_count(1)
    expect(page.locator("#tokens-picture ol")).to_have_count(2)


def a_token_and_its_characters_light_up_together(page: Page) -> None:
    page.locator("#bar-pair textarea").fill("")
    page.locator(SENTENCE).fill("Café 각 pronounceable")
    page.locator(CHIPS, has_text="cafe").hover()
    lit = page.locator("#tokens-picture .lit")
    expect(lit).to_have_text(["Café", "cafe7668"])
    expect(page.locator("#tokens-picture .told")).to_contain_text("id 7668")
    page.locator("#tokens-picture .from", has_text="각").hover()
    expect(lit).to_have_count(4)  # one syllable, three letters
    page.locator("#bar-text textarea").hover()
    expect(lit).to_have_count(0)
    page.locator(CHIPS).first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator(CHIPS).nth(2)).to_be_focused()
    expect(lit).to_have_text(["각", "ᄀ1455"])  # the first of its letters lights the syllable and its own chip
    page.keyboard.press("End")
    expect(page.locator(CHIPS).last).to_be_focused()


def too_much_text_is_told_and_typing_goes_on(page: Page) -> None:
    page.locator(SENTENCE).fill("fine")
    expect_pieces(page, "[CLS] fine [SEP]")
    page.locator(SENTENCE).fill("x" * 20_001)
    told = page.locator("#lesson-tokens .notice:visible")
    for at in range(2):  # under the bar, and in the open fold of the trace
        expect(told.nth(at)).to_have_text("The sentence has 20,001 characters; the limit is 20,000.")
    expect_pieces(page, "[CLS] fine [SEP]")
    page.locator(SENTENCE).fill("word " * 600)
    expect(page.locator("#tokens-picture .limit")).to_contain_text(
        "BERT's input is limited to 512 tokens; this text has 602."
    )
    expect(told).to_have_count(0)


def test_hostile_text_stays_text_in_every_part_and_all_unfolded_it_reads_well(open_lesson: Open) -> None:
    hostile = "<img src=x onerror=alert(1)> ${alert(2)} {{alert(3)}} </script><script>alert(4)</script> \"' onfocus=a"
    page = open_lesson(
        "tokens",
        text=hostile,
        pair=hostile,
        own=hostile,
        lines=hostile,
        letters=hostile,
        piece=hostile,
        __theme="dark",
    )
    assert page.evaluate("document.body.classList.contains('dark')")
    expect(page.locator(CHIPS).nth(20)).to_be_visible()
    for fold in FOLDS:
        unfold(page.locator(f"#tokens-{fold}"))
    expect(page.locator("#tokens-steps .search").first).to_be_visible()
    expect(page.locator("#tokens-padded table")).to_be_visible()
    expect(page.locator("#tokens-begun .aside")).to_contain_text("<img src=x onerror=alert(1)>")
    page.locator(CHIPS).nth(3).hover()
    expect(page.locator("#tokens-picture .told")).to_contain_text("position 3")
    expect(page.locator("#lesson-tokens img")).to_have_count(0)
    assert page.evaluate("document.querySelectorAll('#lesson-tokens [onerror], #lesson-tokens [onfocus]').length") == 0

    page.locator(SENTENCE).fill("Unbelievablest pizza🍕 今\u200b [MASK]")
    page.locator("#bar-pair textarea").fill("Yes.")
    for box, held in (("own", ""), ("lines", BATCH_EXAMPLE), ("letters", "##ing"), ("piece", "un")):
        page.locator(f"#tokens-{box}").locator("input, textarea").fill(held)
    expect(page.locator(f"{CHIPS}.unknown")).to_have_count(2)
    expect(page.locator("#tokens-steps .search-title").first).to_contain_text("unbelievablest")
    expect(page.locator("#tokens-padded .token-row")).to_have_count(3)
    expect(page.locator("#tokens-found .piece").first).to_have_text("##ing")
    expect(page.locator("#tokens-begun .piece").first).to_have_text("under")
    expect(page.locator("#tokens-code .cm-line").first).to_be_visible()
    expect(page.locator("#tokens-formula .katex").first).to_be_visible()
    for theme, width in (("dark", 1280), ("light", 390)):
        page.evaluate("(dark) => insideBert.looks.dark(dark)", theme == "dark")
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)
        serious = serious_faults(page, [], "#lesson-tokens")
        assert serious == {}, theme
