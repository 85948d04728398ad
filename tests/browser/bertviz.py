"""What the browser tests of bertviz's views share: its frame, its lines' strengths, its picture in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from playwright.sync_api import Frame, Locator, Page

from demos.widgets.bertviz.messages import FAINTEST, pack_weights
from tests.widgets.unpacking import unpack_weights

TEXT, PAIR = "The old miller counted his sacks twice.", "One was missing."
HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> ${alert(3)} {{value}}"
FRAME = "#attention-bertviz iframe"


def drawn(page: Page, state: str) -> Frame:
    """bertviz's frame once it shows `state`, "view layer head"."""
    page.wait_for_selector(f'{FRAME}[data-drawn^="{state}"]')
    frame = page.query_selector(FRAME).content_frame()  # type: ignore[union-attr]
    assert frame is not None
    return frame


def press(target: Locator, inside: Locator | None = None) -> None:
    """A click once the mouse is over the target. Name the frame where the target is `inside` it: out of sight it rests,
    and scrolls nothing itself.
    """
    (inside or target).scroll_into_view_if_needed()
    hovered(target)
    target.click()


def hovered(target: Locator) -> None:
    """Move the mouse over the target, as a reader does before a press, until the browser says that it is there.

    After a scroll on a busy machine the browser learns late where a frame is, and hands the mouse on late.
    """
    target.page.wait_for_timeout(500)
    for _ in range(40):
        target.hover()
        if target.evaluate("(element) => element.matches(':hover')"):
            break
        target.page.mouse.move(0, 0)  # a mouse that does not move is not heard again
        target.page.wait_for_timeout(250)


def opacities(frame: Frame | Page, heads: str = ".headAttention", rows: str = ".tokenAttention") -> np.ndarray:
    """The strength of each line, [H, n, n]; NaN where there is none. A line's row and column are where it ends."""
    found = frame.evaluate(
        """([heads, rows]) => [...document.querySelectorAll(heads)].map(head => {
            const groups = [...head.querySelectorAll(rows)].map(group => [...group.querySelectorAll('line')]);
            const high = groups.flat().map(line => +line.getAttribute('y2'));
            const step = (document.querySelector('#vis').parentNode.className.startsWith('head') ? 22.5 : 7);
            const first = step === 7 ? +head.querySelector('rect').getAttribute('y') + 5 : 30;
            return groups.map(lines => lines.map(line =>
                [Math.floor((line.getAttribute('y2') - first) / step), +line.getAttribute('stroke-opacity')]));
        })""",
        [heads, rows],
    )
    n = len(found[0])
    columns = frame.evaluate("+document.querySelectorAll('#right text').length") or n
    result = np.full((len(found), n, columns), np.nan)
    for head, groups in enumerate(found):
        for row, group in enumerate(groups):
            for column, opacity in group:
                result[head, row, column] = opacity
    return result


def visible(weights: np.ndarray) -> np.ndarray:
    """The weights whose lines are drawn; NaN for the others."""
    return np.where(unpack_weights(pack_weights(weights), weights.shape) >= FAINTEST, weights, np.nan)


def off(head: np.ndarray) -> bool:
    """Whether each line that this head has is at strength 0."""
    return bool((head[~np.isnan(head)] == 0).all())


def saved(page: Page, kind: str, folder: Path) -> tuple[str, bytes]:
    """The name and content of the file that the frame's picture becomes."""
    with page.expect_download() as download:
        assert page.evaluate("(kind) => insideBert.attention.save(kind)", kind)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.name, path.read_bytes()
