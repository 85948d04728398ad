"""What no field can hold is told in a sentence, and nothing is printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from demos.page.protection.wrong_values import WRONG, tell_wrong_values
from tests.hostile.wire import call


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gr.Blocks, "preprocess_data", gr.Blocks.preprocess_data)  # put back afterwards
        tell_wrong_values()
        with gr.Blocks(analytics_enabled=False) as demo:
            inputs = (
                gr.Slider(0, 5),
                gr.Dropdown(["a", "b"]),
                gr.Number(),
                gr.Dropdown(["c"], multiselect=True),
                gr.File(),
            )
            gr.Button().click(lambda *values: str(values[:4]), inputs, gr.Textbox(), api_name="show")
        demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False)
        yield demo.local_url
        demo.close()


RIGHT: list[Any] = [1, "a", 2, [], None]


@pytest.mark.parametrize(
    ("place", "wrong"),
    [(0, "x"), (0, 9), (0, {}), (1, "c"), (1, []), (1, ["a"]), (2, "x"), (2, []), (4, {"path": "/etc/passwd"}), (4, 7)],
)
def test_a_value_that_fits_no_field(url: str, place: int, wrong: Any, capfd: pytest.CaptureFixture[str]) -> None:
    values = [*RIGHT]
    values[place] = wrong
    assert WRONG in call(url, "show", values)
    assert "Traceback" not in "".join(capfd.readouterr())


def test_values_that_fit_are_handed_on(url: str) -> None:
    assert call(url, "show", RIGHT) == """data: ["(1, 'a', 2, [])"]"""
    assert call(url, "show", [5, "b", 0, ["c"], None]) == """data: ["(5, 'b', 0, ['c'])"]"""
