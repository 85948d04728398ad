"""The part "What it learned" in pictures and words: true to its numbers, and hostile text stays text."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from demos.bert.embeddings.maps import PCA_MAP, Recipe, lay_out
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.figures.figure.figure import figure_json
from demos.figures.maps import MAX_CLASSES
from demos.lessons.finetune.results.figure import FEW, after_map, reliability_figure
from demos.lessons.finetune.results.text import (
    attention_summary,
    calibration_summary,
    error_name,
    evidence_summary,
    map_heading,
    maps_summary,
    maps_table,
    tokens_html,
    tokens_table,
)
from demos.training.metrics import calibration
from demos.training.tasks.classification.data import Example
from tests.one_line import flat
from tests.plotly_figure import plotly

HOSTILE = "<script>alert(1)</script> ${value} 😀"


def vectors(spread: float) -> np.ndarray:
    """Two classes of six points around two centres, `spread` of noise."""
    centres = np.repeat(np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]), 6, axis=0)
    return centres + spread * np.random.default_rng(0).standard_normal((12, 4))


def test_the_number_above_a_map_and_what_it_says() -> None:
    classes = np.repeat([0, 1], 6)
    apart, mixed = lay_out(vectors(0.01), Recipe(PCA_MAP)), lay_out(vectors(30.0), Recipe(PCA_MAP))
    heading = flat(map_heading(HOSTILE, apart, classes, 5 / 11))
    assert "<b>50%</b>" in heading  # of ten nearest among twelve, five can be of the class
    assert "by chance: 45%" in heading
    assert "<script>" not in heading
    assert "are better separated" in flat(maps_summary(mixed, apart, classes))
    assert "less separated" in maps_summary(apart, mixed, classes)
    assert "hardly changed" in maps_summary(apart, apart, classes)
    table = maps_table([mixed, apart], classes, [HOSTILE, "b"])
    assert table.count("50.0%") == 2
    assert "<script>" not in table


def test_a_map_of_one_and_the_same_sentence_and_of_too_many_classes() -> None:
    count = MAX_CLASSES + 3
    examples = [Example(HOSTILE, number) for number in range(count)]
    layout = lay_out(np.ones((count, 4)), Recipe(PCA_MAP))
    picture = after_map(layout, examples, [f"class {number}" for number in range(count)], "look")
    figure = plotly(picture)
    assert len(figure.data) == MAX_CLASSES + 1  # the last three share one grey
    assert len(figure.data[-1].x) == 3
    assert figure.layout.dragmode is False  # a finger over it scrolls the page
    drawn = figure_json(picture)
    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn


def test_bars_are_the_calibration_and_pale_where_few_answers_are() -> None:
    sure = [0.95] * FEW + [0.55] * 3
    found = calibration(sure, [True] * (FEW - 5) + [False] * 8)
    figure = plotly(reliability_figure(found))
    assert list(figure.data[0].y) == pytest.approx([0, (FEW - 5) / FEW])
    assert list(figure.data[-1].text) == ["3", str(FEW)]
    pale, full = figure.data[0].marker.opacity
    assert pale < full
    told = flat(calibration_summary(found, "answers", 23, 40))
    assert f"<b>{found.error:.3f}</b>" in told
    assert "overconfident" in told
    assert "1 of the 2 bars" in told
    assert "Only the first 23 of the 40 test examples are kept" in told
    assert ">underconfident<" in calibration_summary(calibration([0.6] * 9, [True] * 9), "answers", 9, 9)
    # of 9 answers at 0.6 a perfectly calibrated model gets 5.4 right, give or take 1.5: 7 of 9 say nothing
    assert "neither over- nor underconfident" in calibration_summary(
        calibration([0.6] * 9, [True] * 7 + [False] * 2), "answers", 9, 9
    )


def test_what_chance_alone_shows_is_what_perfectly_calibrated_models_show() -> None:
    rng = np.random.default_rng(1)
    sure = rng.uniform(0.5, 1, 144)
    errors = [calibration(sure.tolist(), (rng.random(144) < sure).tolist()).error for _ in range(400)]
    told = flat(calibration_summary(calibration(sure.tolist(), (rng.random(144) < sure).tolist()), "answers", 144, 144))
    said = float(re.findall(r"an error of about\s+([\d.]+)\.<", told)[0])
    assert said == pytest.approx(np.mean(errors), rel=0.15)


def test_tokens_are_shaded_by_their_sign_and_escaped(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, HOSTILE)
    values = np.linspace(-1, 1, len(encoding))
    shown = tokens_html(values, encoding, HOSTILE, "b")
    assert "<script>" not in shown
    shades = re.findall(r"results-token swatch\" style=\"--light-shade:rgb\((\d+), (\d+), (\d+)\)", shown)
    assert len(shades) == len(encoding)
    red, blue = (tuple(map(int, shade)) for shade in (shades[0], shades[-1]))
    assert red[0] > red[2]  # brown: for the truth
    assert blue[2] > blue[0]
    assert tokens_html(np.zeros(len(encoding)), encoding, "a", "b").count("0.00") == len(encoding)  # no sign, no nan
    told = flat(evidence_summary(values, encoding, 2.5, 0.5, "<b>", "b"))
    assert "so the words account for +2.00" in told
    assert "the tokens’ numbers is 0.00" in told  # the values are as far below zero as above it
    assert "<script>" not in told + tokens_table(values, encoding)
    assert error_name(Example("a " * 200, 0), "x", "y", math.pi / 4).startswith("79% y, true class x: “a a")


def test_heads_in_words() -> None:
    heads = np.array([[0.0, 0.02], [0.1, 0.5]])
    told = flat(attention_summary(heads, 1, 1, HOSTILE))
    assert "Layer 2, head 2 changed most:</b> 50%" in told
    assert "is 30.0% for the heads of layer 2 and 1.0% for those of layer 1" in told
    assert "<script>" not in told
    assert "No head changed" in attention_summary(0 * heads, 0, 0, "a")
