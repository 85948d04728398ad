"""Train, in a real browser: an upload, paused, stopped, asked; other tasks; a closed tab; hostile rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, FloatRect, Page, expect

from tests.browser.screens import overflow

LESSON = "#lesson-finetune"
NASTY = "<img src=x onerror=alert(1)>${alert(1)}{{7*7}}</script><script>alert(1)</script>"


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """800 short rows, the classes' names and some of the sentences hostile; enough for a run that can be stopped."""
    path = tmp_path / "films.csv"
    rows = [
        f'"{NASTY if k < 4 else ""} a {("dull", "fine")[k % 2]} film {k}",{("no", "<b>yes</b>")[k % 2]}\n'
        for k in range(800)
    ]
    path.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    return path


def pick(page: Page, title: str) -> None:
    """Choose in the menu of data."""
    page.locator("#finetune-pick input").click()
    page.get_by_role("option", name=title).click()


def pick_file(page: Page, path: Path) -> None:
    pick(page, "your own file")
    page.locator(f"{LESSON} input[type=file]").first.set_input_files(path)
    expect(page.locator("#finetune-data")).to_contain_text(path.name)


def test_a_run_grows_live_stops_within_a_step_and_answers(open_lesson: Callable[..., Page], films: Path) -> None:
    page = open_lesson("finetune", epochs=10, most=400, hidden=64)
    lesson = page.locator(LESSON)
    expect(page.locator("#finetune-data tbody tr")).to_have_count(6)
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Nothing has been trained yet")
    expect(page.locator("#finetune-cost")).to_contain_text("250 steps")  # 400 of the emotion sentences
    pick_file(page, films)
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("examples/s", timeout=300_000)
    expect(page.locator("#finetune-curve path.train").first).to_be_attached()
    expect(page.locator("#finetune-curve .watched-row")).to_have_count(8)
    page.click("#finetune-pause")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Paused after step")
    page.click("#finetune-stop")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Stopped after")
    expect(lesson).to_contain_text("Training was stopped early")
    for cell in page.locator("#finetune-matrix [data-cell]").all():
        cell.click()  # its sentences, and no others
        expect(page.locator("#finetune-matrix section:visible")).to_have_count(1)
        expect(page.locator("#finetune-matrix section:visible .matrix-title")).to_contain_text(f"({cell.inner_text()})")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#finetune-matrix :focus")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#finetune-answer tbody tr")).to_have_count(2)
    page.fill("#finetune-try-0 textarea", NASTY)
    page.click("#finetune-ask")
    expect(page.locator("#finetune-answer")).to_contain_text("onerror")
    page.get_by_text("class of a pair").click()  # another task: everything is its own, and the file is kept
    expect(page.locator("#finetune-columns")).to_contain_text("The columns of this file fit the task Sentence.")
    pick(page, "Paraphrase")
    expect(page.locator("#finetune-data")).to_contain_text("pairs for training")
    expect(page.locator("#finetune-scores")).to_be_hidden()
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Nothing has been trained yet")
    page.get_by_text("Sentence one class", exact=True).click()
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Stopped after")
    expect(page.locator("#finetune-try-1")).to_be_hidden()
    assert lesson.locator("img, tbody b b, td b").count() == 0
    found = Axe().run(page, context=LESSON, options={"resultTypes": ["violations"]}).response["violations"]
    assert [
        (one["id"], one["nodes"][0]["html"][:160]) for one in found if one["impact"] in {"serious", "critical"}
    ] == []


