"""A text beyond the model's limit: every part that reads it says, in one line above it, how much was cut off."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import LoadedModel, ModelStore
from demos.page.batch import changed_by
from demos.page.lesson import Page
from demos.page.parts import cut_html
from demos.page.services import Sentence, Services

LINE = "cut-notice"  # its class


@pytest.fixture(scope="module")
def services(store: ModelStore, bundled: LoadedModel) -> Services:
    return Services(store, bundled.spec.key)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("", "669 tokens; the limit is 512, so 157 were removed, from its end."),
        (
            "word " * 667,
            "1,337 tokens; the limit is 512, so 825 were removed, first from the end of the longer sentence.",
        ),
    ],
)
def test_the_line_has_the_count_before_the_cut(services: Services, pair: str, said: str) -> None:
    assert f"The text in the bar has {said}" in cut_html(services, Sentence("word " * 667, pair, ""))


@pytest.mark.parametrize(
    ("text", "model"), [("word " * 510, ""), ("", ""), ("x" * 20_001, ""), ("word " * 667, "nosuch")]
)
def test_without_a_cut_there_is_no_line(services: Services, text: str, model: str) -> None:
    assert cut_html(services, Sentence(text, "", model)) == ""


def test_each_part_that_reads_the_sentence_has_the_line(pages: dict[str, tuple[gr.Blocks, Page]]) -> None:
    """What its page asks for together with the part's picture, and shows in the part's tab, not in a fold."""
    for slug, (_, page) in pages.items():
        said: dict[str, list[str]] = {}  # place -> its lines
        for redraw in page.redrawn:
            if LINE in (redraw.outputs[0].elem_classes or ()):
                assert redraw.fold is None
                line, *_ = redraw.handler("word " * 667, "", "")
                said.setdefault(place_of(redraw.outputs[0]), []).append(str(changed_by(line)["value"]))
        lesson = page.lesson
        reads = {f"{slug}-{part.slug}" for part in lesson.parts if part.reads_sentence}
        assert said.keys() == (reads if lesson.parts else {f"lesson-{slug}"})
        for lines in said.values():
            assert len(lines) == 1
            assert "The text in the bar has 669 tokens; the limit is 512, so 157 were removed" in lines[0]


def place_of(block: Any) -> str:
    """The id of the tab of the part that it stands in; of a lesson without parts, the lesson's."""
    while not (isinstance(block, gr.Tab) or (block.elem_id or "").startswith("lesson-")):
        block = block.parent
    return str(block.elem_id)
