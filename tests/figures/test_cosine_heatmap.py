"""The cosine heatmap and what is told beside it hold the numbers they were given, and no markup of the learner's."""

import re

import numpy as np
import pytest

from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.embeddings.similarity import Disagreement
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.figures import cosine_heatmap as embeddings
from demos.figures.cosine_heatmap import cosine_heatmap, short
from demos.figures.palette import PALETTE, ink_on
from demos.lessons.embeddings.pooling.text import (
    compared_html,
    how_html,
    neighbours_html,
    numbers_html,
    pairs_html,
    pooled_tokens,
    sentence_html,
)
from tests.one_line import plain
from tests.plotly_figure import plotly

HOSTILE = "<img src=x onerror=alert(1)> </script>"


def cosines(m: int) -> np.ndarray:
    rows = np.random.default_rng(0).normal(size=(m, 4))
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units @ units.T


def test_heatmap_holds_the_matrix_on_one_signed_scale() -> None:
    matrix = cosines(3)
    figure = plotly(cosine_heatmap(matrix, ["one", "two", HOSTILE], Disagreement(0, 2, 0.1, 0.9), 1, "Cosine by A"))
    assert figure.layout.title.text == "Cosine by A"
    heat = figure.data[0]
    np.testing.assert_allclose(heat.z, matrix, atol=1e-4)
    assert (heat.zmin, heat.zmax) == (-1, 1)
    assert [stop[1] for stop in heat.colorscale] == PALETTE["signed"]
    assert list(heat.customdata[1][0]) == ["two", "one"]
    assert f">{matrix[0, 1]:.2f}<".replace("0.", ".") in heat.text[0][1]
    framed = {(shape.x0 + 0.5, shape.y0 + 0.5) for shape in figure.layout.shapes}
    assert framed == {(0, 2), (2, 0)}
    ticks = figure.layout.yaxis.ticktext
    assert ticks[0].startswith("◆ 1 ")
    assert ticks[1].startswith("2 ")
    assert "<img" not in figure.to_json().replace("\\u003c", "<")


def test_large_heatmaps_carry_no_text_and_stay_small() -> None:
    figure = plotly(cosine_heatmap(cosines(64), ["a rather long sentence " * 4] * 64))
    assert figure.data[0].text is None
    assert figure.data[0].customdata is None
    assert len(figure.to_json()) < 120_000
    assert list(figure.layout.xaxis.ticktext)[:3] == ["1", "5", "10"]


@pytest.mark.parametrize("value", np.linspace(-1, 1, 41))
def test_cell_numbers_can_be_read_on_their_colour(value: float) -> None:
    from plotly.colors import sample_colorscale, unlabel_rgb

    def luminance(rgb: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    cell = luminance(unlabel_rgb(sample_colorscale(embeddings.SIGNED, [(value + 1) / 2])[0]))
    ink = 1.0 if ink_on(embeddings.SIGNED, (value + 1) / 2) == "#ffffff" else 0.0
    assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) >= 4.5  # WCAG 2 AA


def test_short_cuts_at_a_word() -> None:
    assert short("The bank was  muddy\nafter the flood.", 16) == "The bank was…"
    assert short("Antidisestablishmentarianism", 10) == "Antidises…"
    assert short("short", 10) == "short"


def test_pooled_tokens_say_what_is_left_out(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, f"Rain {HOSTILE}")
    weights = np.eye(1, len(encoding))[0]
    told = pooled_tokens(encoding, weights, 1)
    assert told.count("<li") == len(encoding)
    assert told.count('class="out"') == len(encoding) - 1
    assert "100.0% of the vector" in told
    assert "<img" not in told
    assert "&lt;" in told


TEXT = "One two three four five six seven eight nine ten eleven tokenization embeddings."  # 13 words, 20 tokens


