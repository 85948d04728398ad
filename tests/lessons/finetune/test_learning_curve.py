"""Part "How much data?": the sample, the cost before, a measurement that grows and is stopped, what is refused."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.models import LoadedModel
from demos.lessons.finetune.learning_curve import part as curve_part
from demos.lessons.finetune.learning_curve.part import FILES, LearningCurve, Measurements, read_data, samples
from demos.lessons.finetune.learning_curve.text import LEARNED
from demos.page.guards import OUR_FAULT
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training import learning_curve
from demos.training.learning_curve import LSTM, PRETRAINED, SCRATCH, SCRATCH_SEEDS, SHARES, WORDS, nested
from demos.training.service import training_service
from demos.training.service.background import Changes
from demos.training.service.gpu_worker import NoGPUError, run_training
from demos.training.sources import SOURCES
from tests.one_line import flat
from tests.page.tiny_store import TinyStore
from tests.plotly_figure import plotly
from tests.shown_values import with_values

BAR = Sentence("", "", "tiny")
FILM = "".join(f"a {('dull', 'fine')[k % 2]} film, {k}\t{('no', 'yes')[k % 2]}\n" for k in range(60))


@pytest.fixture
def part(tiny: LoadedModel, tmp_path: Path) -> Measurements:
    return Measurements(Services(TinyStore.written(tiny, tmp_path / "tiny"), "tiny"))


def run(part: Measurements, amount: str, file: str | None, model: str = "tiny", **where: bool) -> Iterator[Changes]:
    """The changes of one measurement."""
    on = On(part.services, replace(BAR, model=model))
    return part.run("job", "reader", on, LearningCurve().read(on, {"amount": amount, "file": file}), **where)


def show(part: Measurements, amount: str, **said: Any) -> dict[str, Any]:
    shown: dict[str, Any] = with_values(LearningCurve().shown)(part.services, BAR, amount=amount, **said)
    return shown


@pytest.fixture
def films(tmp_path: Path) -> str:
    path = tmp_path / "films.tsv"
    path.write_text(FILM, encoding="utf-8")
    return str(path)


def test_the_sample_is_whole_and_labelled(part: Measurements) -> None:
    command, known = samples()
    assert command.startswith("PYTHONPATH=. python tests/benchmarks/learning_curve.py")
    assert set(known) <= set(SOURCES)
    for key, measured in known.items():
        dataset = SOURCES[key].load(0, 1_500)
        assert measured.sizes == tuple(len(nested(dataset, share, 0)) for share in SHARES)
        assert measured.test == len(dataset.test)
        found = {(point.series, point.examples, point.seed) for point in measured.points}
        assert found == {
            (series, size, seed)
            for series in (PRETRAINED, WORDS, LSTM, SCRATCH)
            for size in measured.sizes
            for seed in range(measured.seeds if series == PRETRAINED else SCRATCH_SEEDS)
        }
        assert all(0 <= point.score <= 1 for point in measured.points)
        learned = [point.learned for point in measured.points if point.series == SCRATCH]
        assert all(share is not None and share >= LEARNED for share in learned[-len(SHARES) // 2 :])
    shown = show(part, "emotion", seeds=2)
    figure = plotly(shown["figure"])
    status, proof, made, numbers = (flat(shown[name]) for name in ("status", "proof", "made", "numbers"))
    assert "trains 25 models" in status
    assert "15 of them start from random weights (3 seeds, more steps)" in " ".join(status.split())
    assert {"the pre-trained model", "words only"} <= {trace.name for trace in figure.data}
    assert "Sample result" in made
    assert command in numbers
    assert "the pre-trained model reaches this with" in proof
    assert "it was also tuned on about a billion sentence pairs" in proof
    assert "so they were learned" in proof
    assert "<td>" in numbers


def test_without_a_sample_guessing_is_shown_and_a_file_is_awaited(part: Measurements, films: str) -> None:
    shown = show(part, "file-sentence")
    assert "Choose a CSV" in shown["status"]
    shown = show(part, "file-sentence", file=films)
    assert "trains 20 models" in shown["status"]
    assert [trace.name for trace in plotly(shown["figure"]).data] == ["always the most frequent class"]
    assert shown["proof"] == ""
    assert "click Run" in shown["made"]
    assert read_data("file-pair", None) is None
    assert set(FILES) == {"file-sentence", "file-pair"}


def test_a_measurement_grows_and_can_be_stopped_with_what_it_has(
    part: Measurements, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning_curve, "SHARES", (0.1, 0.3, 1.0))
    monkeypatch.setattr(learning_curve, "MAX_STEPS", 3)
    monkeypatch.setattr(learning_curve, "SCRATCH_STEPS", 3)
    updates = run(part, "file-sentence", films)
    next(updates)
    grown = None
    for update in updates:
        if "own" in update:
            grown = update["own"]
            if any(point.series == PRETRAINED for point in grown.points):
                part.stop("job")
        last = update
    assert last["start"]["interactive"] is True
    assert last["run"] == ""
    assert "Stopped; 1 of 12 trained models are kept" in last["status"]
    assert grown is not None
    assert [point.series for point in grown.points] == [WORDS, LSTM, PRETRAINED]
    shown = show(part, "file-sentence", file=films, own=grown)
    assert "Your result" in shown["made"]
    home = part.services.trainings.runs.folder("any").parent
    assert list(home.iterdir()) == []
    assert show(part, "file-sentence", file=films, run="a job", own=grown) == {}  # nothing moves under a measurement


def test_a_gpu_that_is_not_lent_is_told_in_its_own_words(
    part: Measurements, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*run: Any) -> Iterator[Any]:
        if not run[-2]:  # on the CPU
            raise NoGPUError("No GPU is free at this moment.")
        yield from run_training(*run)

    monkeypatch.setattr(training_service, "run_training", refused)
    *_, last = run(part, "file-sentence", films)
    assert "No GPU is free at this moment." in last["status"]
    assert last["start"]["interactive"] is True
    assert last["on_cpu"]["visible"] is True
    monkeypatch.setattr(curve_part, "BUNDLED", "tiny")
    updates = run(part, "file-sentence", films, "a model for a GPU", on_cpu=True)
    grown = next(update for update in updates if "own" in update and len(update["own"].points) > 2)
    assert PRETRAINED in {point.series for point in grown["own"].points}
    updates.close()  # type: ignore[attr-defined]


def test_a_measurement_in_line_says_how_many_are_ahead_and_for_how_long(part: Measurements, films: str) -> None:
    with part.services.trainings.queue.join(150.0):
        updates = run(part, "file-sentence", films)
        told = next(update["status"] for update in updates if "in the line" in update["status"])
        updates.close()  # type: ignore[attr-defined]
    assert "1 ahead of it in the line, for about 3 min" in flat(told)


def test_what_cannot_be_measured_ends_in_a_sentence_and_the_button_works(
    part: Measurements, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*values: Any) -> tuple[dict[str, Any], str]:
        seen: list[dict[str, Any]] = []
        with suppress(ZeroDivisionError):  # a fault of ours is raised for the log once it is told
            seen.extend(run(part, *values))
        return seen[-1], seen[-1]["status"]

    last, told = ends("file-sentence", None)
    assert "Choose a CSV" in told
    assert last["start"]["interactive"] is True
    strange = LearningCurve().read(On(part.services, BAR), {"amount": "entities", "seeds": "many"})
    assert (strange.amount, strange.seeds) == ("emotion", 1)
    assert "sentence1" in ends("file-pair", films)[1]
    monkeypatch.setattr(curve_part, "Measurement", lambda *_, **__: 1 / 0)
    assert OUR_FAULT in ends("emotion", None)[1]
