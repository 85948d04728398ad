"""What a slider is told when the model or the sentence changes under it."""

import gradio as gr
import pytest

from demos.page.layer_head_choices import by_index, clamp, counted_slider, following, is_counted, moving_slider


@pytest.mark.parametrize(("asked", "meant"), [(None, 0), (-3, 0), (0, 0), (2.0, 2), (5, 5), (99, 5)])
def test_what_lies_beyond_an_end_becomes_that_end(asked: float | None, meant: int) -> None:
    assert clamp(asked, 6) == meant


def test_what_has_a_moving_end_is_not_set_back_beyond_it() -> None:
    for made in moving_slider(0, 24, 24), counted_slider(12, 2):
        assert made.get_config()["buttons"] == []  # Gradio's ↺, which knows the first value alone


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


def test_handlers_are_given_indices_and_the_page_shows_numbers_from_one() -> None:
    with gr.Blocks():
        layer, token = counted_slider(6, 2, label="Layer"), gr.Slider(0, 9, 4)
    assert (layer.minimum, layer.maximum, layer.value, is_counted(layer), is_counted(token)) == (1, 6, 3, True, False)

    def draw(index: float, at: float) -> list[object]:
        return [f"{index} {at}", "a notice"]

    assert by_index(draw, [layer, token])(3, 4) == ["2 4", "a notice"]
    assert by_index(draw, [token, token]) is draw  # nothing to count

    def stream(index: float) -> object:
        yield [index]
        yield [gr.skip()]

    assert list(by_index(stream, [layer])(1)) == [[0], [gr.skip()]]