@pytest.mark.quick
def test_a_score_is_trained_as_a_number_and_shown_on_its_scale(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("finetune", task="similarity", epochs=1, most=60)
    expect(page.locator("#finetune-data")).to_contain_text("60 pairs for training")
    expect(page.locator("#finetune-curve .curve-panels")).to_contain_text("mean squared error")
    before = page.locator("#finetune-stop").bounding_box()
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after 4 steps", timeout=300_000)
    expect(page.locator("#finetune-ask")).to_be_in_viewport(ratio=1)  # beside the curve, and nothing was scrolled
    assert page.locator("#finetune-stop").bounding_box() == before
    page.locator("#finetune-scores").scroll_into_view_if_needed()
    expect(page.locator("#finetune-scores .js-plotly-plot .scatterlayer .point")).to_have_count(41)
    expect(page.locator("#finetune-scores .scores")).to_contain_text("Spearman’s ρ")
    page.fill("#finetune-try-0 textarea", NASTY)
    page.click("#finetune-ask")
    expect(page.locator("#finetune-answer")).to_contain_text("onerror")
    said = page.locator("#finetune-answer .gauge-needle b").inner_text()
    assert -2 < float(said) < 7
    assert page.locator(f"{LESSON} img").count() == 0
    pick(page, "a data set from the Hub")
    expect(page.locator("#finetune-data .glue")).to_contain_text("STS-B")


def test_three_presses_lead_to_an_answer_about_an_own_sentence(open_lesson: Callable[..., Page]) -> None:
    """Start, the box of the sentence, Ask: each of them is in sight, and nothing is scrolled."""
    page = open_lesson("finetune", epochs=1, most=50)
    expect(page.locator("#finetune-cost")).to_contain_text("4 steps")
    box = page.locator("#finetune-try-0 textarea")
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after 4 steps", timeout=300_000)
    expect(page.locator("#finetune-answer")).to_contain_text("Correct answer")  # about the sentence that is there
    expect(box).to_be_in_viewport(ratio=1)
    box.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("The letter from my sister made my day.")
    page.click("#finetune-ask")
    expect(page.locator("#finetune-answer")).not_to_contain_text("Correct answer")  # which nobody knows of an own one
    expect(page.locator("#finetune-answer tbody tr")).to_have_count(6)
    expect(page.locator("#finetune-answer")).to_be_in_viewport(ratio=1)
    assert box.input_value() == "The letter from my sister made my day."
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize(
    ("width", "height", "present", "beside"), [(1280, 800, 1, True), (390, 844, 0, False), (390, 844, 1, False)]
)
def test_start_pause_and_stop_stay_where_they_are_pressed(
    page: Page, app_url: str, width: int, height: int, present: int, beside: bool
) -> None:
    """In presenter mode and on a phone: in sight before, during and after a run, and "Try it" beside the curve."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{app_url}/finetune?part=train&epochs=20&most=200" + ("&present=1" if present else ""))
    expect(page.locator("#finetune-cost")).to_contain_text("steps")
    status = page.locator("#finetune-curve .curve-status")
    buttons = [page.locator(f"#finetune-{name}") for name in ("start", "pause", "stop")]

    def places() -> list[FloatRect | None]:
        for button in buttons:
            expect(button).to_be_in_viewport(ratio=1)
        return [button.bounding_box() for button in buttons]

    page.wait_for_function("document.querySelector('#finetune-data tbody') !== null")
    before = places()
    page.click("#finetune-start")
    expect(status).to_contain_text("examples/s", timeout=300_000)
    assert places() == before
    page.click("#finetune-pause")
    expect(status).to_contain_text("Paused after step")
    assert places() == before
    page.click("#finetune-stop")
    expect(status).to_contain_text("Stopped after")
    expect(page.locator("#finetune-ask")).to_be_visible()
    assert places() == before
    assert page.evaluate("scrollY") == 0
    if beside:
        expect(page.locator("#finetune-ask")).to_be_in_viewport(ratio=1)
        curve, tried = page.locator("#finetune-curve").bounding_box(), page.locator("#finetune-ask").bounding_box()
        assert curve
        assert tried
        assert tried["x"] >= curve["x"] + curve["width"]
    elif not present:  # from the result to the scores it is less than the screen above the buttons
        page.click("#finetune-ask")
        expect(page.locator("#finetune-answer")).to_contain_text("Correct answer")
        result, answer = (page.locator(f"#finetune-{name}").bounding_box() for name in ("curve .curve-said", "answer"))
        assert result
        assert answer
        assert before[0]
        assert answer["y"] + answer["height"] - result["y"] <= before[0]["y"]
        page.click("#finetune-curve .curve-more summary")
        expect(page.locator("#finetune-curve .watched-list")).to_be_visible()


def test_a_link_with_a_task_alone_opens_its_own_recipe(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("finetune", part="train", train_controls="true", task="entities")
    rate, epochs = page.get_by_label("Learning rate", exact=True), page.locator("#finetune-speed input[type=number]")
    expect(rate).to_have_value("5e-4")
    expect(epochs).to_have_value("5")
    assert "rate=" not in page.url
    epochs.fill("3")  # the sentence recipe's: now the link must say it
    epochs.press("Enter")
    page.wait_for_url("**epochs=3**")
    page.reload()
    expect(epochs).to_have_value("3")
    expect(rate).to_have_value("5e-4")


def test_a_broken_file_is_one_sentence_and_a_closed_tab_leaves_the_machine_to_the_next(
    open_lesson: Callable[..., Page], context: BrowserContext, app_url: str, tmp_path: Path
) -> None:
    chosen = {
        "task": "pair",
        "data": "hub",
        "hub": "someone/films",
        "trains": "top",
        "top": 12,
    }
    page = open_lesson("finetune", epochs=20, batch=1, **chosen)  # many minutes, were it not stopped
    a_broken_file_is_one_sentence_and_the_page_still_works(page, tmp_path)
    expect(page.locator("#finetune-cost")).to_contain_text("steps")
    other = context.new_page()
    other.set_viewport_size({"width": 390, "height": 844})
    other.goto(f"{app_url}/?lesson=finetune&epochs=1&most=50&pooling=cls&act=relu&layers=0.9&smooth=0.1&precision=auto")
    expect(other.locator("#finetune-cost")).to_contain_text("4 steps")
    it_fits_a_phone(other)
    page.click("#finetune-start")
    expect(page.locator("#finetune-stop")).to_be_enabled(timeout=300_000)
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text(" · ", timeout=300_000)  # it has the machine
    other.click("#finetune-start")
    status = other.locator("#finetune-curve .curve-status")
    expect(status).to_contain_text(re.compile("[12] runs? (is|are) ahead of yours"), timeout=300_000)
    other.set_viewport_size({"width": 844, "height": 390})  # the phone is turned while its run is drawn
    page.goto("about:blank")
    expect(status).to_contain_text("Trained after 4 steps", timeout=300_000)
    assert overflow(other, 844, 390) == 0
    assert overflow(other, 390, 844) == 0


def a_broken_file_is_one_sentence_and_the_page_still_works(page: Page, tmp_path: Path) -> None:
    expect(page.locator("#finetune-top input[type=number]")).to_have_value("6")  # as many layers as the model has
    expect(page.locator("#finetune-data")).to_contain_text("it is downloaded only then")  # a link alone fetches nothing
    expect(page.locator(f"{LESSON} .notice")).to_have_count(0)
    page.click("#finetune-fetch")
    expect(page.locator(f"{LESSON} .notice")).to_contain_text("The Hugging Face Hub could not be reached")
    page.get_by_text("Sentence one class", exact=True).click()
    assert "hub=someone%2Ffilms" in page.url
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"text,label\nfine,yes\n\xce\xf2\xeb\xe8\xf7\xed\xee,no\n")
    pick(page, "your own file")
    page.locator(f"{LESSON} input[type=file]").first.set_input_files(broken)
    expect(page.locator(f"{LESSON} .notice")).to_have_text("Row 3 is not UTF-8 text; save the file as UTF-8.")
    pick(page, "Emotion")
    expect(page.locator("#finetune-data tbody tr")).to_have_count(6)
    expect(page.locator(f"{LESSON} .notice")).to_have_count(0)


def it_fits_a_phone(page: Page) -> None:
    expect(page.locator("#finetune-data tbody tr")).to_have_count(6)
    expect(page.locator("#finetune-curve svg")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_reload_loses_no_run_and_no_model(
    open_lesson: Callable[..., Page], context: BrowserContext, phone: Page
) -> None:
    page = open_lesson("finetune", epochs=1, most=50, pooling="cls")
    asked: list[str] = []
    page.on("dialog", lambda box: asked.append(box.type))
    status, start = page.locator("#finetune-curve .curve-status"), page.locator("#finetune-start")
    for number in (1, 2):
        expect(page.locator("#finetune-cost")).to_contain_text("4 steps")
        page.click("#finetune-start")
        expect(status).to_contain_text("Trained after 4 steps", timeout=300_000)
        expect(start).to_be_enabled()
        page.get_by_role("tab", name="Your runs").click()
        expect(page.locator("#finetune-table tbody tr")).to_have_count(number)
        page.get_by_role("tab", name="Train", exact=True).click()
    page.reload()
    expect(status).to_contain_text("Trained after 4 steps")  # the last run is drawn as it was
    expect(page.locator("#finetune-curve path.validation").first).to_be_attached()
    expect(page.locator("#finetune-matrix")).to_be_visible()
    expect(start).to_be_enabled()
    page.get_by_role("tab", name="Your runs").click()
    expect(page.locator("#finetune-table tbody tr")).to_have_count(2)
    both_can_be_downloaded(page)
    another = context.new_page()  # as after a restart of the server: nothing of the run is left but what is stored
    another.goto(page.url.replace("part=runs", "part=train"))
    expect(another.locator("#finetune-curve .curve-status")).to_contain_text("Trained after 4 steps", timeout=300_000)
    expect(another.locator("#finetune-curve path.validation").first).to_be_attached()
    another.close()

    page.locator("#bar-text textarea").fill("A sentence of this page.")
    phone.goto(page.url.replace("part=runs", "part=train"))  # another browser has another key
    expect(phone.locator("#finetune-curve .curve-status")).to_contain_text(
        "Nothing has been trained yet", timeout=300_000
    )
    page.goto("about:blank")
    assert asked == []  # nothing is lost, so nobody is warned


def test_runs_that_the_server_has_lost_are_told_once(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("finetune")
    expect(page.locator("#finetune-cost")).to_contain_text("steps")
    lost = page.locator("#finetune-lost")
    expect(lost).to_have_text(re.compile(r"^\s*$"))
    page.evaluate("""() => localStorage.setItem("inside-bert", JSON.stringify(
        { ...JSON.parse(localStorage.getItem("inside-bert")), trained: true }))""")  # by a server before this one
    page.reload()
    expect(lost).to_contain_text("Your earlier runs are no longer on this server")
    page.reload()
    expect(page.locator("#finetune-cost")).to_contain_text("steps")
    expect(lost).to_have_text(re.compile(r"^\s*$"))


def test_a_run_goes_on_while_its_page_is_loaded_anew(open_lesson: Callable[..., Page], films: Path) -> None:
    page = open_lesson("finetune", epochs=10, pooling="cls")
    pick_file(page, films)
    page.click("#finetune-start")
    status = page.locator("#finetune-curve .curve-status")
    expect(status).to_contain_text("examples/s", timeout=300_000)
    before = step_of(status.inner_text())
    page.reload()
    expect(status).to_contain_text("examples/s", timeout=300_000)
    expect(page.locator("#finetune-curve path.train").first).to_be_attached()
    expect(page.locator("#finetune-start")).to_be_disabled()
    expect(status).to_contain_text(re.compile(r"Step [\d,]+ of"))  # between two steps, it looks at the validation
    assert step_of(status.inner_text()) > before
    page.click("#finetune-stop")
    expect(status).to_contain_text("Stopped after")
    expect(page.locator(LESSON)).to_contain_text("Training was stopped early")
    expect(page.locator("#finetune-start")).to_be_enabled()


def step_of(status: str) -> int:
    found = re.search(r"Step ([\d,]+) of", status)
    assert found, status
    return int(found[1].replace(",", ""))


def both_can_be_downloaded(page: Page) -> None:
    page.get_by_role("tab", name="Export").click()
    expect(page.locator("#export-told")).to_contain_text("Your last run")
    picker = page.locator("#export-number input")
    expect(picker).to_have_value(re.compile("^Run 2, the last"))
    for name in ("Run 1", "Run 2"):
        picker.click()
        page.get_by_role("option", name=re.compile(f"^{name}")).click()
        expect(page.locator("#export-told")).to_contain_text("earlier run" if name == "Run 1" else "last run")
        with page.expect_download(timeout=300_000) as saved:
            page.click("#export-download")
        assert saved.value.suggested_filename == "bert-emotion.zip"
    page.get_by_role("tab", name="Train", exact=True).click()
