"""What a slider is told when the model or the sentence changes under it."""

from __future__ import annotations

import pytest

from demos.page.choices import clamp, slider


@pytest.mark.parametrize(("asked", "meant"), [(None, 0), (-3, 0), (0, 0), (2.0, 2), (5, 5), (99, 5)])
def test_what_lies_beyond_an_end_becomes_that_end(asked: float | None, meant: int) -> None:
    assert clamp(asked, 6) == meant
    update = slider(asked, 6, label="Layer")
    assert (update["maximum"], update["label"]) == (5, "Layer")
    assert update.get("value", asked) == meant  # sent only where it differs from what the slider shows
    assert ("value" in update) == (asked != meant)
    assert slider(asked, 6, move=True)["value"] == meant
