"""The token picker: every token a chip in its word's hue, hostile text a text, and an index that always fits."""

import re

import pytest

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.widgets.token_picker.figure import picker_html
from demos.widgets.token_picker.token_picker import pick


def test_each_token_is_a_chip_with_its_number_and_hue(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "An unflappable <b>cat</b>")
    chips = picker_html(encoding, 2, "Follow <it>")
    assert re.findall(r'data-token="(\d+)"', chips) == [str(number) for number in range(len(encoding))]
    assert re.findall(r'data-token="(\d+)" aria-checked="true" tabindex="0"', chips) == ["2"]
    hues = re.findall(r'class="pick (\w+)"', chips)
    assert hues[0] == hues[-1] == "special"
    assert (
        len({hue for hue, word in zip(hues, encoding.word_index, strict=True) if word == 1}) == 1
    )  # one word's pieces
    assert "<b>cat" not in chips
    assert "Follow &lt;it&gt;" in chips


@pytest.mark.parametrize(("asked", "meant"), [(0, 0), (3, 3), (9, 2), (-1, 2), (None, 0), (2.0, 2)])
def test_an_index_beyond_the_sentence_means_its_last_word(tiny: LoadedModel, asked: float | None, meant: int) -> None:
    encoding = encode(tiny.tokenizer, "a cat")  # [CLS] a cat [SEP]
    assert pick(encoding, asked) == meant


def test_a_long_input_offers_its_first_tokens(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "cat " * 200)
    at = pick(encoding, 150)
    chips = picker_html(encoding, at, "Follow")
    assert chips.count("data-token") == 128
    assert "74 more tokens can't be chosen here" in chips
    assert at == 127
    assert pick(encode(tiny.tokenizer, ""), 1) == 1  # nothing but [CLS] and [SEP]
