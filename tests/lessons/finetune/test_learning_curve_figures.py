"""The pictures and sentences of "How much data?" and "Your runs": what is drawn is what was measured, escaped."""

import math
from dataclasses import asdict, replace

import pytest

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.figures.run_table import compared_html, runs_html
from demos.lessons.finetune.learning_curve.figure import NAMES, accuracy_figure
from demos.lessons.finetune.learning_curve.text import made_html, numbers_html, proof_html
from demos.lessons.finetune.runs.figure import overlay_figure
from demos.training.learning_curve import PRETRAINED, SCRATCH, WORDS, Measured, Point
from demos.training.results.history import Record
from demos.training.settings import Settings
from tests.one_line import flat
from tests.plotly_figure import plotly

POINTS = tuple(
    Point(series, size, seed, score + 0.02 * seed)
    for series, scores in ((PRETRAINED, (0.6, 0.9)), (WORDS, (0.3, 0.6)), (SCRATCH, (0.2, 0.3)))
    for size, score in zip((10, 100), scores, strict=True)
    for seed in (0, 1)
)
MEASURED = Measured("<b>data", "BERT & co", (10, 100), 50, 2, 0.25, POINTS, 12.0)
RECORD = Record(
    "id", 1, "2026-01-01T00:00:00+00:00", "BERT", "sentence", "<i>mine", (96, 8, 10), asdict(Settings()), 500, 400,
    "accuracy", {"accuracy": 0.5, "macro F1": 0.4}, 0.9, 12, 12, "", 3.4, 90.0, "CPU", "float32", 1,
    ((0.5, 1.2), (1.0, 0.7)), ((0.0, 1.4, 0.2), (1.0, 0.8, 0.5)), "abc", "1111100000",
)  # fmt: skip


def other(**changes: object) -> Record:
    values = asdict(RECORD) | {"number": 2, "settings": dict(RECORD.settings)} | changes
    return Record(**values)


def test_the_lines_are_means_and_the_bands_go_from_worst_to_best() -> None:
    drawn = {trace.name: trace for trace in plotly(accuracy_figure(MEASURED)).data if trace.name}
    assert drawn[NAMES[PRETRAINED]].y == pytest.approx((0.61, 0.91))
    assert drawn[NAMES[SCRATCH]].x == (10, 100)
    assert drawn["always the most frequent class"].y == (0.25, 0.25)
    band = next(trace for trace in plotly(accuracy_figure(MEASURED)).data if trace.fill)
    assert band.y == pytest.approx((0.62, 0.92, 0.9, 0.6))
    assert band.mode == "lines"  # else Plotly puts a mark on each corner
    assert len({trace.line.dash for trace in drawn.values()}) == 4  # hue is not all that tells them apart
    single = replace(MEASURED, points=tuple(point for point in POINTS if point.seed == 0))
    assert not any(trace.fill for trace in plotly(accuracy_figure(single)).data)
    assert len(plotly(accuracy_figure(replace(MEASURED, points=()))).data) == 1  # guessing is known before any training


def test_what_the_picture_proves_is_computed_and_may_be_the_contrary() -> None:
    told = flat(proof_html(MEASURED))
    assert (
        "The best accuracy of the same architecture from random weights is 31% (with 100 examples, 30% to 32% over 2 "
        "seeds); the pre-trained model reaches this with <b>10</b> examples." in told
    )
    assert (
        "The best accuracy with words only is 61% (with 100 examples, 60% to 62% over 2 seeds); the pre-trained model "
        "reaches this with <b>10</b> examples." in told
    )
    worse = tuple(replace(point, score=0.1) if point.series == PRETRAINED else point for point in POINTS)
    assert "so far, the pre-trained model is below this, at 10%" in flat(proof_html(replace(MEASURED, points=worse)))
    assert "pre-training replaces many labeled examples" in told
    assert "replaces" not in flat(proof_html(replace(MEASURED, points=worse)))
    assert "billion" not in told
    assert "billion" in flat(proof_html(replace(MEASURED, model=CATALOGUE[BUNDLED].title)))
    assert "being computed" in flat(proof_html(replace(MEASURED, points=())))
    table = numbers_html(MEASURED)
    assert "61.0% (60.0% to 62.0%)" in table
    assert "–" in numbers_html(replace(MEASURED, points=POINTS[:2]))
    for told in (table, made_html(MEASURED, own=False), made_html(MEASURED, own=True)):
        assert "<b>data" not in told
        assert "&lt;b&gt;data" in told
    assert "Sample result" in made_html(MEASURED, own=False)
    assert "2 seeds (3 from random weights)" in made_html(MEASURED, own=True)
    assert "3 seeds." in made_html(replace(MEASURED, seeds=3), own=True)
    assert "Sample result" not in made_html(MEASURED, own=True)


