"""What no field can hold is told in a sentence, and nothing is printed."""

import socket
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from demos.page.protection.wrong_values import WRONG
from tests.hostile.wire import call
from tests.page.patched import apply_named


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        apply_named(patch, "preprocess_data", "async_ssrf_protected_download")
        with gr.Blocks(analytics_enabled=False) as demo:
            inputs = (
                gr.Slider(0, 5),
                gr.Dropdown(["a", "b"]),
                gr.Number(),
                gr.Dropdown(["c"], multiselect=True),
                gr.File(),
                gr.Radio([("a half", 0.5), ("one", 1.0)]),
                gr.Dropdown([("first", 0), ("second", 1)]),
                gr.Textbox(),
                gr.Radio(["x", "y"], value="y"),
                gr.Dropdown(["x", "y"], value=None),
            )
            gr.Button().click(lambda *values: str([*values[:4], *values[5:]]), inputs, gr.Textbox(), api_name="show")
        demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False)
        yield demo.local_url
        demo.close()


RIGHT: list[Any] = [1, "a", 2, [], None, 0.5, 1, "b", "x", "x"]


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        *[
            (0, "x"),
            (0, 9),
            (0, {}),
            (0, True),
            (0, None),
            (0, float("nan")),
            (2, float("inf")),
            (1, "c"),
            (1, []),
            (1, ["a"]),
            (2, "x"),
            (2, []),
            (2, True),
        ],
        *[(4, {"path": "/etc/passwd"}), (4, 7), (5, True), (5, "0.5"), (6, True), (6, False), (6, -0.0), (6, 1.0)],
    ],
)
def test_a_value_that_fits_no_field(url: str, place: int, wrong: Any, capfd: pytest.CaptureFixture[str]) -> None:
    values = [*RIGHT]
    values[place] = wrong
    assert WRONG in call(url, "show", values)
    assert "Traceback" not in "".join(capfd.readouterr())


def test_values_that_fit_are_handed_on(url: str) -> None:
    assert call(url, "show", RIGHT) == """data: ["[1, 'a', 2, [], 0.5, 1, 'b', 'x', 'x']"]"""
    values = [5, "b", 0, ["c"], None, 1, 0, "", "y", "y"]
    assert call(url, "show", values) == """data: ["[5, 'b', 0, ['c'], 1, 0, '', 'y', 'y']"]"""


def test_null_is_an_empty_text_or_what_the_menu_was_built_with(url: str) -> None:
    assert call(url, "show", [1, *[None] * 9]) == """data: ["[1, 'a', None, [], None, 0, '', 'y', None]"]"""


def test_no_address_that_a_reader_names_is_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    known = socket.getaddrinfo

    def found(host: Any, *arguments: Any, **options: Any) -> Any:
        asked.append(host)
        return known("127.0.0.1" if host == "example.org" else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    for address in ("https://example.org/rows.csv", "http://example.org:8080/x"):
        file = {"path": address, "url": address, "meta": {"_type": "gradio.FileData"}}
        assert WRONG in call(url, "show", [*RIGHT[:4], file, *RIGHT[5:]])
    assert "example.org" not in asked
