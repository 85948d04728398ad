"""What the lesson shows is what the translators computed."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.translation.bundled import bundled, read_sentence, right
from demos.bert.translation.decoding import decoder_step, steps, translate
from demos.bert.translation.grammar import example, held_out
from demos.bert.translation.tasks import TASKS
from demos.bert.translation.timing import Measured, Times
from demos.bert.translation.vocabulary import padded, shifted
from demos.bert.translation.waiting import Waiting, waiting
from demos.errors import UserError
from demos.lessons.translation.decoding.part import Decoding, lost
from demos.lessons.translation.figure import alignment_figure, length_figure, shares_by_length
from demos.lessons.translation.training.controller import MOST_RUNS, Ran, Trainer, compared, idle, waits
from demos.lessons.translation.training.figure import times_figure, times_summary
from demos.lessons.translation.training.part import Training, plan_of
from demos.page.questions import questions
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.service.training_service import TrainingService
from demos.training.translation.training import Plan
from tests.one_line import one_line
from tests.plotly_figure import plotly
from tests.shown_values import shown_values

TYPED = " ".join(example().source)
EMPTY = Sentence("", "", "")
SERVICES = Services(ModelStore(), BUNDLED)


def drawn(sentence: Sentence, typed: str | None, word: int, attention: str) -> dict[str, Any]:
    return shown_values(Decoding().shown(SERVICES, sentence, english=typed, word=word, attention=attention))


def test_the_picture_holds_the_weights() -> None:
    pair = example()
    written, decoded = steps(bundled("additive"), pair.source)
    plot = drawn(EMPTY, TYPED, 5, "additive")["plot"]
    np.testing.assert_allclose(np.array(plot.data[0].z, float), decoded.weights[0].numpy(), atol=5e-5)
    assert len(plot.data[0].y) == len(written)
    rings = list(zip(plot.data[1].y, plot.data[1].x, strict=True))
    assert rings[4] == ("5 zone", "7 area")
    assert (plot.layout.shapes[0].y0, plot.layout.shapes[0].y1) == (3.5, 4.5)


def test_one_step_and_both_translations_are_told() -> None:
    shown = drawn(EMPTY, TYPED, 5, "additive")
    assert "the decoder writes “zone”" in shown["step"]
    assert f'<dd lang="fr">{escape(" ".join(example().target))}</dd>' in shown["both"]
    assert shown["word"] == {"maximum": len(example().target) + 1, "value": 5}
    assert "the decoder writes “&lt;/s&gt;”" in drawn(EMPTY, TYPED, len(example().target) + 1, "additive")["step"]
    assert drawn(EMPTY, TYPED, 99, "additive")["word"]["value"] == len(example().target)  # a word, not the end


def test_a_wrong_word_is_marked() -> None:
    wrong = next(pair for pair, is_right in zip(held_out(), right("none"), strict=True) if not is_right)
    assert "<mark>" in drawn(EMPTY, " ".join(wrong.source), 1, "none")["both"]
    sentence = read_sentence(lost())
    (pair,) = (pair for pair in held_out() if pair.source == sentence)
    with_attention, without = (translate(bundled(score), [sentence])[0] for score in ("additive", "none"))
    assert with_attention == pair.target != without


def test_without_attention_there_is_one_vector_and_no_weights() -> None:
    pair = example()
    written, decoded = steps(bundled("none"), pair.source)
    shown = drawn(EMPTY, TYPED, 5, "none")
    assert "no scores and no weights" in shown["step"]
    assert "Attention weights" not in shown["numbers"]
    bars = next(trace for trace in shown["plot"].data if trace.type == "bar")
    shares = decoded.logits[0].softmax(-1).max(-1).values
    np.testing.assert_allclose(bars.x, shares, atol=5e-5)
    assert list(bars.customdata)[:-1] == list(written[:-1])
    lines = [trace for trace in shown["plot"].data if trace.type == "scatter" and trace.mode == "lines"]
    assert len(lines) == len(pair.source) + len(written)
    (chosen,) = (line for line in lines if line.line.width > 1)
    assert chosen.y[1] == bars.y[4]


@pytest.mark.parametrize("typed", ["", "<img src=x onerror=alert(1)>", "😀", "x" * 10_000, None])
def test_what_can_not_be_read_is_one_sentence(typed: str | None) -> None:
    with pytest.raises(UserError) as fault:
        drawn(EMPTY, typed, 1, "additive")
    assert len(str(fault.value)) < 250


@pytest.mark.parametrize("score", ["additive", "none"])
def test_the_program_prints_the_pages_numbers(score: str) -> None:
    printed, source = StringIO(), example().source
    with redirect_stdout(printed):
        exec(drawn(EMPTY, TYPED, 5, score)["program"], {})
    lines = [line.split() for line in printed.getvalue().splitlines()]
    written, decoded = steps(bundled(score), source)
    rows, inside = [line for line in lines if line[0].isdigit()], [line for line in lines if not line[0].isdigit()]
    assert tuple(row[1] for row in rows) == written
    shares = decoded.logits[0].softmax(-1).max(-1).values
    np.testing.assert_allclose([float(row[2]) for row in rows], shares, atol=1e-3)
    if score == "additive":
        np.testing.assert_allclose([[float(one) for one in row[3:]] for row in rows], decoded.weights[0], atol=1e-3)
    else:
        assert all(len(row) == 3 for row in rows)
    step = decoder_step(bundled(score), source, written, decoded, 4)
    vectors = {line[0]: [float(number) for number in line[2:-1]] for line in inside if line[1] == "="}
    for name, vector in (("s", step.state), ("c", step.context), ("h", step.combined)):
        assert vectors[name] == pytest.approx(vector, abs=0.006)
    likeliest = [line for line in inside if line[1] != "="]
    for (word, logit, share), (shown, *numbers) in zip(step.likeliest, likeliest, strict=True):
        assert shown == word
        assert [float(one) for one in numbers] == pytest.approx([logit, share], abs=0.006)


def test_shares_by_length_are_counted() -> None:
    assert shares_by_length([3, 6, 7, 20, 21], [True, False, True, False, False]) == [
        ("1 to 6", 2, 0.5), ("7 to 9", 1, 1.0), ("13 or more", 2, 0.0),
    ]  # fmt: skip
    figure = plotly(length_figure([3, 20], {"one": (True, False), "two": (True, True)}))
    assert [list(bar.x) for bar in figure.data] == [[1.0, 0.0], [1.0, 1.0]]


def test_hostile_words_stay_text_in_the_picture() -> None:
    figure = plotly(alignment_figure(["<b>a</b>"], ["<i>"], np.ones((1, 1))))
    assert figure.layout.xaxis.ticktext == ("&lt;b&gt;a&lt;/b&gt;",)
    assert figure.layout.yaxis.ticktext == ("&lt;i&gt;",)


@pytest.mark.parametrize("task", TASKS)
def test_before_a_run_nothing_is_learned_and_after_some_they_stand_side_by_side(task: str) -> None:
    opening = shown_values(idle(task))
    weights = np.array(opening["plot"].data[0].z, float)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)
    assert weights.max() < 0.3
    assert json.loads(opening["curve"])["done"]
    ran = tuple(Ran(task, f"run {at}", 10, 20, 3.0, tuple(right("none"))) for at in range(MOST_RUNS))
    told = compared(ran)
    assert f"{sum(right('none'))} of {len(held_out())}" in told["runs"]
    assert told["ran"] == ran


def test_the_curves_of_the_runs_are_their_looks() -> None:
    looks = ((0, 0.0), (25, 0.5))
    ran = (
        Ran("french", "one", 10, 25, 3.0, (True,) * len(held_out()), looks),
        Ran("french", "two", 10, 25, 5.0, (False,) * len(held_out())),
    )
    told = compared(ran)
    (one, two) = plotly(told["curves"]).data
    assert list(zip(one.x, one.y, strict=True)) == list(looks)
    assert (one.name, two.name, len(two.x)) == ("one", "two", 0)
    assert "<td>120</td>" in told["runs"]  # milliseconds a step


def test_what_must_wait_is_counted() -> None:
    """Against the calls of the Transformer's layers, and a GRU's one step a word."""
    trained, pair, calls = bundled("transformer"), example(), []
    hooks = [
        layer.register_forward_hook(lambda *_: calls.append(1))
        for stack in (trained.model.encoder, trained.model.decoder)
        for layer in stack
    ]
    try:
        given, _ = shifted([pair.target], trained.target)
        trained.model(padded([pair.source], trained.source), given)
        in_training = len(calls)
        calls.clear()
        translate(trained, [pair.source])
    finally:
        for hook in hooks:
            hook.remove()
    n, m = len(pair.source), len(pair.target) + 1
    assert waiting("transformer", n, m) == Waiting(in_training, 1, len(calls))
    assert waiting("additive", n, m) == Waiting(n + m, n - 1, n + m)
    assert f"<td>{n + m}</td>" in waits("french")
    assert "10 input words, 11 output tokens" in waits("dates")


@pytest.mark.slow
def test_a_run_leaves_all_its_looks_and_runs_of_another_task_go() -> None:
    trainer = Trainer(SimpleNamespace(trainings=TrainingService()))  # type: ignore[arg-type]
    french = Ran("french", "GRU, attention", 10, 25, 3.0, (True,) * len(held_out()))
    *_, last = trainer.train(trainer.trainings.runs.new(), Plan("additive", 75, 1, "dates"), (french,))
    (line,) = plotly(last["curves"]).data
    assert line.x == (0, 25, 50, 75)
    assert line.y[0] == 0 < line.y[-1] <= 1
    assert [one.task for one in last["ran"]] == ["dates"]


@pytest.mark.parametrize(
    ("steps", "seed", "plan"),
    [(None, None, Plan("dot", 500, 0)), (10**9, -5, Plan("dot", 1_500, 0)), (0, 10**12, Plan("dot", 25, 2**31 - 1))],
)
def test_settings_out_of_bounds_are_brought_into_them(steps: int | None, seed: int | None, plan: Plan) -> None:
    said = {"translator": "dot", "translator_steps": steps, "translator_seed": seed, "translated": "<b>"}
    assert plan_of(Training().read(On(SERVICES, EMPTY), said)) == plan


def test_the_part_before_a_run_is_drawn_and_while_there_is_one_what_it_does_not_draw() -> None:
    before = shown_values(Training().shown(SERVICES, EMPTY, translated="dates"))
    assert set(before) == {*idle("dates"), "program", "waits"}
    assert before["waits"] == waits("dates")
    assert "10 input words" in before["waits"]
    ran = (Ran("french", "GRU, attention", 10, 25, 3.0, (True,)),)
    for said in ({"run": "under way"}, {"ran": ran}):
        assert set(Training().shown(SERVICES, EMPTY, **said)) == {"program", "waits"}


def test_the_questions_answers_are_counted(store: ModelStore) -> None:
    services = Services(store, BUNDLED)
    decoding, training = (questions()["translation", part] for part in ("decoding", "training"))
    assert decoding.compute is not None
    assert training.compute is not None
    answer = decoding.compute(services, EMPTY, TYPED)
    assert answer.keys == {"crossed"}
    assert answer.facts["words"] == len(example().target)
    found = set()
    for pair in held_out()[:10]:
        answer = decoding.compute(services, EMPTY, " ".join(pair.source))
        _, decoded = steps(bundled("additive"), pair.source)
        back = int((np.diff(np.asarray(decoded.weights[0]).argmax(-1)) < 0).sum())
        assert answer.facts["back"] == back
        assert answer.keys == ({"crossed"} if back else {"diagonal"})
        found |= answer.keys
    assert found == {"crossed", "diagonal"}  # both happen
    facts = training.compute(services, EMPTY).facts
    long = [is_right for pair, is_right in zip(held_out(), right("none"), strict=True) if len(pair.source) > 12]
    assert facts["without_long"] == pytest.approx(sum(long) / len(long))
    assert facts["without_long"] < facts["without_short"]


def test_the_times_are_told_as_measured() -> None:
    lengths = (8, 16, 64)
    gru = Times({n: n / 1000 for n in lengths}, {n: n / 500 for n in lengths})
    transformer = Times(dict.fromkeys(lengths, 0.02), {n: n * n / 1e5 for n in lengths})
    measured = Measured({"GRU": gru, "Transformer": transformer}, 1)
    told = one_line(times_summary(measured))
    assert "on 1 processor core." in told
    assert "time for 64 words ÷ time for 8 words" in told
    cells = [re.findall(r"<td>(.*?)</td>", one) for one in told.split("<tr>")[2:]]
    assert cells == [
        ["8", "16", "64", "8.0"], ["16", "32", "128", "8.0"], ["20", "20", "20", "1.0"], ["0.64", "2.56", "41", "64.0"],
    ]  # fmt: skip
    lines = {line.name: (list(line.x), list(line.y)) for line in plotly(times_figure(measured)).data}
    assert lines["GRU, writing"] == ([8, 16, 64], pytest.approx([16, 32, 128]))
    assert len(lines) == 4
