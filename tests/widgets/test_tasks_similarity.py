"""Similarity on the page: the outcome's own numbers, the scatter and the gauge in their places, texts escaped."""

import math
import re

import numpy as np
import pytest

from demos.bert.embeddings.agreement import Pair, correlation
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.tasks.similarity.data import SimilarityDataset
from demos.training.tasks.similarity.task import Scored, Similarity, SimilarityResult
from demos.widgets.tasks.similarity.view import SimilarityView
from tests.one_line import flat
from tests.plotly_figure import plotly

VIEW = SimilarityView()
NASTY = "<img src=x onerror=alert(1)>${alert(1)}"
GOLD, PREDICTED = (0.0, 3.8, 4.5, 2.4), (0.7, 3.5, 5.6, 2.6)
RANGE = (1.0, 2.5, 4.5)


@pytest.fixture
def result() -> SimilarityResult:
    answers = tuple(Scored(f"{NASTY} {k}", NASTY, g, p) for k, (g, p) in enumerate(zip(GOLD, PREDICTED, strict=True)))
    return SimilarityResult(
        loss=0.455, steps=3, seconds=1.0, examples_per_second=5.0, folder="", loss_before=2.0, mean_loss=3.012,
        agreement=correlation(np.array(PREDICTED), np.array(GOLD)), trained_range=RANGE,
        mistakes=tuple(sorted(answers, key=lambda one: -abs(one.error))), answers=answers,
    )  # fmt: skip


def test_the_scatter_has_every_pair_at_its_two_scores(result: SimilarityResult) -> None:
    diagonal, mean, pairs = plotly(VIEW.figure(result)).data
    assert list(pairs.x) == list(GOLD)
    assert list(pairs.y) == list(PREDICTED)
    assert (tuple(diagonal.x), tuple(diagonal.y)) == ((0, 5), (0, 5))
    assert tuple(mean.y) == (2.5, 2.5)
    low, high = plotly(VIEW.figure(result)).layout.yaxis.range
    assert low <= 0
    assert high >= 5.6  # a prediction beyond the scale is on the picture
    assert "gold 3.8, predicted 3.50" in pairs.customdata[1]
    assert "<img" not in pairs.customdata[1]


def test_scores_errors_and_tables_are_the_results(result: SimilarityResult) -> None:
    shown = flat(VIEW.scores(result, True))
    assert "<b>1.000</b>Spearman’s ρ" in shown
    assert f"<b>{result.agreement.pearson:.3f}</b>Pearson’s r" in shown
    assert "<b>0.455</b>mean squared error" in shown
    assert "<b>3.012</b>mean squared error of always predicting the mean score, 2.50" in shown
    assert "4 test pairs" in shown
    assert "stopped early" in shown
    errors = flat(VIEW.mistakes(result))
    assert re.findall(r"<td>([+−][\d.]+)</td>", errors) == ["+1.10", "+0.70", "−0.30", "+0.20"]
    assert "<img" not in errors
    numbers = flat(VIEW.numbers(result, [[0, None, 2.0, 0.1]], 2))
    rows = r">about (\d)</th><td>(\d)</td><td>([\d.]+)</td><td>([\d.]+)</td>"
    assert re.findall(rows, numbers.replace("> <", "><")) == [
        ("0", "1", "0.70", "0.70"), ("2", "1", "2.60", "0.20"), ("4", "1", "3.50", "0.30"), ("5", "1", "5.60", "1.10"),
    ]  # fmt: skip


def test_a_correlation_that_does_not_exist_says_why(result: SimilarityResult) -> None:
    flat_result = SimilarityResult(**{**vars(result), "agreement": correlation(np.array([2.5] * 4), np.array(GOLD))})
    assert math.isnan(flat_result.agreement.spearman)
    shown = flat(VIEW.scores(flat_result, False))
    assert "<b>no ρ: all predictions are equal</b>Spearman’s ρ<" in shown.replace("ρ </li>", "ρ</li>")
    assert "nan" not in shown


