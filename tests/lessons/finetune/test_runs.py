"""Part "Your runs": a whole run is remembered, the sample opens the part, two are compared, the CSV is handed out."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.finetune.runs.part import NONE, Runs, chosen, csv_file, sample
from demos.lessons.finetune.train.controller import Trainer
from demos.page.services import Sentence, Services
from demos.training.form_values import UPLOAD, shown_settings
from demos.training.results.history import Record, differences
from demos.training.service.readers import MAX_HISTORY
from demos.training.settings import Settings
from tests.lessons.finetune.whole_run import whole_run
from tests.page.tiny_store import TinyStore
from tests.plotly_figure import plotly

BAR = Sentence("", "", "tiny")
RECIPE = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=24))


def show(history: Sequence[Record], ticked: str = "") -> tuple[Any, ...]:
    services: Any = None
    return tuple(Runs().shown(services, BAR, history=history, ticked=ticked).values())


def test_a_run_is_remembered_and_the_oldest_forgotten(tiny: LoadedModel, tmp_path: Path) -> None:
    services = Services(TinyStore.written(tiny, tmp_path / "tiny"), "tiny")
    trainer = Trainer(services)
    films = tmp_path / "films.tsv"
    films.write_text(
        "".join(f"a {('dull', 'fine')[k % 2]} film, {k}\t{('no', 'yes')[k % 2]}\n" for k in range(40)), encoding="utf-8"
    )
    for number in range(1, MAX_HISTORY + 1):
        services.trainings.readers.add("a reader", replace(sample()[0], number=number))
    picked = ("sentence", UPLOAD, str(films), None, "", "", 1_500)
    *_, last = whole_run(trainer, picked, RECIPE, reader="a reader")
    history: list[Record] = last["history"]
    assert len(history) == MAX_HISTORY
    record = history[-1]
    assert (record.number, record.run, record.data) == (MAX_HISTORY + 1, last["kept"], "films.tsv")
    assert record.settings["learning_rate"] == 3e-3
    assert len(record.curve) == record.steps
    assert len(record.looks) == 3
    assert len(record.right) == record.examples[2]
    table, figure, compared = show(history)
    assert "films.tsv" in table
    assert f"run {record.number}" in {trace.name for trace in plotly(figure).data}
    assert "the test data differ" in compared


def test_before_any_run_there_is_a_sample_that_says_so() -> None:
    first, second = sample()
    assert differences([first, second]) == ("learning_rate",)
    assert first.test == second.test
    for record in (first, second):
        assert len(record.right) == record.examples[2]
        assert record.right.count("1") / len(record.right) == pytest.approx(record.metrics["accuracy"])
        assert 0 < len(record.curve) <= 200
        assert len(record.looks) == 1 + record.settings["epochs"] * record.settings["evaluations"]
    table, figure, compared = show([])
    assert "Two sample runs" in table
    assert table.count(" checked") == 2
    assert len(plotly(figure).data) == 6
    assert "McNemar" in compared
    with pytest.raises(UserError, match="train a model first"):
        csv_file(BAR, [])


def test_two_are_chosen_by_ticks_or_are_the_last_two() -> None:
    one = sample()[0]
    records = [replace(one, number=number) for number in (1, 2, 3)]

    def numbers(ticked: str) -> list[int]:
        return [record.number for record in chosen(records, ticked)]

    assert numbers("") == [2, 3]
    assert numbers("3,1") == [1, 3]
    assert numbers("2") == [2]
    assert numbers(NONE) == []
    assert numbers("77,x,<b>," + "9" * 5_000) == [2, 3]  # gone, or nonsense
    table, figure, compared = show(records, NONE)
    assert " checked" not in table
    assert plotly(figure).data == ()
    assert "Tick two" in compared
    name, text = csv_file(BAR, records)
    assert name.endswith(".csv")
    assert [row["run"] for row in csv.DictReader(io.StringIO(text, newline=""))] == ["1", "2", "3"]
