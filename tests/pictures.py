"""The README's two pictures, taken of the running app: `python -m tests.pictures [folder]`, by default into assets/.

`screenshot.png` is the overview. `tour.webp` is a short animation: a sentence is typed and the overview follows, two
heads of attention are picked, and the curve of a training grows. Chromium and Pillow are all that it needs. How long a
frame stays is set here, not measured, so that a slow machine makes the same animation as a quick one.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect, sync_playwright

from tests.benchmarks.page import running_app
from tests.chromium import find_chromium

ASSETS = Path(__file__).resolve().parents[1] / "assets"
SCREENSHOT, ANIMATION = "screenshot.png", "tour.webp"
SCREEN = (1280, 800)  # CSS pixels, of both pictures
SHARPNESS = 1.5  # pixels of the screenshot for each of them
COLOURS = 256  # of the screenshot: a third of the bytes, and no difference to the eye
QUALITY, EFFORT = 60, 6  # of the animation's frames, as WebP counts them
PATIENCE = 120_000.0  # milliseconds that the page may take for one step
SETTLED = 2_000.0  # milliseconds after which nothing moves any more
TYPED = ("The", "The bank", "The bank of the", "The bank of the river.")
SENTENCE = TYPED[-1]
HEADS = ("Layer 3, head 12", "Layer 4, head 8")  # picked one after the other
EPOCHS = 4  # of the training whose curve grows
CURVES = 12  # frames of it
QUICK, SHORT, LONG, REST = 220, 600, 900, 1_500  # milliseconds that a frame stays
POINTER = ((0, 0), (0, 20), (5, 15), (9, 23), (12, 22), (8, 14), (15, 14))


class Frame(NamedTuple):
    """One picture of the animation, and for how many milliseconds it stays."""

    picture: Image.Image
    milliseconds: int


def taken(page: Page, milliseconds: int, at: tuple[float, float] | None = None) -> Frame:
    """What the page shows; with a mouse pointer drawn `at` these CSS pixels, which a screenshot lacks."""
    picture = Image.open(io.BytesIO(page.screenshot(caret="initial"))).convert("RGB")
    if at is not None:
        corners = [(at[0] + x, at[1] + y) for x, y in POINTER]
        ImageDraw.Draw(picture).polygon(corners, fill="black", outline="white", width=2)
    return Frame(picture, milliseconds)


def open_view(page: Page, url: str, lesson: str, picture: str, **choices: str | int) -> None:
    """Open a lesson at a link and wait until its picture is drawn."""
    page.goto(f"{url}/{lesson}?{urlencode(choices)}")
    expect(page.locator(picture)).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".loading-lesson, .stale")).to_have_count(0, timeout=PATIENCE)
    page.evaluate("document.fonts.ready")


def typing(page: Page, url: str) -> Iterator[Frame]:
    """A sentence grows by a few words at a time; the overview follows."""
    open_view(page, url, "overview", "#overview-picture", text=TYPED[0])
    box = page.locator("#bar-text textarea")
    box.click()
    for text in TYPED:
        page.keyboard.press("End")
        page.keyboard.type(text.removeprefix(box.input_value()))
        pieces = page.locator("#overview-picture").get_by_text(text.split()[-1].strip(".").lower(), exact=True)
        expect(pieces.first).to_be_visible(timeout=PATIENCE)
        page.wait_for_timeout(SETTLED)
        yield taken(page, REST if text == SENTENCE else SHORT)


def picking(page: Page, url: str) -> Iterator[Frame]:
    """Two heads of attention are opened, one after the other."""
    open_view(page, url, "attention", "#attention-grid button.picked", part="heads", text=SENTENCE)
    page.wait_for_timeout(SETTLED)
    yield taken(page, SHORT)
    for name in HEADS:
        head = page.locator("#attention-grid").get_by_role("button", name=name, exact=True)
        box = head.bounding_box()
        assert box is not None
        at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        head.click()
        expect(page.locator("#attention-heatmap")).to_contain_text(f"{name}.", timeout=PATIENCE)
        page.wait_for_timeout(SETTLED)
        yield taken(page, LONG, at)


def training(page: Page, url: str) -> Iterator[Frame]:
    """A short run of Train, from its start to its end."""
    open_view(page, url, "finetune", "#finetune-curve", part="train", text=SENTENCE, epochs=EPOCHS)
    page.wait_for_timeout(SETTLED)
    page.locator("#finetune-start").click()
    status = page.locator("#finetune-curve .curve-status")
    expect(status).to_contain_text("examples/s", timeout=PATIENCE)
    frames = []
    while "Trained after" not in status.inner_text():
        frames.append(taken(page, QUICK))
        page.wait_for_timeout(500)
    page.wait_for_timeout(SETTLED)
    yield from evenly(frames, CURVES)
    yield taken(page, REST)


def evenly(frames: list[Frame], number: int) -> list[Frame]:
    """At most so many of the frames, the first and the last among them, at even distances."""
    if len(frames) <= number:
        return frames
    return [frames[round(place * (len(frames) - 1) / (number - 1))] for place in range(number)]


def write(frames: list[Frame], path: Path) -> None:
    """The frames as one animated WebP that repeats for ever."""
    first, *others = [frame.picture for frame in frames]
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=[frame.milliseconds for frame in frames],
        loop=0,
        quality=QUALITY,
        method=EFFORT,
    )


def take(url: str, chromium: str, folder: Path) -> list[Frame]:
    """Take both pictures of the app at `url`, write them into the folder, and return the animation's frames."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        size = {"width": SCREEN[0], "height": SCREEN[1]}
        still = browser.new_page(viewport=size, device_scale_factor=SHARPNESS)
        open_view(still, url, "overview", "#overview-picture")
        still.wait_for_timeout(SETTLED)
        picture = Image.open(io.BytesIO(still.screenshot())).convert("RGB")
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(folder / SCREENSHOT, optimize=True)
        still.close()
        page = browser.new_page(viewport=size)
        page.set_default_timeout(PATIENCE)
        frames = [frame for scene in (typing, picking, training) for frame in scene(page, url)]
        browser.close()
    write(frames, folder / ANIMATION)
    return frames


def main(folder: Path = ASSETS) -> int:
    """Take both pictures of an app of their own; 2 and one sentence where there is no Chromium."""
    chromium = find_chromium()
    if chromium is None:
        print("There is no Chromium on this machine; install one, or name it in CHROMIUM.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as runs, running_app(INSIDE_BERT_RUNS=runs, HF_HUB_OFFLINE="1") as url:
        frames = take(url, chromium, folder)
    for name in (SCREENSHOT, ANIMATION):
        print(f"{folder / name}: {(folder / name).stat().st_size / 1e6:.2f} MB")
    print(f"{len(frames)} frames, {sum(frame.milliseconds for frame in frames) / 1000:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