@pytest.mark.parametrize(("score", "at"), [(3.0, "60.0"), (-0.4, "0.0"), (5.6, "100.0")])
def test_the_gauge_points_to_the_number(score: float, at: str) -> None:
    shown = flat(VIEW.answer(Similarity(trained_range=RANGE), (score,), [NASTY, "b"]))
    assert f'class="gauge-needle" style="left:{at}%"><b>{score:.2f}</b>' in shown
    assert 'class="gauge-trained" style="left:20.0%;width:70.0%"' in shown
    assert 'class="gauge-mean" style="left:50.0%"' in shown
    assert ("can lie outside the scale" in shown) == (not 0 <= score <= 5)
    assert f'aria-label="{score:.2f} on a scale from 0 to 5; training scores from 1 to 4.5"' in shown
    assert "<img" not in shown


def test_a_pairs_model_needs_both_sentences() -> None:
    with pytest.raises(UserError, match="Write both sentences"):
        VIEW.answer(Similarity(trained_range=RANGE), (3.0,), ["a", " "])


MARKS = tuple(range(1, 11))


def test_single_texts_are_called_texts_on_their_own_scale() -> None:
    answers = tuple(Scored(f"{NASTY} {k}", "", g, p) for k, (g, p) in enumerate([(1, 2.4), (7.5, 6.0), (10, 10.6)]))
    result = SimilarityResult(
        loss=1.4, steps=3, seconds=1.0, examples_per_second=5.0, folder="", loss_before=2.0, mean_loss=3.0,
        agreement=correlation(np.array([2.4, 6.0, 10.6]), np.array([1, 7.5, 10])), trained_range=(1.0, 6.0, 9.0),
        mistakes=answers, answers=answers, points=MARKS,
    )  # fmt: skip
    diagonal, _, texts = plotly(VIEW.figure(result)).data
    assert (tuple(diagonal.x), texts.name) == ((1, 10), "test text")
    assert list(plotly(VIEW.figure(result)).layout.xaxis.tickvals) == list(MARKS)
    assert texts.customdata[0].count("<br>") == 1  # the text and its scores
    shown = flat(VIEW.scores(result, False) + VIEW.mistakes(result) + VIEW.numbers(result, [[0, None, 2.0, 0.1]], 2))
    assert "pair" not in shown
    assert "3 test texts that were not used" in shown
    assert "largest errors on 3 test texts" in shown
    rows = r">about (\d+)</th><td>(\d)</td><td>([\d.]+)</td>"
    assert re.findall(rows, shown.replace("> <", "><")) == [
        ("1", "1", "2.40"), ("8", "1", "6.00"), ("10", "1", "10.60"),
    ]  # fmt: skip


@pytest.mark.parametrize("second", ["", "b"])
def test_the_gauge_of_a_single_text_has_its_own_scale(second: str) -> None:
    task = Similarity(trained_range=(1.0, 5.5, 10.0), points=MARKS, single=True)
    shown = flat(VIEW.answer(task, (4.6,), [NASTY, second]))
    assert 'class="gauge-needle" style="left:40.0%"><b>4.60</b>' in shown
    assert "on the scale from 1 to 10" in shown
    assert "nothing in common" not in shown
    assert ("the second box has no effect" in shown) == bool(second)
    assert "<img" not in shown


def test_single_texts_are_shown_as_one_sequence(tiny: LoadedModel) -> None:
    texts = (Pair("It rains.", "", 9.0), Pair(NASTY, "", 2.0))
    shown = flat(VIEW.data(SimilarityDataset("Mine", texts, texts[:1], texts[1:]), tiny.tokenizer))
    assert "2 texts for training, 1 for validation" in shown
    assert "One example (score 2) as input for BERT: one sequence, and one vector for it." in shown
    assert "pair" not in shown
    assert "segment" not in shown
    assert re.findall(r'title="about (\d+)"', shown) == [str(k) for k in range(9, 1, -1)]
    assert "<img" not in shown


def test_the_data_is_told_with_a_pair_as_bert_reads_it(tiny: LoadedModel) -> None:
    pair = Pair("It rains.", NASTY, 3.8)
    data = SimilarityDataset("Mine", (pair, Pair("a", "b", 0.4)), (pair,), (pair,), notes=(NASTY,))
    shown = flat(VIEW.data(data, tiny.tokenizer))
    assert "2 pairs for training, 1 for validation" in shown
    assert "One example (score 3.8)" in shown
    assert "rains" in shown
    assert "With 2 pairs, predictions stay close to the mean" in shown
    assert "<img" not in shown
