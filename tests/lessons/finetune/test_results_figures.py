"""The part "What it learned" in pictures and words: true to its numbers, and hostile text stays text."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from demos.bert.embeddings.maps import PCA_MAP, Recipe, lay_out
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.figures.figure.figure import figure_json
from demos.figures.maps import MAX_CLASSES
from demos.lessons.finetune.results.figure import FEW, after_map, reliability_figure
from demos.lessons.finetune.results.text import (
    attention_summary,
    calibration_summary,
    decided_html,
    error_name,
    map_heading,
    maps_summary,
    maps_table,
    own_name,
    tokens_table,
    words_html,
)
from demos.training.metrics import calibration
from demos.training.results.evidence import Evidence, Rationale
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


def made_up(encoding: Encoding, left_out: list[float], masked: float = 1.0) -> Evidence:
    """Three classes' evidence: gradient x input 1, 2, … a token, integrated gradients the same with a minus."""
    values = np.arange(1.0, len(encoding) + 1)
    rationales = (
        Rationale((0, 1), 0.25, 0.5, 1, 0), Rationale((1, 2), 0.75, 0.25, 0, 2), Rationale((2, 0), 0.5, 0.5, 0, 0),
        Rationale((), 0.7, 0.1, 0, 1),
    )  # fmt: skip
    return Evidence(encoding, 0, 1, 0.75, values, -values, np.array(left_out), 2.5, 0.5, masked, rationales)


def test_words_have_a_bar_a_method_and_each_method_its_sum(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "unflappable river", "bank")
    values = np.arange(1.0, len(encoding) + 1)
    shown = flat(words_html(made_up(encoding, [0.0, -4.0, 2.0]), ["<b>", HOSTILE, "c"]))
    assert "<script>" not in shown
    head, rest = shown.split("</thead>")
    rows = re.findall(r"<tr( class=\"second\")?><th scope=\"row\">([^<]*)</th>(.*?)</tr>", rest)
    assert [(name, bool(second)) for second, name, _ in rows[:3]] == [
        ("unflappable", False), ("river", False), ("bank", True),
    ]  # fmt: skip
    pieces = encoding.word_index.count(0)
    assert pieces > 1
    first = values[1 : 1 + pieces].sum()
    assert f"<b>+{first:.2f}</b>" in rows[0][2]  # bold: the rationale of gradient x input has word 0
    assert f"<td>−{first:.2f}</td>" in rows[0][2]
    assert rows[0][2].count("minus") == 1
    assert re.search(r"minus\" style=\"[^\"]*width:50.0%\"></span></td>\s*<td>−4.00", rows[1][2])  # the widest
    assert re.search(r"plus\" style=\"[^\"]*width:25.0%\"></span></td>\s*<td><b>\+2.00", rows[2][2])
    special = values[[word is None for word in encoding.word_index]].sum()
    assert f"+{special:.2f}" in rows[3][2]
    assert (
        f'<th scope="row">sum</th><td colspan="2">+{values.sum():.2f}</td><td colspan="2">−{values.sum():.2f}</td>'
        in head
    )
    assert (
        '<td colspan="2">+2.00</td><td colspan="2">+1.50</td>' in head
    )  # 2.5 less 0.5, all zero; less 1.0, all masked
    table = tokens_table(made_up(encoding, [0.0, -4.0, 2.0]))
    assert table.count("−4.0000") == 2  # the fourth token's integrated gradients, and one word left out
    assert error_name(Example("a " * 200, 0), "x", "y", math.pi / 4).startswith("79% y, true class x: “a a")
    assert own_name(" a ", "b") == "At the top of the page: “a / b”"


def test_where_the_methods_disagree_and_what_their_top_words_do(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "stone river bank")
    found = made_up(encoding, [1.0, 0.0, -3.0])
    told = flat(decided_html(found, [HOSTILE, "b", "c"], labelled=True)).replace("> <", "><")
    assert "<script>" not in told
    assert "75%. True class: <b>b</b>" in told
    assert "<q>bank</q> (gradient × input), <q>stone</q> (integrated gradients), <q>stone</q> (leave-one-out)" in told
    assert "most about <q>stone</q>, with ranks 3, 1 and 1 of 3." in told
    assert '<th scope="row">gradient × input, integrated gradients</th><td>−1.00</td><td>−1.00</td>' in told
    assert '<th scope="row">integrated gradients, leave-one-out</th><td>+1.00</td><td>+1.00</td>' in told
    assert "gradient × input</th><td>0.75 − 0.25 = <b>+0.50</b><span>class: b</span></td>" in told
    assert "<td>0.75 − 0.50 = <b>+0.25</b></td>" in told  # the same class as for the whole input: not named
    assert "random words, 20 draws</th><td>0.75 − 0.70 = <b>+0.05</b></td>" in told
    values = np.arange(1.0, 6)
    alike = replace(made_up(encoding, [1.0, 2.0, 3.0], masked=2.5 - values.sum()), integrated=values)
    told = flat(decided_html(alike, ["a", "b", "c"], labelled=False))
    assert "Second most probable: <b>b</b>. All three methods rank <q>bank</q> first.</p>" in told
    assert "here the error is 0.0000" in told
    none = replace(alike, gradient=0 * values, integrated=0 * values, left_out=np.zeros(3))
    assert "Spearman" not in decided_html(none, ["a", "b", "c"], labelled=False)  # no order
    assert words_html(none, ["a", "b", "c"]).count("0.00") >= 9  # no sign, no nan


def test_heads_in_words() -> None:
    heads = np.array([[0.0, 0.02], [0.1, 0.5]])
    told = flat(attention_summary(heads, 1, 1, HOSTILE))
    assert "Layer 2, head 2 changed most:</b> 50%" in told
    assert "is 30.0% for the heads of layer 2 and 1.0% for those of layer 1" in told
    assert "<script>" not in told
    assert "No head changed" in attention_summary(0 * heads, 0, 0, "a")
