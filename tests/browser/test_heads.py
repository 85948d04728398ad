"""The overview of heads in real Chromium: what is drawn, by mouse and keyboard, patterns, habits, dark mode."""

from __future__ import annotations

import colorsys
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Browser, Locator, Page, expect

from demos.bert.attention.contributions import CONTRIBUTION, measured
from demos.bert.attention.head_profiles import habit_sentences, measure_habit
from demos.bert.attention.patterns import pattern_scores
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import RunCache
from demos.figures.palette import HEADS
from tests.browser.bertviz import FRAME, drawn, off, opacities, press, visible
from tests.browser.events import Asked, unfold

TEXT = "The old miller, as old as his mill, counted <b>sacks</b>."
GRID = "#attention-grid"
Open = Callable[..., Page]


def test_overview_finds_and_opens_heads(open_lesson: Open, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, TEXT)
    scores = pattern_scores(run.attentions, run.encoding)
    page = open_lesson("attention", text=TEXT, part="heads")
    grid = page.locator(GRID)
    opened = page.locator("#attention-heatmap")
    expect(grid.get_by_role("button", name=re.compile(r"^Layer \d+, head \d+$"))).to_have_count(72)
    expect(opened).to_contain_text("Layer 1, head 3.")
    expect(grid.locator("button.picked")).to_have_attribute("aria-label", "Layer 1, head 3")

    # each picture is the head's weights over its strongest one, in the palette's blues
    step = page.evaluate("Number(document.querySelector('#attention-grid [data-cell]').dataset.cell) + 2")
    n = len(run.encoding)
    points = [(layer, head, row, column) for layer, head, row, column in np.ndindex(6, 12, n, n)][::37]
    shades = page.evaluate(
        """([points, step, n]) => {
            const canvas = document.querySelector('#attention-grid canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const size = step - 2;
            return points.map(([layer, head, row, column]) => {
                const x = Math.floor(head * step + (column + 0.5) * size / n);
                const y = Math.floor(layer * step + (row + 0.5) * size / n);
                return data[4 * (y * canvas.width + x)];  // red: falls all along the scale
            });
        }""",
        [points, step, n],
    )
    weights = np.array([run.attentions[at] / run.attentions[at[:2]].max() for at in points])
    assert np.corrcoef(-np.array(shades), weights)[0, 1] > 0.95

    # the mouse: numbers on hover, a click opens
    head = grid.get_by_role("button", name="Layer 4, head 8", exact=True)
    head.hover()
    said = grid.locator(".head-grid-said")
    expect(said).to_contain_text(
        f"previous token {scores['previous'][3, 7]:.2f}, next token {scores['next'][3, 7]:.2f}"
    )
    expect(said).to_contain_text(f"strongest here {run.attentions[3, 7].max():.2f}, from “")
    head.click()
    expect(opened).to_contain_text("Layer 4, head 8.")
    unfold(page.locator("#attention-heads-controls"))
    expect(page.locator("#attention-head input[type=number]")).to_have_value("8")
    on = page.frame_locator("#attention-bertviz iframe").locator('#vis [aria-checked="true"]')
    expect(on).to_have_count(1)  # the other heads' lines are off
    expect(on).to_have_attribute("aria-label", "head 8")

    # the keyboard: one stop, arrows, Enter
    page.mouse.move(5, 5)  # the page scrolls, and would move another picture under a mouse at rest
    head.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("Layer 3, head 9:")
    expect(opened).to_contain_text("Layer 4, head 8.")
    page.keyboard.press("Enter")
    expect(opened).to_contain_text("Layer 3, head 9.")
    expect(grid.locator("button[tabindex='0'][data-layer]")).to_have_count(1)

    # a pattern: its map, and the head that has most of it
    page.locator("#attention-pattern").get_by_text("previous token").click()
    expect(opened).to_contain_text("Layer 1, head 3.")
    expect(grid.locator("button.best")).to_have_attribute("aria-label", "Layer 1, head 3, previous token 1.00")
    shown = [re.sub(r"^\.", "0.", text) for text in grid.locator("[data-layer]").all_text_contents()]
    np.testing.assert_allclose(np.array(shown, float), scores["previous"].ravel(), atol=0.0051)
    expect(grid.locator(".head-grid-told")).to_contain_text(f"Equal weights on all tokens would give {1 / n:.2f}")
    second = divmod(int(scores["previous"].argsort(axis=None)[-2]), 12)
    grid.locator(".head-grid-best button").nth(1).click()
    expect(opened).to_contain_text(f"Layer {second[0] + 1}, head {second[1] + 1}.")
    page.wait_for_url(re.compile("pattern=previous"))

    # its habit, over the bundled sentences
    page.locator("#attention-habit").get_by_text("average").click()
    habit = drained(measure_habit(bundled, habit_sentences())).scores["previous"]
    best = grid.locator(".head-grid-best button").first
    expect(best).to_have_text(f"layer 1, head 3 {habit.max():.2f}")
    expect(grid.locator(".head-grid-told")).to_contain_text("60 of 60 sentences")
    page.get_by_role("button", name="The numbers").press("Enter")
    expect(page.locator("#attention-patterns caption")).to_contain_text("mean over 60 sentences")

    # dark mode turns the scale round: the best is light, the rest dark
    page.locator('[data-switch="dark"]').click()
    picked = grid.locator("button.best")
    expect(picked).to_have_css("color", "rgb(0, 0, 0)")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(grid.locator("[data-cell]")).not_to_have_attribute("data-cell", str(step - 2))