def test_whether_random_weights_were_trained_long_enough_is_said() -> None:
    def learned(share: float | None) -> str:
        points = tuple(replace(one, learned=share) if one.series == SCRATCH else one for one in POINTS)
        return flat(proof_html(replace(MEASURED, points=points)))

    assert "accuracy on these training examples was 97%, so they were learned. Better settings" in learned(0.97)
    assert "on these training examples was only 60%: training stopped before they were learned" in learned(0.6)
    assert "3 seeds). Better settings may give a higher accuracy" in learned(None)
    assert "rate 5e-4, about 250 steps, 3 seeds" in learned(None)


def test_the_table_tells_what_was_changed_and_marks_the_two() -> None:
    second = other(settings=asdict(Settings(learning_rate=5e-5, seed=4)))
    table = flat(runs_html([RECORD, second], [2], sample=False))
    assert table.index('data-run="2"') < table.index('data-run="1"')  # newest first
    assert "<b>learning rate 5e-5</b> (was 1e-4), <b>seed 4</b> (was 0)" in table
    assert table.count(" checked") == 1
    assert "<i>mine" not in table
    assert "Two sample runs" in runs_html([RECORD], [], sample=True)
    assert "the same recipe and data" in runs_html([RECORD, other()], [], sample=False)
    assert "stopped by hand" in runs_html([other(stopped="asked")], [], sample=False)


def test_two_runs_are_drawn_by_epoch_one_solid_one_dashed() -> None:
    figure = plotly(overlay_figure([RECORD, other(looks=((0.0, 1.3, None), (2.0, 0.5, 0.9)))]))
    looks = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [(trace.name, trace.line.dash) for trace in looks] == [
        ("run 1", "solid"), ("run 1", "solid"), ("run 2", "dash"), ("run 2", "dash"),
    ]  # fmt: skip
    assert looks[2].x == (0, 2)
    assert looks[3].y == (0.9,)  # a score that is not known is not drawn
    assert plotly(overlay_figure([])).data == ()


def test_whether_a_gap_is_luck_is_said_by_how_they_were_tested() -> None:
    lucky = flat(compared_html([RECORD, other(metrics={"accuracy": 0.7}, right="1111111000")]))
    assert "20.0 points better" in lucky
    assert "2 are correct only in run 2 and 0 only in run 1" in lucky
    assert f"probability of {2 * 0.5**2:.2g}" in lucky
    assert "within chance" in lucky
    rated = [other(metrics={"Spearman's ρ": rho}, right="") for rho in (0.61, 0.58)]
    assert "0.030 worse" in flat(compared_html(rated))  # a correlation has no points
    even = flat(compared_html([RECORD, other(metrics={"accuracy": 0.5}, right="1111100000"[::-1])]))
    assert "no better and no worse" in even
    assert "no evidence that either run is better" in even
    many = "1" * 10 + "0" * 30
    sure = flat(compared_html([replace(RECORD, right=many), other(metrics={"accuracy": 1.0}, right="1" * 40)]))
    assert "more than chance would explain in these test examples" in sure
    apart = flat(compared_html([RECORD, other(test="xyz", metrics={"accuracy": 0.6})]))
    assert "The test examples differ (10 and 10)" in apart
    assert all("uses a single seed" in said for said in (lucky, even, sure, apart))
    assert "includes 0" in apart
    assert "the test data differ" in flat(compared_html([RECORD, other(data="else", metrics={"accuracy": 0.6})]))
    assert "repeat both runs with other seeds" in flat(
        compared_html([other(metrics={"entity F1": 0.5}), other(metrics={"entity F1": 0.6})])
    )
    assert "different tasks" in flat(compared_html([RECORD, other(metrics={"entity F1": 0.6})]))
    alike = flat(compared_html([RECORD, other()]))
    assert "no better" in alike
    assert "classify the same of the 10 test examples" in alike
    assert "Tick two" in flat(compared_html([RECORD]))
    assert not math.isnan(RECORD.headline[1])
