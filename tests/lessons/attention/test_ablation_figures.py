"""What switching heads off changes: the picture, its words, and its tables of bars, with hostile words in them."""

import re

import numpy as np
import pytest

from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.guesses import Guess
from demos.figures.palette import SPECIAL, word_colour
from demos.lessons.attention.ablation.figure import change_figure
from demos.lessons.attention.ablation.text import (
    TEXT,
    agreement_html,
    board_html,
    changed_html,
    classes_html,
    cosine_table,
    saliency_html,
    similarities_html,
)
from tests.plotly_figure import plotly

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def encoding(tiny: LoadedModel) -> Encoding:
    return encode(tiny.tokenizer, "A <b> unhurried.")


@pytest.fixture(scope="module")
def cosines(encoding: Encoding) -> np.ndarray:
    """Two layers; the second's output moves, its fourth token most."""
    values = np.ones((3, len(encoding)))
    values[2] -= np.linspace(0.02, 0.04, len(encoding))
    values[2, 3] = 0.5
    return values


def test_the_picture_holds_each_change_and_each_words_hue(encoding: Encoding, cosines: np.ndarray) -> None:
    figure = plotly(change_figure(cosines, encoding))
    picture = figure.data[0]
    np.testing.assert_allclose(np.array(picture.z), 1 - cosines, atol=1e-5)
    assert (picture.zmin, picture.zmax) == (0, 0.5)
    assert list(picture.y) == ["embeddings", "layer 1", "layer 2"]
    assert len(set(picture.x)) == len(encoding)
    assert "1 a" in picture.x
    assert not any("<b>" in name for name in picture.x)
    hues = [shape.fillcolor for shape in figure.layout.shapes]
    assert hues == [word_colour(word) for word in encoding.word_index]
    assert hues[0] == hues[-1] == SPECIAL
    written = [[re.sub("<.*?>", "", cell) for cell in row] for row in picture.text]
    assert written[0] == [""] * len(encoding)
    assert written[2][3] == "50"
    assert [note.text for note in figure.layout.annotations] == ["1 − cosine in hundredths."]


def test_next_to_no_change_is_drawn_as_such(encoding: Encoding) -> None:
    picture = plotly(change_figure(np.full((3, len(encoding)), 1 - 1e-6), encoding)).data[0]
    assert picture.zmax == 0.01


def test_a_long_input_is_cut_and_loses_its_numbers(tiny: LoadedModel) -> None:
    long = encode(tiny.tokenizer, "sand " * 200)
    figure = plotly(change_figure(np.full((3, len(long)), 0.9), long))
    assert np.array(figure.data[0].z).shape == (3, 128)
    assert figure.data[0].text is None


def test_what_moved_is_told(encoding: Encoding, cosines: np.ndarray) -> None:
    told = changed_html(cosines, encoding, 2, 8, ["9.9"])
    assert "2 of 8 heads are off" in told
    assert "from layer 2 on" in told
    assert "lowest for <q>b</q>: 0.500" in told
    assert "no head 9.9" in told
    assert "All 8 heads are on" in changed_html(np.ones((3, len(encoding))), encoding, 0, 8)
    assert "No state changes" in changed_html(np.ones((3, len(encoding))), encoding, 1, 8)


def test_similarities_before_and_after() -> None:
    table = similarities_html([HOSTILE, "Calm."], np.array([[0.5, -0.1], [0.25, 0.0]]), second=True)
    assert HOSTILE not in table
    assert "◆ &lt;img" in table
    assert re.findall(r"<td>([−\d.]+)</td>", table) == ["0.500", "0.250", "−0.100", "0.000"]
    assert re.findall(r"<b>(.*?)</b>", table) == ["−0.250", "+0.100"]
    assert re.findall(r"width:([\d.]+)%", table) == ["50.0", "25.0", "0.0", "0.0"]
    assert "second sentence at the top" in similarities_html([], np.zeros((2, 0)), second=False)