def test_the_chosen_head_is_drawn_linked_and_downloaded(
    open_lesson: Open, page: Page, browser: Browser, bundled: LoadedModel, tmp_path: Path
) -> None:
    """And so are several heads, or all, where a reader asks for them, each time once the last choice is answered."""
    weights = visible(RunCache().get(bundled, TEXT).attentions[0])
    asked = Asked(page)
    open_lesson("attention", text=TEXT, part="heads")

    def settled(weights: np.ndarray, heads: list[int]) -> None:
        shows(page, weights, heads)
        asked.since_last()

    expect(page.locator(GRID).locator("button.picked")).to_have_attribute("aria-label", "Layer 1, head 3")
    settled(weights, [2])  # on the first opening
    assert downloaded(page, browser, tmp_path) == ["2"]

    page.locator(GRID).get_by_role("button", name="Layer 1, head 6", exact=True).click()
    settled(weights, [5])
    page.wait_for_url(lambda url: chosen(url) == ("5", None))
    unfold(page.locator("#attention-heads-controls"))
    number = page.locator("#attention-head input[type=number]")
    number.fill("8")
    number.press("Enter")
    settled(weights, [7])

    frame = page.locator(FRAME)
    squares = drawn(page, "head 0").locator("#vis [role=checkbox]")
    press(squares.nth(3), frame)
    settled(weights, [3, 7])
    page.wait_for_url(lambda url: chosen(url) == ("7", "3, 7"))
    assert downloaded(page, browser, tmp_path) == ["3", "7"]
    elsewhere(page, weights, [3, 7])
    press(squares.nth(7), frame)  # the chosen one off: the one that is left is chosen
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 1, head 4.")
    settled(weights, [3])
    page.wait_for_url(lambda url: chosen(url) == ("3", None))

    what_is_off_keeps_its_hue(squares)
    every = drawn(page, "head 0").get_by_role("button", name="Show all heads")
    press(every, frame)
    settled(weights, list(range(12)))
    page.wait_for_url(lambda url: chosen(url) == ("3", "all"))
    assert len(downloaded(page, browser, tmp_path)) == 12
    number.fill("5")
    number.press("Enter")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 1, head 5.")
    settled(weights, list(range(12)))
    elsewhere(page, weights, list(range(12)))
    press(drawn(page, "head 0").get_by_role("button", name="Show head 5 alone"), frame)
    settled(weights, [4])
    press(squares.nth(3), frame)
    settled(weights, [3, 4])
    page.locator(GRID).get_by_role("button", name="Layer 1, head 5", exact=True).press("Enter")  # the same once more
    settled(weights, [4])
    page.wait_for_url(lambda url: chosen(url) == ("4", None))
    page.evaluate("insideBert.looks.dark(true)")  # drawn anew
    expect(drawn(page, "head 0").locator("html")).to_have_class("dark")
    settled(weights, [4])

    # by contribution: lines, grid and words at once, and in the link
    by = measured(bundled, RunCache().get(bundled, TEXT), CONTRIBUTION)
    page.locator("#attention-measure").get_by_text("contribution").click()
    settled(visible(by.shares(0)), [4])
    said = page.locator(GRID).locator(".head-grid-said")
    expect(said).to_contain_text(f"largest norm here {by.amounts(0)[4].max():.2f}")
    expect(said).to_contain_text(f"[CLS] {by.scores()['cls'][0, 4]:.2f}")
    expect(page.locator("#attention-heatmap")).to_contain_text(f"its norm is {by.amounts(0)[4].max():.2f}.")
    page.wait_for_url(re.compile("measure=contribution"))
    elsewhere(page, visible(by.shares(0)), [4])
    assert downloaded(page, browser, tmp_path) == ["4"]


