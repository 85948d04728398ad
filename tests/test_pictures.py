"""The pictures of the README: how the frames become an animation, and that the script finds its way through the app."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from tests import pictures
from tests.chromium import find_chromium
from tests.pictures import ANIMATION, CURVES, HEADS, SCREEN, SCREENSHOT, SHARPNESS, TYPED, Frame, evenly, main, write


def plain(number: int) -> Frame:
    """A frame of one grey."""
    return Frame(Image.new("RGB", (8, 6), (number * 20,) * 3), 100 + number)


@pytest.mark.parametrize(
    ("frames", "number", "chosen"), [(3, 12, [0, 1, 2]), (9, 3, [0, 4, 8]), (12, 12, list(range(12)))]
)
def test_frames_are_thinned_out_evenly(frames: int, number: int, chosen: list[int]) -> None:
    every = [plain(place) for place in range(frames)]
    assert [every.index(frame) for frame in evenly(every, number)] == chosen


def test_frames_become_an_animation_that_repeats(tmp_path: Path) -> None:
    frames = [plain(place) for place in range(4)]
    write(frames, tmp_path / ANIMATION)
    with Image.open(tmp_path / ANIMATION) as animation:
        assert (animation.n_frames, animation.size, animation.info["loop"]) == (4, (8, 6), 0)
        for place, frame in enumerate(frames):
            animation.seek(place)
            grey = animation.convert("RGB").getpixel((0, 0))
            assert isinstance(grey, tuple)
            assert abs(grey[0] - place * 20) <= 6
            assert animation.info["duration"] == frame.milliseconds


def test_without_chromium_it_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pictures, "find_chromium", lambda: None)
    assert main(tmp_path) == 2
    assert capsys.readouterr().err.startswith("There is no Chromium on this machine")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_both_pictures_are_taken_of_the_app(app_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a training of one epoch, which has fewer frames, soon and in a larger file."""
    chromium = find_chromium()
    if chromium is None:
        assert not os.environ.get("CI")
        pytest.skip("no Chromium on this machine")
    for name, value in {"EPOCHS": 1, "SETTLED": 200.0, "EFFORT": 0}.items():
        monkeypatch.setattr(pictures, name, value)
    with ThreadPoolExecutor(1) as apart:  # Playwright may be at work in this thread, for the tests of the browser
        frames = apart.submit(pictures.take, app_url, chromium, tmp_path).result()
    before_training = len(TYPED) + 1 + len(HEADS)
    assert before_training + 2 <= len(frames) <= before_training + CURVES + 1
    assert len({frame.picture.tobytes() for frame in frames[:before_training]}) == before_training
    assert frames[-1].picture.tobytes() != frames[before_training].picture.tobytes()
    with Image.open(tmp_path / SCREENSHOT) as still:
        assert still.size == tuple(round(side * SHARPNESS) for side in SCREEN)
    assert (tmp_path / ANIMATION).stat().st_size > 100_000
