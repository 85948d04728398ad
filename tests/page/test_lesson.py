"""The contract: a person's error becomes one escaped sentence and leaves the page as it was."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

import demos.lessons
from demos.errors import UserError
from demos.figures.figure.figure import Figure
from demos.lessons import discover
from demos.page.delivery.first_views import FirstViews
from demos.page.guards import OUR_FAULT, dimmed, guarded, notice_html, pictures, with_api_errors
from demos.page.lesson import Page


def _is_skip(value: object) -> bool:
    return isinstance(value, dict) and value.get("__type__") == "update" and len(value) == 1


def test_lessons_are_found_in_order_and_introduce_themselves() -> None:
    lessons = discover()
    first_four = [lesson.slug for lesson in lessons if lesson.slug in {"tokens", "attention", "embeddings", "finetune"}]
    assert first_four == ["tokens", "attention", "embeddings", "finetune"]
    assert [lesson.order for lesson in lessons] == sorted(lesson.order for lesson in lessons)
    for lesson in lessons:
        assert lesson.question.endswith("?")
        assert lesson.look.count(".") + lesson.look.count("?") >= 2, lesson.slug


def test_a_new_file_is_a_new_tab_and_a_broken_one_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "from demos.page.lesson import Lesson\n"
        "LESSON = Lesson('fifth', 9, 'Fifth', 'A fifth?', 'Look. Here.', lambda page: None)\n"
    )
    (tmp_path / "fifth.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(demos.lessons, "__path__", [*demos.lessons.__path__, str(tmp_path)])
    assert discover()[-1].slug == "fifth"
    (tmp_path / "broken.py").write_text("import nothing_of_this_name", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError):
        discover()
    (tmp_path / "broken.py").write_text(text.replace("9", "10"), encoding="utf-8")
    sys.modules.pop("demos.lessons.broken", None)
    with pytest.raises(ValueError, match="share a slug"):
        discover()


def test_a_name_stands_for_one_choice_of_a_lesson() -> None:
    page = SimpleNamespace(lesson=SimpleNamespace(slug="tokens"), choices={})
    Page.keep(page, word=gr.Textbox())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="word"):
        Page.keep(page, other=gr.Textbox(), word=gr.Textbox())  # type: ignore[arg-type]


def test_success_empties_the_notice() -> None:
    assert guarded(lambda: "value", ["first"])() == ["value", ""]
    assert guarded(lambda: ("a", "b"), ["first", "second"])() == ["a", "b", ""]
    assert guarded(lambda: {"second": "b"}, ["first", "second"])() == [gr.skip(), "b", ""]
    assert guarded(lambda: gr.update(value="c"), ["first"])() == [gr.update(value="c"), ""]
    assert guarded(lambda: {"third": "c"}, ["first"])()[0] == gr.skip()  # our fault, said as such
    assert guarded(lambda: None, [])() == [""]


@pytest.mark.parametrize("wrapped", [lambda figure: figure, lambda figure: {"first": gr.update(value=figure)}])
def test_a_figure_that_a_handler_draws_carries_its_sentence(wrapped: Callable[[Figure], object]) -> None:
    bars = {"type": "bar", "x": ["a", "b"], "y": [1, 2]}
    drawn = guarded(lambda: wrapped({"data": [bars], "layout": {"height": 90}}), ["first"])()[0]
    shown = drawn["value"] if isinstance(drawn, dict) else drawn
    sentence = "Of 2 bars, the largest is “b” with 2 and the smallest “a” with 1."
    assert json.loads(shown.plot) == {"data": [bars], "layout": {"height": 90, "meta": sentence}}


def test_a_persons_error_is_one_sentence_and_loses_nothing() -> None:
    def refuse() -> None:
        raise UserError("No <b>.")

    *outputs, notice = guarded(refuse, ["first", "second"])()
    assert all(_is_skip(value) for value in outputs)
    assert notice == notice_html("No <b>.") == '<p class="notice" role="status">No &lt;b&gt;.</p>'


def test_our_own_error_does_not_leak(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> None:
        raise KeyError("/secret/path")

    *outputs, notice = guarded(broken, ["first"])()
    assert _is_skip(outputs[0])
    assert OUR_FAULT.split(".")[0] in notice
    assert "secret" not in notice
    assert "secret" in caplog.text


def test_generators_stream_until_they_fail() -> None:
    def steps() -> Iterator[str]:
        yield "one"
        raise UserError("Enough.")

    first, second = list(guarded(steps, ["first"])())
    assert first == ["one", ""]
    assert _is_skip(second[0])
    assert "Enough." in second[1]


def test_a_failure_dims_what_it_would_have_drawn_and_a_success_empties_the_notices_it_overtakes() -> None:
    def refuse() -> None:
        raise UserError("No.")

    with gr.Blocks():
        named, own, control = gr.HTML(elem_id="named"), gr.Plot(), gr.Textbox()
        hidden = gr.HTML(visible="hidden")
    drawn = pictures([named, control, own, hidden])
    assert drawn == ["named", f"drawn-{own._id}"]
    assert own.elem_id == drawn[1]
    assert control.elem_id is None
    skipped, notice, other = guarded(refuse, ["first"], dimmed(drawn), 1)()
    assert _is_skip(skipped)
    assert _is_skip(other)
    assert notice.startswith(notice_html("No."))
    assert f":is(#named, #drawn-{own._id}) > *" in notice
    assert "Dimmed parts still show the previous sentence or choice." in notice
    assert guarded(lambda: "value", ["first"], dimmed(drawn), 1)() == ["value", "", ""]
    assert dimmed([]) == ""


def test_endpoints_pass_the_sentence_on() -> None:
    def refuse(text: str) -> dict:
        raise UserError(f"Not {text}.")

    with pytest.raises(gr.Error, match="Not this") as caught:
        with_api_errors(refuse)("this")
    assert caught.value.message == "Not this."


@pytest.mark.slow
def test_no_two_postponed_handlers_hear_one_event(built: tuple[gr.Blocks, FirstViews]) -> None:
    """Gradio repeats a postponed one by sending its event to all who listen: two of them would never rest."""
    demo, _ = built
    heard: dict[tuple[int | None, str], int] = {}
    for event in demo.fns.values():
        if event.trigger_mode == "always_last":
            for target in event.targets:
                heard[target] = heard.get(target, 0) + 1
    assert heard, "no lesson redraws"
    assert {target: count for target, count in heard.items() if count > 1 and target[1] != "then"} == {}
