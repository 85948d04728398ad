"""A reader's own file in a real browser: fifteen columns, two menus, Start, result; a late answer undoes no choice."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_finetune import pick
from tests.training.data.workbook_files import workbook

Opener = Callable[..., Page]
MENU = '#finetune-columns select[data-column="{}"]'
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Fifteen columns under names that say nothing: two hold texts, three hold few values."""
    head = [f"q{number}" for number in range(1, 16)]
    rows = [
        [
            str(7000 + k), f"2024-02-{k % 28 + 1:02}", ("north", "south")[k // 2 % 2], str(k % 7 / 2), "",
            f"We came by the {('old', 'new')[k % 2]} road, group {k}", ("dull", "fine")[k % 2], f"user{k}@example.com",
            HOSTILE if k == 1 else "", f"https://example.com/{k}", str(k), "yes",
            f"a {('dull', 'fine')[k % 2]} day, number {k}", ("tea", "milk", "none")[k % 3], f"{k}.5",
        ]
        for k in range(60)
    ]  # fmt: skip
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    path = tmp_path / "survey.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def with_file(open_lesson: Opener, path: Path, **choices: object) -> Page:
    """The page of Train with this file chosen."""
    page = open_lesson("finetune", **choices)
    pick(page, "your own file")
    page.locator("#lesson-finetune input[type=file]").first.set_input_files(path)
    return page


def test_fifteen_columns_two_menus_start_and_a_result(open_lesson: Opener, survey: Path) -> None:
    page = with_file(open_lesson, survey, epochs=1, hidden=0)
    picker = page.locator("#finetune-columns")
    expect(picker).to_contain_text("The text may be the column 'q6' or 'q13'; choose which it is.")
    expect(picker.locator("thead select")).to_have_count(15)
    expect(picker.locator("tbody tr")).to_have_count(5)
    page.select_option(MENU.format("q13"), "text")
    page.select_option(MENU.format("q7"), "label")  # perhaps before the answer to the first
    expect(picker).to_contain_text("60 rows can be used.")
    expect(page.locator(MENU.format("q13"))).to_have_value("text")
    expect(page.locator(MENU.format("q7"))).to_have_value("label")
    expect(picker.locator(".columns-classes li")).to_have_text(["dull 30", "fine 30"])
    expect(page).to_have_url(re.compile("columns=label%3Dq7%2Ctext%3Dq13"))
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after", timeout=300_000)
    expect(page.locator("#finetune-scores")).to_contain_text("test sentences")
    assert picker.locator("img").count() == 0
    page.select_option(MENU.format("q6"), "+text")  # both are one text
    expect(page.locator("#finetune-data")).to_contain_text("We came by the")
    expect(page.locator(MENU.format("q6"))).to_have_value("+text")
    page.select_option(MENU.format("q14"), "label")  # the role is taken from the column that had it
    expect(page.locator(MENU.format("q7"))).to_have_value("")
    expect(picker.locator(".columns-classes li")).to_have_text(["milk 20", "none 20", "tea 20"])


def test_a_file_of_another_task_stays_and_the_page_names_the_task(open_lesson: Opener, tmp_path: Path) -> None:
    rows = "".join(f"Is it {k}?\tIt is number {k}.\t{('no', 'yes')[k % 2]}\n" for k in range(40))
    path = tmp_path / "pairs.tsv"
    path.write_text("premise\thypothesis\tgold_label\n" + rows, encoding="utf-8")
    page = with_file(open_lesson, path)
    expect(page.locator("#finetune-columns")).to_contain_text("The columns of this file fit the task Two sentences.")
    page.get_by_text("class of a pair").click()
    expect(page.locator("#finetune-data")).to_contain_text("pairs.tsv")
    expect(page.locator(MENU.format("hypothesis"))).to_have_value("sentence2")


def test_html_is_removed_and_groups_are_kept_together_at_one_press(open_lesson: Opener, tmp_path: Path) -> None:
    rows = "".join(f"{k // 4},so <b>it</b> was {('dull', 'fine')[k % 2]} {k},{k % 2}\n" for k in range(60))
    path = tmp_path / "films.csv"
    path.write_text("film,text,label\n" + rows, encoding="utf-8")
    page = with_file(open_lesson, path)
    picker = page.locator("#finetune-columns")
    expect(picker).to_contain_text("60 texts contain HTML; it takes")
    expect(picker.locator(".columns-example")).to_have_text("so <b>it</b> was dull 0 → so it was dull 0")
    picker.get_by_role("button", name="Keep them in one split").click()
    picker.get_by_role("button", name="Remove the HTML").click()  # perhaps before the answer to the first
    expect(picker.get_by_role("button", name="Keep the HTML")).to_be_visible()
    expect(page.locator(MENU.format("film"))).to_have_value("group")
    expect(page.locator("#finetune-data")).to_contain_text("so it was")
    expect(page.locator("#finetune-data")).to_contain_text("Rows of one group stay in one split.")
    picker.get_by_role("button", name="Keep the HTML").click()
    expect(picker.get_by_role("button", name="Remove the HTML")).to_be_visible()
    expect(page.locator(MENU.format("film"))).to_have_value("group")


def test_the_sheet_of_a_workbook_is_chosen_and_its_columns_are_found(open_lesson: Opener, tmp_path: Path) -> None:
    sheets = [
        [("text", "label"), *((f"We liked part {k}", ("dull", "fine")[k % 2]) for k in range(40))],
        [("Antwort", "Stimmung"), *((f"Es war Teil {k}", ("gut", "so")[k % 2]) for k in range(60))],
    ]
    path = tmp_path / "survey.xlsx"
    path.write_bytes(workbook(*sheets, first="Spring, part 1"))
    page = with_file(open_lesson, path, epochs=1, hidden=0)
    picker = page.locator("#finetune-columns")
    expect(picker).to_contain_text("The sheets “Spring, part 1” and “Sheet” hold data; choose one of them.")
    menu = picker.get_by_label("The sheet that is read")
    expect(menu.locator("option")).to_have_text(["choose", "Spring, part 1", "Sheet"])
    menu.select_option(label="Sheet")
    expect(picker).to_contain_text("60 rows can be used.")
    expect(page.locator(MENU.format("Antwort"))).to_have_value("text")
    expect(page).to_have_url(re.compile("columns=sheet%3DSheet"))
    menu.select_option(label="Spring, part 1")
    expect(picker).to_contain_text("40 rows can be used.")
    page.select_option(MENU.format("label"), "group")
    page.select_option(MENU.format("label"), "label")
    expect(picker.locator(".columns-classes li")).to_have_text(["dull 20", "fine 20"])
    expect(menu).to_have_value("Spring%2C part 1")
    expect(page).to_have_url(re.compile("columns=sheet%3DSpring"))
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after", timeout=300_000)


def test_a_rating_is_trained_as_a_score_at_one_press_and_as_classes_at_another(
    open_lesson: Opener, tmp_path: Path
) -> None:
    rows = "".join(f"{k},it was {('dull', 'fine')[k % 5 > 2]} at {k},day {k} of it,{k % 5 + 1}\n" for k in range(60))
    path = tmp_path / "stars.csv"
    path.write_text("id,comment,heading,stars\n" + rows, encoding="utf-8")
    page = with_file(open_lesson, path, epochs=1, hidden=0)
    picker = page.locator("#finetune-columns")
    page.select_option(MENU.format("comment"), "text")
    expect(picker).to_contain_text("As classes, they have no order; as a score, 4 is closer to 5 than to 1.")
    classes, score = (picker.get_by_role("button", name=name, exact=True) for name in ("Classes", "Score"))
    expect(classes).to_have_attribute("aria-pressed", "true")
    score.click()
    expect(page.locator("#finetune-data")).to_contain_text("One example (score")
    expect(page.locator(MENU.format("comment"))).to_have_value("sentence1")
    expect(page.locator(MENU.format("stars"))).to_have_value("score")
    expect(page.locator(MENU.format("heading"))).to_have_value("")  # the file and the choice are kept
    expect(score).to_have_attribute("aria-pressed", "true")
    expect(picker).not_to_contain_text("fit the task")
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after", timeout=300_000)
    expect(page.locator("#finetune-scores")).to_contain_text("10 test texts that were not used")
    page.fill("#finetune-try-0 textarea", "it was fine")
    page.fill("#finetune-try-1 textarea", "")
    page.click("#finetune-ask")
    expect(page.locator("#finetune-answer")).to_contain_text("Score of “it was fine”")
    expect(page.locator("#finetune-answer")).to_contain_text("on the scale from 1 to 5")
    classes.click()
    expect(page.locator(MENU.format("comment"))).to_have_value("text")
    expect(picker.locator(".columns-classes li")).to_have_text([f"{k} 12" for k in range(1, 6)])