def test_guesses_mark_what_is_new() -> None:
    before = [Guess("<i>", 1, 0.6, 3.0), Guess("sea", 2, 0.3, 2.0)]
    after = [Guess("sea", 2, 0.5, 2.0), Guess("sky", 3, 0.2, 1.0)]
    told = TEXT.guesses("Tiny", 4, "sea", before, after)
    assert "&lt;i&gt;" in told
    assert "<i>" not in told
    assert re.findall(r"<li class=\"new\"><span>(.*?)</span>", told) == ["sky"]
    assert re.findall(r"<b>(.*?)</b>", told) == ["60.0%", "30.0%", "50.0%", "20.0%"]


def test_classes_keep_their_hue_and_tell_a_new_answer() -> None:
    told = classes_html({HOSTILE: 0.2, "joy": 0.8}, {HOSTILE: 0.7, "joy": 0.3})
    assert HOSTILE not in told
    assert "from “joy” to “&lt;img" in told
    hues = re.findall(r"--hue:(#\w+)", told)
    assert hues == [word_colour(1), word_colour(0)]  # the second class comes first, in its own hue
    assert "The predicted class remains “joy”" in classes_html({"joy": 0.8, "fear": 0.2}, {"joy": 0.6, "fear": 0.4})


def test_each_token_has_both_bars_and_a_sign(encoding: Encoding) -> None:
    n = len(encoding)
    values = np.linspace(-0.2, 0.1, n)
    attention = np.linspace(0, 0.5, n)
    table = saliency_html(values, attention, encoding, HOSTILE, "attention")
    assert HOSTILE not in table
    assert "&lt;" in table
    sides = re.findall(r'class="(minus|plus)" style="width:([\d.]+)%', table)
    assert sides[0] == ("minus", "50.0")
    assert [side for side, _ in sides] == ["minus" if value < 0 else "plus" for value in values]
    numbers = [float(found.replace("−", "-")) for found in re.findall(r"<td>([−+\d.]+)</td>", table)]
    np.testing.assert_allclose(numbers[::2], values, atol=1e-3)
    np.testing.assert_allclose(numbers[1::2], attention, atol=1e-3)
    for zero in (np.zeros(n),):
        assert "nan" not in saliency_html(zero, attention, encoding, "y", "attention")


def test_agreement_is_by_size_and_once_more_without_special_tokens(encoding: Encoding) -> None:
    n = len(encoding)
    rising = np.linspace(0.1, 1, n)
    told = agreement_html(-rising, rising, encoding)
    assert told.count("Spearman <b>+1.00</b>") == 2
    assert f"All tokens ({n})" in told
    assert f"Words only ({n - 2})" in told
    assert "too few" in agreement_html(np.ones(n), rising, encoding)


def test_a_gradient_of_rounding_errors_ranks_nothing(encoding: Encoding) -> None:
    n = len(encoding)
    noise = np.linspace(1e-9, 1e-8, n)  # of a sentence compared with itself, measured on MiniLM
    for values in (noise, np.zeros(n)):
        told = agreement_html(values, np.linspace(0.1, 1, n), encoding)
        assert "Every value of gradient × input is zero here" in told
        assert "Spearman" not in told


def test_numbers_and_the_map_of_heads(encoding: Encoding, cosines: np.ndarray) -> None:
    table = cosine_table(cosines, encoding)
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", table)
    found = [[float(value) for value in re.findall(r"<td>([\d.]+)</td>", row)] for _, row in rows]
    np.testing.assert_allclose(np.array(found).T, cosines, atol=1e-4)
    board = board_html({(0, 0): 0.1, (0, 1): 0.4, (1, 0): 0.0}, 4)
    assert "3 of 4 heads tried" in board
    assert "<td>…</td>" in board
    full = board_html({(0, 0): 0.1, (0, 1): 0.4}, 2)
    assert "layer 1, head 2 alone changes the sentence vector most" in full
    assert re.findall(r"--share:(\d+)%", full) == ["25", "100"]
    assert board_html({}, 4) == ""