@pytest.mark.parametrize(
    ("choice", "shape", "how"),
    [
        (
            Choice("mean", 12),
            "20 tokens × 768 = 15,360 components</b> → <b>768 components",
            "layer 12, the last one. They are averaged over all 20",
        ),
        (Choice("cls", 0), "20 tokens × 768 = 15,360 components</b> → <b>768 components", "before the first layer"),
        (Choice("mean_no_special", 11), "→ <b>768 components", "averaged over 18 tokens, without"),
        (Choice("max", SUM_ALL), "→ <b>768 components", "layers 1 to 12 are summed. For each of the 768 dimensions"),
        (Choice("mean", SUM_LAST_FOUR), "→ <b>768 components", "layers 9 to 12 are summed"),
        (
            Choice("max", CONCAT_LAST_FOUR),
            "20 tokens × (4 × 768) = 61,440 components</b> → <b>3,072 components",
            "layers 9 to 12 are concatenated. For each of the 3,072 dimensions",
        ),
        (Choice("pooler", 12), "768 components</b> → <b>768 components", "a trained 768 × 768 matrix"),
    ],
)
def test_every_choice_says_how_and_how_many(bundled: LoadedModel, choice: Choice, shape: str, how: str) -> None:
    told = plain(how_html(encode(bundled.tokenizer, TEXT), choice, 12, 768))
    assert shape in told
    assert how in told


def test_the_sentence_in_hand(bundled: LoadedModel) -> None:
    assert "13 words, <b>20 tokens</b>" in sentence_html(encode(bundled.tokenizer, TEXT))
    assert "more were removed" in sentence_html(encode(bundled.tokenizer, "word " * 600))


def test_the_comparison_in_words_and_tables(bundled: LoadedModel) -> None:
    pairs = [Disagreement(0, 1, 0.91, -0.004)]
    told = plain(compared_html(pairs, bundled.spec))
    assert "The cosine of the one pair is <b>0.91</b> with A and <b>0.00</b> with B" in told
    assert "tuned on sentence pairs with mean pooling" in told
    assert "nearly the same" not in told
    alike = [Disagreement(0, 1, 0.9991, 0.5), Disagreement(0, 2, 0.9972, 0.6)]
    told_alike = plain(compared_html(alike, bundled.spec))
    assert "With A, every cosine is above 0.99: all these vectors have nearly the same direction." in told_alike
    listed = pairs_html(pairs * 9, ["one", HOSTILE])
    assert listed.count("<li>") == 5
    assert "<b>A</b><i></i>0.91" in listed
    assert "--share:0.000" in listed  # a negative cosine has no bar
    vectors = np.array([[3.0, 4.0], [0.5, 0.0]])
    table = plain(numbers_html([vectors, vectors], pairs, ["one", HOSTILE], ["[CLS]", "mean"]))
    assert "<td>3.0000</td><td>4.0000</td><td>5.000</td>" in table
    assert "<td>0.9100</td><td>−0.0040</td><td>−0.9140</td>" in table
    assert "<img" not in told + listed + table


def test_neighbours_are_ranked_and_what_moves_is_marked() -> None:
    first, second = np.eye(4), np.eye(4)
    first[0] = [1, 0.9, 0.5, 0.1]
    second[0] = [1, 0.2, 0.6, 0.7]
    told, lists = map(plain, neighbours_html([first, second], ["one", "two", "three", HOSTILE], 0, ["[CLS]", "mean"]))
    assert "Nearest with A: <b>2</b> “two”; with B: <b>4</b>" in told
    assert "from 1 with A to 3 with B" in told
    a, b = lists.split("</section>")[:2]
    assert re.findall(r'title="(\d)', a) == ["2", "3", "4"]
    assert re.findall(r'title="(\d)', b) == ["4", "3", "2"]
    assert re.findall(r"<small>(.*?)</small>", a) == ["B 3", "B 2", "B 1"]
    assert a.count('<li class="moved"') == 2
    assert "<img" not in told + lists
    same, _ = neighbours_html([first, first], ["one", "two", "three", "four"], 0, ["[CLS]", "mean"])
    assert "give the same order" in plain(same)
