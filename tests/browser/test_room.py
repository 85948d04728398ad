"""A room in Chromium: a lecturer's page and a phone that follows it, votes, and sends a sentence."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from tests.browser.conftest import stands
from tests.browser.faults import serious_faults
from tests.hostile.wire import send

NASTY = "<img src=x onerror=alert(1)>${alert(1)}{{7*7}}</script>"
LINE, BALLOT, PANEL = "#room-line", "#room-line .room-ballot", "#room"
SENTENCE = "#bar-text textarea"
COSINE = "document.querySelector('#embeddings-pooling-b .js-plotly-plot')?._fullData?.[0]?.z?.[0]?.[1]"
Open = Callable[..., Page]


def opened(page: Page) -> str:
    """The code of a room that this page opens."""
    page.get_by_role("button", name="Room", exact=True).click()
    expect(page.locator("#room-heading")).to_be_focused()
    page.get_by_role("button", name="Open a room").click()
    expect(page.locator(f"{PANEL} .room-code")).to_have_text(re.compile("^[A-Z]{4}$"))
    expect(page.locator("#room-heading")).to_be_focused()
    return page.locator(f"{PANEL} .room-code").inner_text()


def test_a_lecture_with_a_phone(open_lesson: Open, phone: Page, app_url: str) -> None:
    page = open_lesson("tokens")
    code = opened(page)
    assert serious_faults(page, [], PANEL) == {}
    phone.goto(app_url)
    stands(phone, "overview")
    phone.get_by_role("button", name="Room", exact=True).tap()
    phone.get_by_label("Code of a room").fill(code.lower())
    phone.keyboard.press("Enter")
    expect(phone.locator(LINE)).to_contain_text(f"In room {code} · following")
    stands(phone, "tokens")
    expect(page.locator(PANEL)).to_contain_text("1 in the room")
    the_phone_follows_without_loading_anew(page, phone)
    it_lets_go_and_comes_back(page, phone)
    a_phone_that_slept_asks_for_its_stream_again(phone)
    a_vote_and_the_same_again(page, phone)
    the_parts_own_question(page, phone)
    a_question_that_the_sentence_answers(page, phone)
    a_sentence_from_the_hall(page, phone)
    a_data_set_from_the_hall(page, phone)
    a_member_can_t_lead(phone, app_url, code)
    it_is_shown_on_the_whole_screen(page, code)
    page.get_by_role("button", name="End the room").click()
    expect(phone.locator(LINE)).to_contain_text("The room is over.")
    phone.get_by_role("button", name="Leave the room").tap()
    expect(phone.locator(LINE)).to_have_count(0)
    phone.reload()
    stands(phone, "embeddings")
    expect(phone.locator(LINE)).to_have_count(0)


def the_phone_follows_without_loading_anew(page: Page, phone: Page) -> None:
    page.locator("#lesson-encoder-link").click()
    stands(page, "encoder")
    stands(phone, "encoder")
    expect(phone.locator(LINE)).to_contain_text("following")  # it is still in the room
    phone.evaluate("window.sameDocument = true")
    page.locator(SENTENCE).fill("Two banks and a river.")
    expect(phone.locator(SENTENCE)).to_have_value("Two banks and a river.")
    page.locator("#encoder-block-button").click()
    expect(phone.locator("#encoder-block-button")).to_have_attribute("aria-selected", "true")
    page.locator("#encoder-layer input[type=number]").fill("4")
    expect(phone.locator("#encoder-layer input[type=number]")).to_have_value("4")
    expect(phone.locator("#encoder-block")).to_contain_text("through layer 4")  # it is drawn, too
    assert phone.evaluate("window.sameDocument") is True
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def it_lets_go_and_comes_back(page: Page, phone: Page) -> None:
    phone.get_by_role("button", name="Stop following").tap()
    expect(phone.locator(LINE)).to_contain_text("paused")
    page.locator("#lesson-tokens-link").click()
    stands(page, "tokens")
    phone.reload()  # what it has let go stays so
    stands(phone, "encoder")
    expect(phone.locator(LINE)).to_contain_text("paused")
    phone.get_by_role("button", name="Follow").tap()
    stands(phone, "tokens")
    phone.locator("#lesson-encoder-link").tap()  # who goes elsewhere is not taken back at once
    stands(phone, "encoder")
    expect(phone.locator(LINE)).to_contain_text("paused")
    phone.get_by_role("button", name="Follow").tap()
    stands(phone, "tokens")
    expect(phone.locator(LINE)).to_contain_text("following")


def a_phone_that_slept_asks_for_its_stream_again(phone: Page) -> None:
    """What follows shows that the new one is heard."""
    with phone.expect_request("**/room/stream?*"):
        phone.evaluate("""() => {
            const now = Date.now;
            const turn = (state) => {
                Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
                document.dispatchEvent(new Event("visibilitychange"));
            };
            turn("hidden");
            Date.now = () => now() + 300_000;
            turn("visible");
            Date.now = now;
            delete document.visibilityState;
        }""")


def a_vote_and_the_same_again(page: Page, phone: Page) -> None:
    page.get_by_role("button", name="Room", exact=True).click()
    page.locator(f"{PANEL} summary", has_text="Vote").click()
    page.get_by_label("Question", exact=True).fill(f"How many tokens? {NASTY}")
    for number, answer in enumerate(("16", NASTY, "18"), 1):
        page.get_by_label(f"Answer {number}", exact=True).fill(answer)
    page.get_by_label("Answer 3 is correct").check()
    page.get_by_role("button", name="Start the vote").click()
    expect(phone.locator(BALLOT)).to_contain_text(NASTY)
    answers = phone.locator(f"{BALLOT} button")
    expect(answers).to_have_text(["16", NASTY, "18"])
    answers.nth(0).tap()
    expect(answers.nth(0)).to_have_attribute("aria-pressed", "true")
    counts = page.locator(f"{PANEL} .room-tally .count")
    expect(counts).to_have_text(["1", "0", "0"])
    answers.nth(1).tap()
    expect(counts).to_have_text(["0", "1", "0"])
    expect(phone.locator(f"{BALLOT} .count")).to_have_count(0)  # nothing is told before it is shown
    page.get_by_role("button", name="Vote again").click()
    expect(answers.nth(1)).to_have_attribute("aria-pressed", "false")
    answers.nth(2).tap()
    expect(counts).to_have_text(["0", "1", "0", "0", "0", "1"])
    page.get_by_role("button", name="Show the result to all").click()
    expect(phone.locator(f"{BALLOT} .count")).to_have_text(["0", "1", "0", "0", "0", "1"])
    expect(phone.locator(f"{BALLOT} .right").first).to_contain_text("correct answer")
    expect(phone.locator(f"{BALLOT} .right").last).to_contain_text("18 (correct answer, your answer)")
    assert serious_faults(phone, [], LINE) == {}
    assert phone.locator(f"{LINE} img").count() + page.locator(f"{PANEL} .room-tally img").count() == 0
    page.get_by_role("button", name="End the vote").click()
    expect(phone.locator(BALLOT)).to_be_hidden()


def the_parts_own_question(page: Page, phone: Page) -> None:
    page.locator("#lesson-embeddings-link").click()
    stands(phone, "embeddings")
    page.get_by_role("button", name="Room", exact=True).click()
    page.locator(f"{PANEL} summary", has_text="Vote").click()
    page.get_by_role("button", name="Ask this part’s question").click()  # of the lesson's first part
    expect(phone.locator(BALLOT)).to_contain_text("A sentence of 13 words becomes 20 tokens")
    answers, counts = phone.locator(f"{BALLOT} button"), page.locator(f"{PANEL} .room-tally .count")
    pictures = [one.locator("#embeddings-pooling .picture:not([hidden])").first for one in (page, phone)]
    notices = [page.locator(f"{PANEL} .room-hides"), phone.locator(f"{BALLOT} .room-hides")]

    def hides(yes: bool) -> None:
        """Whether the picture, which gives the answer away, is out of sight for all, and said to be."""
        for picture, notice in zip(pictures, notices, strict=True):
            expect(notice).to_be_visible(visible=yes)
            expect(picture).to_be_visible(visible=not yes)

    hides(True)
    texts = answers.all_inner_texts()
    wrong, right = (texts.index(text) for text in ("768, and 13 × 768 = 9,984", "768, and 20 × 768 = 15,360"))
    answers.nth(wrong).tap()
    first = ["1" if place == wrong else "0" for place in range(4)]
    expect(counts).to_have_text(first)
    page.get_by_role("button", name="Show the result to all").click()
    expect(phone.locator(f"{BALLOT} .right")).to_have_text(re.compile(r"768, and 20 × 768 = 15,360 .*correct"))
    hides(False)
    page.get_by_role("button", name="Vote again").click()
    hides(True)
    phone.get_by_role("button", name="Stop following").tap()
    expect(pictures[1]).to_be_visible()
    phone.get_by_role("button", name="Follow", exact=True).tap()
    hides(True)
    answers.nth(right).tap()
    second = ["1" if place == right else "0" for place in range(4)]
    expect(counts).to_have_text(first + second)
    page.get_by_role("button", name="End the vote").click()
    expect(phone.locator(BALLOT)).to_be_hidden()
    hides(False)


def a_question_that_the_sentence_answers(page: Page, phone: Page) -> None:
    page.locator("#embeddings-anisotropy-button").click()
    page.get_by_role("button", name="Ask this part’s question").click()
    expect(phone.locator(f"{BALLOT} button").first).to_be_visible()
    page.get_by_role("button", name="Show the result to all").click()
    marked = phone.locator(f"{BALLOT} .right .answer")
    expect(marked).to_contain_text("correct answer")
    page.get_by_role("button", name="Predict first").press("Enter")  # the panel may lie over it
    page.locator("[data-waive]:visible").press("Enter")
    right = page.locator(".question .why li", has_text="✓").locator("b")
    expect(marked).to_contain_text(right.inner_text())
    page.get_by_role("button", name="End the vote").click()
    expect(phone.locator(BALLOT)).to_be_hidden()


def a_sentence_from_the_hall(page: Page, phone: Page) -> None:
    said = f"A sentence from the hall {NASTY}"
    phone.get_by_role("button", name="Send a sentence to the lecturer").tap()
    phone.get_by_label("Sentence for the lecturer").fill(said)
    phone.keyboard.press("Enter")
    expect(phone.locator(LINE)).to_contain_text("Your sentence was sent.")
    fold = page.locator(".room-sentences summary")
    expect(fold).to_have_text("Sentences from the class (1)")
    assert said not in page.content()  # nobody sees it before the list is opened
    fold.click()
    expect(page.locator(".room-sentences li")).to_contain_text(said)
    page.get_by_role("button", name="Use", exact=True).click()
    expect(page.locator(SENTENCE)).to_have_value(said)
    expect(phone.locator(SENTENCE)).to_have_value(said)
    expect(fold).to_have_text("Sentences from the class (0)")
    assert page.locator(".room-sentences img").count() == 0


def a_data_set_from_the_hall(page: Page, phone: Page) -> None:
    fold = page.locator(".room-data")
    fold.locator("summary").click()
    page.get_by_label("Two to six classes").fill(f"praise\n{NASTY[:28]}")
    page.get_by_role("button", name="Ask the class for sentences").click()
    phone.get_by_label("A sentence for the class’s data set").fill(f"A fine film {NASTY}")
    phone.locator("[data-form=write] button", has_text="praise").tap()
    expect(phone.locator(LINE)).to_contain_text("Added to the data set.")
    phone.get_by_label("A sentence for the class’s data set").fill(f"a fine  FILM {NASTY}")
    phone.locator("[data-form=write] button", has_text="onerror").tap()
    expect(phone.locator(LINE)).to_contain_text("in the data set already")
    expect(fold.locator("li")).to_contain_text(f"A fine film {NASTY} praise 1")
    expect(fold).to_contain_text("No sentence has two labels yet.")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    assert json.loads(saved.value.path().read_text(encoding="utf-8")) == [
        {"text": f"A fine film {NASTY}", "label": "praise"}
    ]
    assert serious_faults(phone, [], LINE) == {}
    assert fold.locator("img").count() + phone.locator(f"{LINE} img").count() == 0
    page.get_by_role("button", name="End and remove all").click()
    expect(phone.locator("[data-form=write]")).to_be_hidden()


def a_member_can_t_lead(phone: Page, app_url: str, code: str) -> None:
    now = phone.evaluate("insideBertRoom.now")
    assert "key" not in now
    body = {"key": now["member"], "do": "show", "lesson": "encoder", "query": ""}
    assert send(app_url, f"/room/lead?room={code}", body).status == 403


def it_is_shown_on_the_whole_screen(page: Page, code: str) -> None:
    page.get_by_role("button", name="Show on the whole screen").click()
    big = page.locator("#room-on-screen")
    expect(big.locator(".room-code")).to_have_text(code)
    assert big.locator("img").evaluate("(image) => image.complete && image.naturalWidth > 100")
    assert serious_faults(page, [], "#room-on-screen") == {}
    page.keyboard.press("Escape")
    expect(big).to_be_hidden()


def test_a_link_leads_in_and_stays_out_of_the_address(open_lesson: Open, phone: Page, app_url: str) -> None:
    page = open_lesson("attention", text="A patient teacher reads.")
    code = opened(page)
    expect(page.locator(f"{PANEL} .room-link")).to_have_text(re.compile(rf"/\?room={code}$"))
    phone.goto(f"{app_url}/?room={code}")
    stands(phone, "attention")
    expect(phone.locator(SENTENCE)).to_have_value("A patient teacher reads.")
    assert "room=" not in phone.url
    phone.goto(f"{app_url}/?room=%3Cb%3E")
    expect(phone.locator(LINE)).to_contain_text("There is no room with this code")
    page.reload()  # the lecturer's page leads on
    stands(page, "attention")
    phone.goto(f"{app_url}/tokens?room={code}")
    stands(phone, "attention")
    page.locator(SENTENCE).fill("And on it goes.")
    expect(phone.locator(SENTENCE)).to_have_value("And on it goes.")
    other = page.context.new_page()  # another tab of the lecturer's browser
    other.goto(f"{app_url}/tokens")
    stands(other, "tokens")
    other.get_by_role("button", name="Room", exact=True).click()
    other.get_by_role("button", name=f"Continue with room {code}").click()
    stands(phone, "tokens")


OWN = """---
title: Mine
---
## Pieces of **words**
view: /tokens
question: yes
See *this*.
## Layers
view: /encoder
One after the other.
"""


def test_members_read_the_stops_of_the_lecturers_own_tour(open_lesson: Open, phone: Page, app_url: str) -> None:
    page = open_lesson("tokens")
    code = opened(page)
    page.evaluate("insideBert.ownTour.open()")
    page.locator("#own-tour [data-file]").set_input_files(
        {"name": "a.md", "mimeType": "text/plain", "buffer": OWN.encode()}
    )
    page.get_by_role("button", name="Start the tour").click()
    expect(page.locator("#lesson-tokens .question")).to_be_visible()
    phone.goto(f"{app_url}/?room={code}")
    card = phone.locator(f"{LINE} .room-stop")
    expect(card.locator("summary")).to_have_text("Pieces of **words**")
    expect(card.locator("div")).to_be_empty()  # it may tell what is asked
    page.locator("[data-waive]").click()
    expect(card.locator("em")).to_have_text("this")
    assert serious_faults(phone, [], LINE) == {}
    page.get_by_role("link", name="Next").click()
    expect(card).to_contain_text("One after the other.")
    stands(phone, "encoder")
    page.get_by_role("button", name="End the tour").click()
    expect(card).to_be_hidden()


def test_the_classs_data_set_is_opened_in_fine_tune_and_trained_on(open_lesson: Open, app_url: str) -> None:
    page = open_lesson("finetune", epochs=1)
    code = opened(page)
    page.locator(".room-data summary").click()
    page.get_by_label("Two to six classes").fill("praise\ncomplaint")
    page.get_by_role("button", name="Ask the class for sentences").click()
    expect(page.locator(".room-counts")).to_have_text("praise: 0 · complaint: 0")
    for member in range(4):
        key = json.loads(send(app_url, f"/room/join?room={code}", {}).body)["member"]
        for number in range(8):
            said = {"sentence": f"The {('good', 'bad')[number % 2]} film {member}-{number}", "label": number % 2}
            assert send(app_url, f"/room/label?room={code}", {"member": key, **said}).status == 200
    expect(page.locator(".room-counts")).to_have_text("praise: 16 · complaint: 16")
    page.get_by_role("button", name="Open it in Fine-tune").click()
    expect(page.locator("#finetune-data")).to_contain_text(f"class-{code}")
    expect(page.locator("#finetune-data")).to_contain_text("complaint")
    page.click("#finetune-start")
    expect(page.locator("#finetune-scores")).to_contain_text("For comparison: logistic regression")


@pytest.mark.quick
def test_a_run_of_the_lecturer_is_everybodys(open_lesson: Open, phone: Page, app_url: str, tmp_path: Path) -> None:
    page = open_lesson("finetune", epochs=1, most=50, pooling="cls")
    code = opened(page)
    page.get_by_role("button", name="Close", exact=True).click()
    phone.goto(f"{app_url}/?room={code}")
    stands(phone, "finetune")
    expect(page.locator("#finetune-cost")).to_contain_text("4 steps")
    page.click("#finetune-start")
    for one in (phone, page):
        expect(one.locator("#finetune-curve .curve-status")).to_contain_text("Trained after 4 steps", timeout=300_000)
        expect(one.locator("#finetune-curve path.validation").first).to_be_attached()
    values = "texts => texts.map(text => text.textContent)"
    drawn = [one.locator("#finetune-curve .curve-value").evaluate_all(values) for one in (phone, page)]
    assert drawn[0] == drawn[1] != []
    page.fill("#finetune-try-0 textarea", "i feel so happy today")
    page.click("#finetune-ask")
    likeliest = page.locator("#finetune-answer tbody tr").first
    expect(likeliest).to_contain_text("%")
    phone.get_by_role("button", name="Model: try").tap()
    phone.get_by_label("Sentence for the model that the class has trained").fill("i feel so happy today")
    phone.keyboard.press("Enter")
    expect(phone.locator(f"{LINE} li")).to_have_count(5)
    assert phone.locator("#finetune-start").is_enabled()  # their own runs are as before
    page.get_by_role("button", name="Room", exact=True).click()
    page.locator(".room-record summary").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    rows = table_rows(saved.value)
    losses = [row["loss"] for row in rows if row["kind"] == "training"]
    assert len(losses) == 4
    assert all(float(loss) > 0 for loss in losses)
    assert [row["score"] for row in rows if row["kind"] == "validation"][-1]
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as HTML").click()
    drawn = page.context.new_page()
    saved.value.save_as(tmp_path / "room.html")
    drawn.goto((tmp_path / "room.html").as_uri())
    expect(drawn.locator("svg.chart")).to_have_count(2)
    expect(drawn.locator("[data-section=runs]")).to_contain_text("Trained after 4 steps")
    drawn.close()
    said = dict(row.inner_text().rsplit(" ", 1) for row in phone.locator(f"{LINE} li").all())
    for name, share in said.items():  # until then the page may show an answer from before this question
        row = page.locator("#finetune-answer tbody tr").filter(has=page.get_by_text(name, exact=True))
        expect(row).to_contain_text(re.compile(percent(int(share.rstrip("%")))))
    its_model_is_shown_to_the_members_alone(page, phone)


def its_model_is_shown_to_the_members_alone(page: Page, phone: Page) -> None:
    page.get_by_role("button", name="Close", exact=True).click()
    page.locator("#bar-model input").click()
    page.get_by_role("option", name="Your run 1: Emotion").click()
    menu, notice = phone.locator("#bar-model input"), phone.locator("#bar-status")
    expect(menu).to_have_value("The room’s run")
    page.locator("#lesson-embeddings-link").click()
    stands(phone, "embeddings")
    expect(menu).to_have_value("The room’s run")
    expect(phone.locator("#model-note")).to_contain_text("Fine-tuned by this room’s lecturer from MiniLM (bundled)")
    for _ in range(1200):  # each may still show what it drew of the model before
        cosines = [one.evaluate(f"() => {COSINE} ?? null") for one in (page, phone)]
        if None not in cosines and cosines == pytest.approx(cosines[:1] * 2, abs=1e-6):
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail(f"the members' page shows another cosine: {cosines}")
    browser = page.context.browser
    assert browser is not None
    stranger = browser.new_context().new_page()
    stranger.goto(phone.url)
    expect(stranger.locator("#bar-status")).to_contain_text("cannot be opened here: it was trained in another browser")
    stranger.context.close()
    page.get_by_role("button", name="Room", exact=True).click()
    page.get_by_role("button", name="End the room").click()
    expect(phone.locator(LINE)).to_contain_text("The room is over.")
    phone.locator(SENTENCE).fill("The room is empty now.")
    expect(phone.locator(".lesson-notice .notice").first).to_contain_text("or the room has ended")
    phone.reload()
    expect(notice).to_contain_text("Using MiniLM (bundled) instead.")
    expect(menu).to_have_value("MiniLM (bundled)")


def test_the_record_of_a_room_is_a_page_and_a_table(open_lesson: Open, app_url: str, tmp_path: Path) -> None:
    """With texts that try to be HTML or a spreadsheet's formula; the page is made once the room is over."""
    page = open_lesson("tokens")
    code = opened(page)
    keys = [json.loads(send(app_url, f"/room/join?room={code}", {}).body)["member"] for _ in range(4)]
    now = page.evaluate("insideBertRoom.now")
    question, answers = f"=1+1 {NASTY}", ["@SUM(1)", NASTY, "+18"]

    def lead(do: str, **more: object) -> None:
        assert send(app_url, f"/room/lead?room={code}", {"key": now["key"], "do": do, **more}).status == 200

    def say(member: int, **more: object) -> None:
        assert send(app_url, f"/room/say?room={code}", {"member": keys[member], **more}).status == 200

    lead("ask", question=question, answers=answers, right=[2])
    for member, place in enumerate((0, 0, 1, 2)):
        say(member, answer=place, vote=1, round=1)
    lead("again")
    for member, place in enumerate((2, 0, 2)):  # the fourth votes once
        say(member, answer=place, vote=1, round=2)
    lead("reveal")
    sentence = "Voted twice: 3. Moved to the correct answer: 2; away from it: 0; correct both times: 0."
    expect(page.locator(f"{PANEL} .room-moved")).to_have_text(sentence)
    page.locator("[data-do='big vote']").click()
    assert bands(page, "#room-on-screen") == {"moved": ["1", "1"], "": ["1"]}
    assert serious_faults(page, [], "#room-on-screen") == {}
    page.keyboard.press("Escape")
    lead("end vote")
    page.goto(f"{app_url}/encoder")  # what was recorded stays with the tab
    stands(page, "encoder")
    lead("ask", question=question, answers=answers)
    say(0, answer=1, vote=2, round=1)
    say(1, sentence=f"-2+3 {NASTY}")
    page.get_by_role("button", name="Room", exact=True).click()
    page.locator(".room-sentences summary").click()
    page.get_by_role("button", name="Use", exact=True).click()
    lead("collect", classes=["=good", "bad"])
    said = {"member": keys[0], "sentence": f"\uff1dA film {NASTY}", "label": 0}
    assert send(app_url, f"/room/label?room={code}", said).status == 200
    expect(page.locator(".room-data summary")).to_contain_text("(1)")
    page.get_by_role("button", name="End the room").click()
    expect(page.locator(".room-record")).to_contain_text(f"After room {code}")
    assert serious_faults(page, [], PANEL) == {}
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    rows = table_rows(saved.value)
    kept = [[row[name] for name in ("kind", "text", "label", "correct", "first", "second")] for row in rows]
    assert kept == [
        ["answer", f"'{question}", "'@SUM(1)", "no", "2", "1"],
        ["answer", f"'{question}", NASTY, "no", "1", "0"],
        ["answer", f"'{question}", "'+18", "yes", "1", "2"],
        *[["answer", f"'{question}", *row] for row in (["'@SUM(1)", "", "0", ""], [NASTY, "", "1", ""])],
        ["answer", f"'{question}", "'+18", "", "0", ""],
        ["sentence", f"'-2+3 {NASTY}", "", "", "", ""],
        ["data", f"'\uff1dA film {NASTY}", "'=good", "", "", ""],
    ]
    assert [(row["moved_to"], row["moved_from"]) for row in rows[:4]] == [("0", "1"), ("0", "1"), ("2", "0"), ("", "")]
    assert all(value[:1] not in "=+-@\t\r" for row in rows for value in row.values() if value)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as HTML").click()
    saved.value.save_as(tmp_path / "room.html")
    page.goto((tmp_path / "room.html").as_uri())
    expect(page.locator("h1")).to_have_text(f"Room {code}")
    expect(page.locator("h3")).to_have_text([question, question])
    assert page.locator("tbody").first.inner_text().split() == f"@SUM(1) 2 1 {NASTY} 1 0 +18 1 2 correct answer".split()
    expect(page.locator(".room-moved")).to_have_text(sentence)
    assert bands(page, "section") == {"moved": ["1", "1"], "": ["1"]}
    expect(page.locator("svg")).to_have_count(2)  # the later vote on the same question is drawn beside the earlier one
    expect(page.locator("svg").last.locator("line")).to_have_count(3)
    expect(page.locator("li")).to_have_text(f"-2+3 {NASTY}")
    expect(page.locator("[data-section=data] td")).to_have_text([f"\uff1dA film {NASTY}", "=good"])
    assert page.locator("img, script").count() == 0
    assert serious_faults(page, [], "body") == {}


def table_rows(saved: Download) -> list[dict[str, str]]:
    """The rows of a CSV that was saved."""
    return list(csv.DictReader(io.StringIO(saved.path().read_bytes().decode("utf-8-sig"), newline="")))


def bands(page: Page, place: str) -> dict[str, list[str]]:
    """The bands of the shift that is drawn there, as numbers of people: to the correct answer, and to others."""
    drawn: dict[str, list[str]] = {}
    for band in page.locator(f"{place} .shift path").all():
        name = (band.get_attribute("class") or "").removeprefix("right ")
        drawn.setdefault(name, []).append(band.get_attribute("data-count") or "")
    return drawn


def percent(whole: int) -> str:
    """A pattern of the percents with a decimal that round to this one; a half may go either way."""
    return rf"\b({whole - 1}\.[5-9]|{whole}\.[0-5])%"
