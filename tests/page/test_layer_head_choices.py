"""What a slider is told when the model or the sentence changes under it."""

from __future__ import annotations

import pytest

from demos.page.layer_head_choices import clamp, following, slider


@pytest.mark.parametrize(("asked", "meant"), [(None, 0), (-3, 0), (0, 0), (2.0, 2), (5, 5), (99, 5)])
def test_what_lies_beyond_an_end_becomes_that_end(asked: float | None, meant: int) -> None:
    assert clamp(asked, 6) == meant
    update = slider(asked, 6, label="Layer")
    assert (update["maximum"], update["label"]) == (5, "Layer")
    assert update.get("value", asked) == meant  # sent only where it differs from what the slider shows
    assert ("value" in update) == (asked != meant)
    assert slider(asked, 6, move=True)["value"] == meant


def test_a_choice_that_nobody_moved_follows_the_model() -> None:
    own = {"one": 5, "two": 9}

    def draw(asked: float | None, followed: str, model: str) -> tuple[float | None, str]:
        return following(asked, 3, followed, model, lambda: own[model])

    opened = draw(3, "", "one")
    assert opened == (5, "one 5")
    assert draw(5, opened[1], "one") == opened
    assert draw(5, opened[1], "two") == (9, "two 9")
    moved = draw(4, opened[1], "one")  # by hand, on the same model
    assert moved == (4, "one 5")
    assert draw(4, moved[1], "two") == (4, "two moved")
    assert draw(5, "two moved", "one") == (5, "one moved")
    assert draw(7, "", "two") == (7, "two moved")  # a link said so
    assert following("0.2", "0.2", "", "two", lambda: "7.1") == ("7.1", "two 7.1")  # a word follows like a number
    assert following("", "0.2", "", "two", lambda: "7.1") == ("", "two moved")
