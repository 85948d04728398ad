"""On the page layers are 1 ... L and heads 1 ... A; state 0 is the embeddings. Programs keep transformers' indices."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest
from gradio.components.plot import PlotData

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT
from demos.bert.attention.rollout import Recipe, What
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.counting import counted, from_zero, head_name, layer_name, state_name, state_names
from demos.lessons.attention.heads.program import contribution_code
from demos.lessons.attention.rollout.text import rollout_code
from demos.page.bar import DEFAULT_TEXT
from demos.page.batch import changed_by
from demos.page.layer_head_choices import is_counted
from demos.page.lesson import Page

FROM_ZERO = re.compile(r"\b(layers?|heads?) 0\b(?!\.\d|%)|(layer|head) \(from 0\)|counted from 0", re.IGNORECASE)
# The lines of a program that name a layer or a head by its index.
INDEX = re.compile(
    r"^\s*(\w+, )*(layer|head)(, \w+)* = \d|^off = \[\(\d|"  # assigned
    r"\battentions?(\(.*\))?\[(:, |:)?\d|^for layer in .*[(:]\d+\W*:",  # taken
    re.MULTILINE,
)
SPOKEN = ("text", "title", "name", "hovertemplate", "ticktext", "label", "customdata")  # what a Plotly figure says


def test_names() -> None:
    assert [counted(0), layer_name(0), head_name(5, 11)] == [1, "layer 1", "layer 6, head 12"]
    assert state_names(2) == ["embeddings", "layer 1", "layer 2"]
    assert [state_name(0), state_name(2)] == ["state 0 (embeddings)", "layer 2"]
    assert FROM_ZERO.search("Layer 0, head 2")
    assert FROM_ZERO.search('data-told="Layer 0: attention"')
    assert FROM_ZERO.search("layer (0: the embedding output), head 0.5") is None


@pytest.mark.parametrize("lesson", ["overview", "attention", "encoder", "pretraining"])
def test_no_drawing_counts_from_zero(pages: dict[str, tuple[gr.Blocks, Page]], lesson: str) -> None:
    """Neither with the first layer and head nor with the last, called L and A. (Embeddings counts states, 0 to L.)"""
    demo, page = pages[lesson]
    places = ("first", "last") if any(map(is_counted, page.choices.values())) else ("first",)
    for place in places:
        said = list(spoken(demo, page, place))
        for where, text in said:
            found = FROM_ZERO.search(text)
            assert not found, (lesson, place, where, text[max(0, found.start() - 60) : found.end() + 60])
        everything = " ".join(text for _, text in said).lower()
        if lesson in ("attention", "encoder"):
            assert "layer 6, head 12" in re.sub(r"\s+", " ", everything) or place == "first"
        assert "layer 6" in re.sub(r"<[^>]*>|\s+", " ", everything).replace("  ", " "), lesson


def unexplained(program: str) -> list[str]:
    """A program's lines with an index of a layer or head that do not say how the page counts it."""
    return [line for line in program.splitlines() if INDEX.search(line) and "on the page" not in line]


def test_a_line_with_an_index_says_what_the_page_calls_it() -> None:
    """All panels' programs: tests/browser/test_notebook.py, which runs them."""
    assert from_zero(layer=5, head=11) == "indices from 0; on the page: layer 6, head 12"
    assert unexplained("layer, head, token = 5, 11, 2") == ["layer, head, token = 5, 11, 2"]


@pytest.mark.parametrize(
    ("what", "called"),
    [
        ("head", "on the page: layer 3, head 5"),
        ("heads-mean", "on the page: layer 3"),
        ("layers-max", "on the page: head 5"),
        ("rollout", "up to layer 3 on the page"),
    ],
)
@pytest.mark.parametrize("measure", [WEIGHT, CONTRIBUTION])
def test_each_way_of_combining_heads_says_it_too(bundled: LoadedModel, what: What, called: str, measure: str) -> None:
    encoding = encode(bundled.tokenizer, DEFAULT_TEXT)
    program = rollout_code(bundled.spec, encoding, Recipe(what=what, layer=2, head=4, measure=measure))
    assert not unexplained(program)
    assert called in program
    by_contribution = contribution_code(bundled.spec, encoding, 2, 4)
    assert "layer, head = 2, 4  # indices from 0; on the page: layer 3, head 5" in by_contribution


def spoken(demo: gr.Blocks, page: Page, place: str) -> Iterator[tuple[str, str]]:
    """What the drawings of a page say, at the first layer and head or at the last; programs are left out."""
    values: dict[int, Any] = dict(
        zip((component._id for component in page.sentence), (DEFAULT_TEXT, "", BUNDLED), strict=True)
    )
    for component in page.choices.values():
        if is_counted(component):
            values[component._id] = 1 if place == "first" else component.maximum
    for redraw in page.redrawn:
        if inspect.isgeneratorfunction(redraw.handler):
            continue
        answer = redraw.handler(*(values.get(one._id, getattr(one, "value", None)) for one in redraw.inputs))
        for output, value in zip(redraw.outputs, answer, strict=True):
            if isinstance(output, gr.Code):
                continue
            for name, now in changed_by(value).items():
                if name == "value" and isinstance(output, gr.HTML | gr.Plot):
                    yield from ((output.elem_id or output.label or "", text) for text in texts_of(now))
                elif name in ("label", "choices", "info"):
                    yield output.elem_id or "", " ".join(str(one[0]) for one in now) if name == "choices" else str(now)
    for block in demo.blocks.values():
        if block.page == page.lesson.slug and isinstance(block, gr.components.Component):
            yield block.elem_id or "", f"{getattr(block, 'label', '')} {getattr(block, 'info', '')}"


def texts_of(value: Any) -> Iterator[str]:
    """The words of a value: HTML without its tags, and what a figure writes."""
    if value is None:
        return
    if isinstance(value, PlotData):
        figure = json.loads(value.plot)
        yield from written(figure)
    elif not str(value).startswith("{"):
        yield str(value)  # what its attributes say, too
        yield re.sub(r"<[^>]*>", "", str(value))


def written(node: Any, name: str = "") -> Iterator[str]:
    if isinstance(node, dict):
        for key, inner in node.items():
            if key != "template":
                yield from written(inner, key)
    elif isinstance(node, list):
        for inner in node:
            yield from written(inner, name)
    elif isinstance(node, str) and name in SPOKEN:
        yield node
