"""A text beyond the model's limit: each part whose model reads all of the bar's text says how much was cut off."""

import inspect
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.likelihood import pseudo_likelihood
from demos.errors import UserError
from demos.lessons.encoder.input.part import Input
from demos.lessons.encoder.masks.part import Masks
from demos.lessons.family.last_word.part import LastWord
from demos.page.batch import Redraw, changed_by
from demos.page.guards import cut_html
from demos.page.lesson import Page
from demos.page.services import Sentence, Services

LINE = "cut-line"  # its class
LONG = "word " * 667
ALONE = "The input has 669 tokens; the limit is 512, so 157 were removed, from its end."
BOTH = "The input has 1,337 tokens; the limit is 512, so 825 were removed, first from the end of the longer sentence."
REFUSED = {"encoder-masks", "family-last_word", "family-inputs", "pretraining-cloze"}  # a sentence says their limit
# These say it themselves, or read a text of their own, or sentences one by one.
WITHOUT = {
    "embeddings-pooling",
    "embeddings-search",
    "embeddings-maps",
    "embeddings-word_senses",
    "embeddings-siamese",
    "family-decoder",
    "family-late_interaction",
    "finetune-results",
    "pretraining-corruption",
    "pretraining-next_sentence",
    "pretraining-original_run",
    "pretraining-labels",
    "pretraining-spans",
    "lesson-tokens",
}


def test_each_part_that_reads_the_whole_text_says_what_was_cut(pages: dict[str, tuple[gr.Blocks, Page]]) -> None:
    """In the event that draws it, above it and in no fold."""
    for slug, (_, page) in pages.items():
        reads = {f"{slug}-{part.slug}" for part in page.lesson.parts if part.reads_sentence}
        reads = reads if page.lesson.parts else {f"lesson-{slug}"}
        said = dict.fromkeys(reads - WITHOUT - REFUSED, "")
        for redraw in page.redrawn:
            for line in (output for output in redraw.outputs if LINE in (output.elem_classes or ())):
                assert redraw.fold is None
                if (place := place_of(line)) in said:
                    said[place] += line_of(redraw, line)
        for place, line in said.items():
            assert line.count(ALONE) == 1, place


def line_of(redraw: Redraw, line: Any) -> str:
    """The line as the handler fills it for a long text, its other inputs being as they are at first."""
    values = [component.value for component in redraw.inputs]
    answer = redraw.handler(LONG, "", "", *values[3:])
    *_, last = answer if inspect.isgenerator(answer) else [answer]
    at = next(at for at, output in enumerate(redraw.outputs) if output is line)
    return str(changed_by(last[at]).get("value", ""))


def place_of(block: Any) -> str:
    """The id of the tab of the part that it is in; of a lesson without parts, the lesson's."""
    while not (isinstance(block, gr.Tab) or (block.elem_id or "").startswith("lesson-")):
        block = block.parent
    return str(block.elem_id)


@pytest.fixture
def inputs(bundled: LoadedModel) -> dict[str, Encoding]:
    texts = {"alone": (LONG, ""), "both": (LONG, LONG), "whole": ("word " * 510, "")}
    return {name: encode(bundled.tokenizer, *both) for name, both in texts.items()}


def test_the_line_counts_what_was_there_before_the_cut(inputs: dict[str, Encoding]) -> None:
    assert ALONE in cut_html([inputs["alone"]])
    assert BOTH in cut_html([inputs["both"]])
    assert [encoding.uncut for encoding in inputs.values()] == [669, 1337, 512]


def test_two_inputs_that_were_cut_alike_have_one_sentence(inputs: dict[str, Encoding]) -> None:
    assert cut_html([inputs["alone"], inputs["alone"]]).count("removed") == 1
    assert cut_html([inputs["alone"], inputs["both"]]).count("removed") == 2


def test_without_a_cut_there_is_no_line(inputs: dict[str, Encoding]) -> None:
    assert cut_html([]) == cut_html([inputs["whole"]]) == ""


def test_what_is_computed_for_fewer_tokens_says_so_in_one_sentence(services: Services, bundled: LoadedModel) -> None:
    """Where another last word makes the input too long, its own length is said."""
    long, short = Sentence("word " * 200, "", "minilm"), Sentence("word " * 125, "", "minilm")
    said = "The input has {} tokens; here the limit is 128."
    assert said.format(202) in Input().shown(services, long)["said"]
    for part, sentence, word, tokens in (
        (Masks(), long, {"last": "x"}, 202),
        (LastWord(), long, {"other_word": "x"}, 202),
        (LastWord(), short, {"other_word": "x-y-z-x-y-z"}, 137),
    ):
        with pytest.raises(UserError, match=said.format(tokens)):
            part.shown(services, sentence, **word)
    with pytest.raises(UserError, match=said.format(202)):
        next(pseudo_likelihood(services.pretrained("minilm"), encode(bundled.tokenizer, long.text)))
