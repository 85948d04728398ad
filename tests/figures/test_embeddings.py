"""The cosine heatmap and the map hold the numbers they were given, and no markup of the learner's."""

from __future__ import annotations

import numpy as np
import pytest

from demos.bert.embeddings import Disagreement, Projection
from demos.bert.encoding import encode
from demos.bert.models import LoadedModel
from demos.bert.pooling import Choice
from demos.figures import embeddings
from demos.figures.embeddings import cosine_heatmap, sentence_map, short
from demos.figures.embeddings_told import compared_html, numbers_html, pooled_tokens, sentence_html, shape_html
from demos.figures.palette import PALETTE

HOSTILE = "<img src=x onerror=alert(1)> </script>"


def cosines(m: int) -> np.ndarray:
    rows = np.random.default_rng(0).normal(size=(m, 4))
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units @ units.T


def test_heatmap_holds_the_matrix_on_one_signed_scale() -> None:
    matrix = cosines(3)
    figure = cosine_heatmap(matrix, ["one", "two", HOSTILE], Disagreement(0, 2, 0.1, 0.9), from_bar=1)
    heat = figure.data[0]
    np.testing.assert_allclose(heat.z, matrix, atol=1e-4)
    assert (heat.zmin, heat.zmax) == (-1, 1)
    assert [stop[1] for stop in heat.colorscale] == PALETTE["signed"]
    assert list(heat.customdata[1][0]) == ["two", "one"]
    assert f">{matrix[0, 1]:.2f}<" in heat.text[0][1]
    framed = {(shape.x0 + 0.5, shape.y0 + 0.5) for shape in figure.layout.shapes}
    assert framed == {(0, 2), (2, 0)}
    ticks = figure.layout.yaxis.ticktext
    assert ticks[0].startswith("◆ 1 ")
    assert ticks[1].startswith("2 ")
    assert "<img" not in figure.to_json().replace("\\u003c", "<")


def test_large_heatmaps_carry_no_text_and_stay_small() -> None:
    figure = cosine_heatmap(cosines(64), ["a rather long sentence " * 4] * 64)
    assert figure.data[0].text is None
    assert figure.data[0].customdata is None
    assert len(figure.to_json()) < 120_000
    assert list(figure.layout.xaxis.ticktext)[:3] == ["1", "5", "10"]


def test_a_crowded_map_shows_numbers_only() -> None:
    points = np.random.default_rng(3).normal(size=(20, 2))
    scatter = sentence_map(Projection(points, np.array([0.5, 0.2])), [f"sentence {i}" for i in range(20)]).data[0]
    assert list(scatter.text) == [str(i + 1) for i in range(20)]
    assert scatter.customdata[7] == "sentence 7"


@pytest.mark.parametrize("value", np.linspace(-1, 1, 41))
def test_cell_numbers_can_be_read_on_their_colour(value: float) -> None:
    from plotly.colors import sample_colorscale, unlabel_rgb

    def luminance(rgb: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    cell = luminance(unlabel_rgb(sample_colorscale(embeddings.SIGNED, [(value + 1) / 2])[0]))
    ink = 1.0 if embeddings._ink_on(value) == "#ffffff" else 0.0
    assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) >= 4.5  # WCAG 2 AA


def test_no_cosine_reads_minus_zero() -> None:
    assert [embeddings.rounded(value) for value in (-0.004, 0.004, -0.006)] == ["0.00", "0.00", "-0.01"]


def test_map_shows_every_point_and_the_variance() -> None:
    points = np.random.default_rng(1).normal(size=(4, 2))
    projection = Projection(points, np.array([0.6, 0.25]))
    figure = sentence_map(projection, ["one", "two", HOSTILE, "four"], from_bar=1)
    scatter = figure.data[0]
    np.testing.assert_allclose(np.c_[scatter.x, scatter.y], points, atol=1e-4)
    assert scatter.marker.symbol == ("diamond", "circle", "circle", "circle")
    assert "60%" in figure.layout.xaxis.title.text
    assert figure.layout.yaxis.scaleanchor == "x"
    assert "<img" not in figure.to_json().replace("\\u003c", "<")


def test_map_in_three_dimensions() -> None:
    projection = Projection(np.eye(3), np.array([0.5, 0.3, 0.2]))
    figure = sentence_map(projection, ["one", "two", "three"])
    assert figure.data[0].type == "scatter3d"
    assert list(figure.data[0].text) == ["1 one", "2 two", "3 three"]
    assert figure.layout.scene.aspectmode == "data"
    assert "20%" in figure.layout.scene.zaxis.title.text


def test_labels_of_near_points_take_different_sides() -> None:
    points = np.array([[0.0, 0.0], [0.01, 0.0], [10.0, 0.0], [5.0, 4.0]])
    sides = embeddings._label_sides(points, [20, 20, 20, 20])
    assert sides[0] != sides[1]
    assert sides[2] != "middle right"  # would be cut off by the edge


def test_short_cuts_at_a_word() -> None:
    assert short("The bank was  muddy\nafter the flood.", 16) == "The bank was…"
    assert short("Antidisestablishmentarianism", 10) == "Antidises…"
    assert short("short", 10) == "short"


def test_pooled_tokens_say_what_is_left_out(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, f"Rain {HOSTILE}")
    weights = np.eye(1, len(encoding))[0]
    told = pooled_tokens(encoding, weights)
    assert told.count("<li") == len(encoding)
    assert told.count('class="out"') == len(encoding) - 1
    assert "100.0% of the vector" in told
    assert "<img" not in told
    assert "&lt;" in told


def test_thirteen_words_of_twenty_tokens_as_in_the_lecture(bundled: LoadedModel) -> None:
    text = "One two three four five six seven eight nine ten eleven tokenization embeddings."
    encoding = encode(bundled.tokenizer, text)
    told = shape_html("A: mean", encoding, 768, Choice("mean", 12), np.full(len(encoding), 1 / len(encoding)))
    assert "<b>20 tokens × 768 = 15,360 numbers</b> → <b>768 numbers</b>" in told
    assert "all 20 tokens" in told
    assert "13 words, <b>20 tokens</b>" in sentence_html(encoding)
    assert "more did not fit" in sentence_html(encode(bundled.tokenizer, "word " * 600))


def test_the_comparison_in_words_and_tables(bundled: LoadedModel) -> None:
    pairs = [Disagreement(0, 1, 0.91, -0.004)]
    told = compared_html(pairs, ["one", HOSTILE], ["[CLS]", "mean"], bundled.spec)
    assert "cosine <b>0.91</b> by A ([CLS]), <b>0.00</b> by B (mean)" in told
    assert "tuned on sentence pairs with mean pooling" in told
    vectors = np.array([[3.0, 4.0], [0.5, 0.0]])
    table = numbers_html([vectors, vectors], pairs, ["one", HOSTILE], ["[CLS]", "mean"])
    assert "<td>3.0000</td><td>4.0000</td><td>5.000</td>" in table
    assert "<td>0.9100</td><td>-0.0040</td><td>-0.9140</td>" in table
    assert "<img" not in told + table
