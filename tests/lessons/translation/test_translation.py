"""What the lesson shows is what the translators computed."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from markupsafe import escape

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.translation.bundled import bundled, right
from demos.bert.translation.decoding import steps, translate
from demos.bert.translation.grammar import example, held_out
from demos.bert.translation.tasks import TASKS
from demos.bert.translation.vocabulary import padded, shifted
from demos.bert.translation.waiting import Waiting, waiting
from demos.errors import UserError
from demos.lessons.translation.decoding.part import drawn
from demos.lessons.translation.decoding.program import decoding_code
from demos.lessons.translation.figure import alignment_figure, length_figure, shares_by_length
from demos.lessons.translation.training.controller import MOST_RUNS, Ran, Trainer, compared, idle, waits
from demos.lessons.translation.training.part import read_plan
from demos.page.questions import questions
from demos.page.services import Sentence, Services
from demos.training.service.training_service import TrainingService
from demos.training.translation.training import Plan

TYPED = " ".join(example().source)
EMPTY = Sentence("", "", "")


def test_the_picture_holds_the_weights() -> None:
    pair = example()
    written, decoded = steps(bundled("additive"), pair.source)
    plot = drawn(EMPTY, TYPED, 5)["plot"]
    np.testing.assert_allclose(np.array(plot.data[0].z, float), decoded.weights[0].numpy(), atol=5e-5)
    assert len(plot.data[0].y) == len(written)
    rings = list(zip(plot.data[1].y, plot.data[1].x, strict=True))
    assert rings[4] == ("5 zone", "7 area")
    assert (plot.layout.shapes[0].y0, plot.layout.shapes[0].y1) == (3.5, 4.5)


def test_one_step_and_both_translations_are_told() -> None:
    shown = drawn(EMPTY, TYPED, 5)
    assert "the decoder writes “zone”" in shown["step"]
    assert f'<dd lang="fr">{escape(" ".join(example().target))}</dd>' in shown["both"]
    assert shown["choice"]["maximum"] == len(example().target) + 1
    assert drawn(EMPTY, TYPED, 99)["choice"]["value"] == len(example().target) + 1


def test_a_wrong_word_is_marked() -> None:
    wrong = next(pair for pair, is_right in zip(held_out(), right("none"), strict=True) if not is_right)
    assert "<mark>" in drawn(EMPTY, " ".join(wrong.source), 1)["both"]


@pytest.mark.parametrize("typed", ["", "<img src=x onerror=alert(1)>", "😀", "x" * 10_000, None])
def test_what_can_not_be_read_is_one_sentence(typed: str | None) -> None:
    with pytest.raises(UserError) as fault:
        drawn(EMPTY, typed, 1)  # type: ignore[arg-type]
    assert len(str(fault.value)) < 250


def test_the_program_prints_the_same_weights() -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(decoding_code(example().source), {})
    rows = [line.split() for line in printed.getvalue().splitlines()]
    written, decoded = steps(bundled("additive"), example().source)
    assert tuple(row[0] for row in rows) == written
    np.testing.assert_allclose([[float(share) for share in row[1:]] for row in rows], decoded.weights[0], atol=1e-3)


def test_shares_by_length_are_counted() -> None:
    assert shares_by_length([3, 6, 7, 20, 21], [True, False, True, False, False]) == [
        ("1 to 6", 2, 0.5), ("7 to 9", 1, 1.0), ("13 or more", 2, 0.0),
    ]  # fmt: skip
    figure = length_figure([3, 20], {"one": (True, False), "two": (True, True)})
    assert [list(bar.x) for bar in figure.data] == [[1.0, 0.0], [1.0, 1.0]]


def test_hostile_words_stay_text_in_the_picture() -> None:
    figure = alignment_figure(["<b>a</b>"], ["<i>"], np.ones((1, 1)))
    assert figure.layout.xaxis.ticktext == ("&lt;b&gt;a&lt;/b&gt;",)
    assert figure.layout.yaxis.ticktext == ("&lt;i&gt;",)


@pytest.mark.parametrize("task", TASKS)
def test_before_a_run_nothing_is_learned_and_after_some_they_stand_side_by_side(task: str) -> None:
    opening = idle(task)
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
    (one, two) = told["curves"].data
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
    assert "10 words to read, 11 tokens to write" in waits("dates")


def test_a_run_leaves_all_its_looks_and_runs_of_another_task_go() -> None:
    trainer = Trainer(SimpleNamespace(trainings=TrainingService()))  # type: ignore[arg-type]
    french = Ran("french", "GRU, attention", 10, 25, 3.0, (True,) * len(held_out()))
    *_, last = trainer.train(trainer.trainings.runs.new(), Plan("additive", 75, 1, "dates"), (french,))
    (line,) = last["curves"].data
    assert line.x == (0, 25, 50, 75)
    assert line.y[0] == 0 < line.y[-1] <= 1
    assert [one.task for one in last["ran"]] == ["dates"]


@pytest.mark.parametrize("values", [(None, None, 0), ("dot", 10**9, 0), ("dot", float("nan"), 0), ("dot", 100, -5)])
def test_settings_out_of_bounds_are_refused(values: tuple[object, ...]) -> None:
    with pytest.raises(UserError):
        read_plan(*values)


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