def what_is_off_keeps_its_hue(squares: Locator) -> None:
    """bertviz alone turns a dull colour into its opposite, or into grey."""
    for head, colour in enumerate(HEADS[:12]):
        fill = squares.nth(head).get_attribute("fill") or ""
        drawn_in = [int(number) / 255 for number in re.findall(r"\d+", fill)] if fill.startswith("rgb") else parts(fill)
        apart = abs(hue_of(drawn_in) - hue_of(parts(colour)))
        assert min(apart, 1 - apart) < 0.06, f"head {head + 1}: {fill} for {colour}"


def parts(colour: str) -> list[float]:
    """Red, green and blue of #rrggbb, each from 0 to 1."""
    return [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def hue_of(colour: Sequence[float]) -> float:
    """From 0 to 1, round the circle."""
    return colorsys.rgb_to_hsv(*colour)[0]


def chosen(url: str) -> tuple[str | None, str | None]:
    """The link's head and lines."""
    said = parse_qs(urlsplit(url).query)
    return said.get("head", [None])[0], said.get("lines", [None])[0]


def shows(page: Page, weights: np.ndarray, heads: list[int]) -> None:
    """These heads' squares are on, and their lines alone are drawn."""
    frame = drawn(page, "head 0")
    for head in range(12):
        square = frame.locator(f"#vis [aria-label='head {head + 1}']")
        expect(square).to_have_attribute("aria-checked", "true" if head in heads else "false")
    expected = weights[heads] / len(heads) ** 0.25
    until = time.monotonic() + 20
    while not np.allclose((strengths := opacities(frame))[heads], expected, rtol=0, atol=2e-3, equal_nan=True):
        assert time.monotonic() < until  # a square is marked a moment before the lines change
        page.wait_for_timeout(50)
    assert all(off(strengths[head]) for head in range(12) if head not in heads)


def elsewhere(page: Page, weights: np.ndarray, heads: list[int]) -> None:
    """The page's link in a new tab shows the same."""
    other = page.context.new_page()
    other.goto(page.url)
    shows(other, weights, heads)
    other.close()
    page.bring_to_front()  # a press in a tab that is behind may be lost


def downloaded(page: Page, browser: Browser, folder: Path) -> list[str]:
    """The heads whose lines the downloaded file shows when it is opened."""
    with page.expect_download() as download:
        page.get_by_role("button", name="One HTML file").press(
            "Enter"
        )  # a mouse that was in the frame is not heard here
    path = folder / "view.html"
    download.value.save_as(path)
    context = browser.new_context(offline=True)
    file = context.new_page()
    file.goto(path.as_uri())
    expect(file.locator("#vis [role=checkbox]")).to_have_count(12)
    strengths = opacities(file)
    on = [str(head) for head in range(12) if not off(strengths[head])]
    assert on == [
        str(int(label.removeprefix("head ")) - 1)
        for label in file.locator('#vis [aria-checked="true"]').evaluate_all("all => all.map(one => one.ariaLabel)")
    ]
    context.close()
    return on
