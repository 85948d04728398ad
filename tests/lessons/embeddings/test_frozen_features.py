"""Frozen features: its handlers, its words and figures, the reader's own model, and its program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from app import build_pages
from demos.bert.embeddings.frozen_features import CONCAT_ALL, features_of
from demos.bert.embeddings.pooling import SUM_ALL, Choice
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.lessons.embeddings.frozen_features import classifiers, part
from demos.lessons.embeddings.frozen_features.classifiers import Frozen, Task
from demos.lessons.embeddings.frozen_features.figure import Bar, bars_figure, grid_figure
from demos.lessons.embeddings.frozen_features.layout import FILLED, GRID_FILLED, Answers
from demos.lessons.embeddings.frozen_features.part import DATA_PATH, Recipe
from demos.page import progress
from demos.page.services import Services
from demos.training.data.labelled_sentences import FILE, own_sentences, read_labelled, split_rows
from demos.training.learning.model import Model, keep, load_encoder
from demos.training.lstm_classifier import Learned, lstm_steps
from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.widgets.pooling_menus.pooling_menus import menu_values
from tests.lessons.embeddings.answers import as_read
from tests.plotly_figure import plotly
from tests.programs import printed

TWO = ("two", None, "own", "mean", "last", True, "")


@dataclass
class OneModel:
    """A store of one model, whatever key is asked for."""

    loaded: LoadedModel
    memory: Budget | None = None
    named: None = None

    @property
    def catalogue(self) -> dict[str, Any]:
        return {"tiny": self.loaded.spec}

    def spec(self, key: str) -> Any:
        return self.loaded.spec

    def get(self, key: str) -> LoadedModel:
        return self.loaded


@pytest.fixture(scope="module")
def recipe(tiny: LoadedModel) -> Recipe:
    return Recipe(Frozen(Services(cast(ModelStore, OneModel(tiny)), "tiny")))


def last(stream: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Each output's last value."""
    shown: dict[str, Any] = {}
    for values in stream:
        assert set(values) <= {*FILLED, *GRID_FILLED}
        shown |= values
    grid = shown.get("grid", {})
    shown |= {"grid": grid | {"value": as_read(grid["value"])}} if "value" in grid else {}
    return {name: as_read(value) for name, value in shown.items()}


def test_the_opening_draws_baselines_then_vectors_and_tells_its_progress(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    steps = list(recipe.show("A kettle <b>sings</b> ${x}.", "", "tiny", *TWO))
    drawn = [len(plotly(values["bars"]).data[0].x) for values in steps if "bars" in values]
    assert drawn == [2, 4]
    said = [str(values.get("status")) for values in steps]
    assert any("Encoding" in line for line in said)
    assert any("Fitting" in line for line in said)
    assert said[-1] == ""
    shown = last(iter(steps))
    assert "192</b> sentences for training, <b>48</b> held out" in shown["about"]
    assert "&lt;b&gt;sings" in shown["recipe"]
    assert "<b>sings" not in shown["recipe"]
    assert "Fine-tune" in shown["tuned"]
    assert shown["grid"]["visible"] is False
    assert "0.824" in shown["said"]  # the guide's, labelled as such
    assert sum(sum(row) for row in np.array(shown["confusion"].data[0].z) > 0) >= 2


@pytest.mark.slow
def test_every_choice_is_fitted_and_cross_validations_pick_taken(recipe: Recipe, tiny: LoadedModel) -> None:
    shown = last(recipe.fill("", "", "tiny", *TWO))
    total = len(features_of(tiny))
    assert np.isfinite(np.array(shown["grid"]["value"].data[0].z)).sum() == total
    assert "Cross-validation selects" in shown["grid_said"]
    assert "so far" not in shown["grid_said"]
    assert shown["start"]["interactive"] is True
    pooling, layer = recipe.take("", "", "tiny", *TWO).values()
    task = Task(own_sentences(True), split_rows(own_sentences(True), "own"), tiny, True)
    known = recipe.frozen.known(task)
    assert len(known) == total
    picked = Answers("two", None, "own", pooling, layer, True, "").choice(tiny)
    assert known[picked].cross_validated == max(fit.cross_validated for fit in known.values())
    again = list(recipe.fill("", "", "tiny", *TWO))
    assert len(again) == 2  # all of it was kept


@pytest.mark.slow
def test_an_lstm_learns_from_the_same_split_when_it_is_asked_for(recipe: Recipe, tiny: LoadedModel) -> None:
    recipe = Recipe(Frozen(recipe.frozen.services))
    before = last(recipe.show("Hello.", "", "tiny", *TWO))
    assert "trained from scratch" in before["lstm"]
    assert before["learn"]["visible"] is True
    steps = list(recipe.learn("Hello.", "", "tiny", *TWO))
    assert sum("Training the LSTM: step" in str(values.get("status")) for values in steps) == 21
    shown = last(iter(steps))
    data, split = own_sentences(True), split_rows(own_sentences(True), "own")
    examples = [Example(text, int(target)) for text, target in zip(data.texts, data.targets, strict=True)]
    train, test = ([examples[at] for at in rows] for rows in (split.train, split.test))
    *_, learned = lstm_steps(train, test, 2, 0)
    assert isinstance(learned, Learned)
    assert shown["learn"]["visible"] is False
    assert shown["bars"].data[0].x[-1] == round(learned.accuracy, 4)
    assert shown["bars"].data[0].customdata[-1][0] == "LSTM, trained from scratch"
    assert f"{learned.parameters:,}</b> parameters" in shown["lstm"]
    assert f"{learned.accuracy:.1%}</b> of the 48 held-out" in shown["lstm"]
    fit = recipe.frozen.known(Task(data, split, tiny, True))[Choice("mean", 2)]
    assert f"{100 * abs(learned.accuracy - fit.scores.accuracy):.1f} percentage points" in shown["lstm"]
    again = list(recipe.learn("Hello.", "", "tiny", *TWO))  # kept for all
    assert not any("Training the LSTM" in str(values.get("status")) for values in again)
    assert len(recipe.line) == 0
    with pytest.raises(UserError, match="Choose a file"):
        last(recipe.learn("", "", "tiny", "file", None, "own", "mean", "last", True, ""))


def test_a_stop_ends_the_filling_and_keeps_what_is_fitted(recipe: Recipe, tiny: LoadedModel) -> None:
    raw = (*TWO[:5], False, "")
    stream = recipe.fill("", "", "tiny", *raw)
    steps = [next(stream)]
    while not str(steps[-1].get("grid_status")).startswith("<p>Fitting 4 of"):
        steps.append(next(stream))
    assert recipe.stop(steps[0]["filling"])["stop"]["interactive"] is False
    (end,) = stream
    assert "Stopped" in end["grid_status"]
    assert end["start"]["interactive"] is True
    task = Task(own_sentences(True), split_rows(own_sentences(True), "own"), tiny, False)
    assert len(recipe.frozen.known(task)) == 3


@pytest.mark.slow
def test_two_who_ask_for_all_fits_have_them_made_once_and_the_second_is_told_its_place(
    recipe: Recipe, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(Frozen(recipe.frozen.services))
    monkeypatch.setattr(part, "LOOK_SECONDS", 0.01)
    fitted, began, go_on = [], threading.Event(), threading.Event()
    fit_vectors = classifiers.fit_vectors

    def counted(*asked: Any) -> Any:
        fitted.append(asked)
        began.set()
        assert go_on.wait(timeout=60)
        return fit_vectors(*asked)

    monkeypatch.setattr(classifiers, "fit_vectors", counted)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: last(recipe.fill("", "", "tiny", *TWO)))
        try:
            assert began.wait(timeout=60)
            second = recipe.fill("", "", "tiny", *TWO)
            assert next(second)["stop"]["interactive"] is True
            assert "1 run is ahead of yours. Yours should begin in " in next(second)["grid_status"]
            third = recipe.fill("", "", "tiny", *TWO)
            begun = next(third)
            assert "2 runs are ahead of yours" in next(third)["grid_status"]
            recipe.stop(begun["filling"])
            assert "Stopped" in [*third][-1]["grid_status"]
        finally:
            go_on.set()
        assert first.result(timeout=60)["grid"]["visible"] is True
    assert last(second)["grid"]["visible"] is True
    assert len(fitted) == len(features_of(tiny))
    assert len(recipe.line) == 0


@pytest.mark.parametrize("text", ["", "   ", "x" * 20_001, "🎻", "\ud800"])
def test_an_odd_sentence_spoils_its_own_box_alone(recipe: Recipe, text: str) -> None:
    shown = last(recipe.show(text, "", "tiny", *TWO))
    assert len(shown["bars"].data[0].x) == 4
    assert ("recipe-steps" in shown["recipe"]) == (text in ("🎻", "\ud800"))


def test_a_file_is_awaited_read_or_refused(recipe: Recipe, tmp_path: Path) -> None:
    shown = last(recipe.show("Hello.", "", "tiny", "file", None, "0", "cls", CONCAT_ALL, False, ""))
    assert "Choose a file" in shown["status"]
    assert shown["file"]["visible"] is True
    assert "bars" not in shown
    path = tmp_path / "mine.tsv"
    path.write_text("text\tlabel\nno\tsame\n", encoding="utf-8")
    with pytest.raises(UserError, match="same label"):
        last(recipe.show("Hello.", "", "tiny", "file", str(path), "0", "mean", "last", True, ""))
    path.write_text(
        "".join(f"the <i>{'good' if n % 2 else 'bad'}</i> one of {n}\t<b>{n % 2}</b>\n" for n in range(40)),
        encoding="utf-8",
    )
    shown = last(recipe.show("Good.", "", "tiny", "file", str(path), "own", "cls", CONCAT_ALL, False, ""))
    assert "drawn at random within each class (seed 0)" in shown["about"]
    assert shown["split"]["value"] == "0"
    assert "uses its own test sentences" in shown["tuned"]
    assert "<b>1</b>" not in shown["recipe"] + shown["about"] + shown["mistakes"]
    assert len(shown["bars"].data[0].x) == 5
    compile(shown["code"], "code", "exec")
    with pytest.raises(UserError, match="was never trained"):
        last(recipe.show("Hello.", "", "tiny", "two", None, "own", "pooler", "last", True, ""))


def test_the_readers_own_model_stands_beside_on_the_same_sentences(
    recipe: Recipe, tiny: LoadedModel, tmp_path: Path
) -> None:
    runs, data = recipe.frozen.services.trainings.runs, own_sentences(True)
    run = runs.new()
    task = Classification(("anger", *data.labels))  # of more classes, asked which of these two
    tiny.model.save_pretrained(tmp_path / "base")
    model = Model(load_encoder(tmp_path / "base"), task.head(32, None), tiny.tokenizer)
    keep(model, task, 32, runs.folder(run))
    runs.keep(run, "tiny")
    try:
        test = split_rows(data, "own").test
        chances = runs.predict(run, [data.texts[at] for at in test])
        answers = ["joy" if one["joy"] > one["sadness"] else "sadness" for one in chances]
        expected = np.mean([answer == data.labels[data.targets[at]] for answer, at in zip(answers, test, strict=True)])
        shown = last(recipe.show("Hello.", "", "tiny", *TWO[:-1], run))
        assert shown["bars"].data[0].x[-1] == pytest.approx(expected, abs=1e-4)
        assert "tested on the same 48" in shown["tuned"]
        drawn = last(recipe.show("Hello.", "", "tiny", "two", None, "4", "mean", "last", True, run))
        assert "may have been trained on" in drawn["tuned"]
        assert len(drawn["bars"].data[0].x) == 4
        whole = own_sentences(False)  # has classes that this model does not know
        assert recipe.frozen.tuned_state(Task(whole, split_rows(whole, "own"), tiny, True), run) == "other"
    finally:
        runs.discard(run)
    assert "Fine-tune" in last(recipe.show("Hello.", "", "tiny", *TWO[:-1], run))["tuned"]


def test_menus_and_choices_agree(tiny: LoadedModel) -> None:
    for choice in features_of(tiny):
        menus = menu_values(choice, tiny.model.config.num_hidden_layers)
        assert Answers("two", None, "own", *menus, True, "").choice(tiny) == choice


@pytest.mark.slow
def test_the_program_prints_the_pages_numbers(bundled: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """And on the project's own sentences of joy and sadness, frozen vectors beat the words alone."""
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    assert Path(DATA_PATH).exists()
    one = Recipe(Frozen(Services(cast(ModelStore, OneModel(bundled)), bundled.spec.key)))
    shown = last(one.show("What a day!", "", "", "two", None, "own", "mean", SUM_ALL, True, ""))
    task = Task(own_sentences(True), split_rows(own_sentences(True), "own"), bundled, True)
    fit = one.frozen.known(task)[Choice("mean", SUM_ALL)]
    assert printed(shown["code"]) == [
        f"C {fit.strength}",
        f"cross-validated {round(fit.cross_validated, 3)}",
        f"held out {round(fit.scores.accuracy, 3)}",
        "guessing 0.5",
    ]
    assert fit.cross_validated > one.frozen.words(task).cross_validated + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("held_out", ["test", "validation"])
def test_the_program_reads_a_file_with_its_own_split(
    bundled: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held_out: str
) -> None:
    emotions = own_sentences(True)
    rows = [(text, emotions.labels[label]) for text, label in zip(emotions.texts, emotions.targets, strict=True)][:60]
    lines = [f"{text}\t{label}\t{held_out if at % 4 == 0 else 'train'}" for at, (text, label) in enumerate(rows)]
    (tmp_path / "train.tsv").write_text("\n".join(["text\tlabel\tsplit", *lines, lines[3]]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    one = Recipe(Frozen(Services(cast(ModelStore, OneModel(bundled)), bundled.spec.key)))
    shown = last(one.show("What a day!", "", "", FILE, str(tmp_path / "train.tsv"), "own", "mean", "last", True, ""))
    lines = printed(shown["code"])
    data = read_labelled(FILE, str(tmp_path / "train.tsv"))
    task = Task(data, split_rows(data, "own"), bundled, True)
    assert len(task.split.test) == 15
    fit = one.frozen.known(task)[Choice("mean", task.deepest)]
    assert lines[:3] == [
        f"C {fit.strength}",
        f"cross-validated {round(fit.cross_validated, 3)}",
        f"held out {round(fit.scores.accuracy, 3)}",
    ]


def test_bars_and_grid_show_what_they_are_given() -> None:
    figure = plotly(bars_figure([Bar("a <b>", "guess", 0.5, (0.4, 0.6)), Bar("told", "published", 0.9)]))
    measured, published = figure.data
    assert list(measured.error_x.array) == pytest.approx([0.1])
    assert (published.x, published.y, published.error_x.array) == ((0.9,), (1,), None)
    assert "a &lt;b&gt;" in [note.text for note in figure.layout.annotations]
    scores = {Choice("mean", 0): 0.5, Choice("mean", CONCAT_ALL): 0.75, Choice("cls", 0): 0.25}
    grid = plotly(grid_figure(scores, Choice("mean", CONCAT_ALL), 2))
    np.testing.assert_array_equal(grid.data[0].z, [[0.25, np.nan], [0.5, 0.75]])
    (frame,) = grid.layout.shapes
    assert (frame.x0, frame.y0) == (0.5, 0.5)


@pytest.mark.slow
def test_fitting_them_all_takes_nobody_elses_place(tiny: LoadedModel) -> None:
    """A reader's minute of fits, or an LSTM, is in a queue of its own: the parts that only look share another."""
    demo = build_pages(Services(cast(ModelStore, OneModel(tiny)), "tiny"))
    long = "features-start", "features-learn"
    buttons = [key for key, block in demo.blocks.items() if getattr(block, "elem_id", "") in long]
    assert len(buttons) == 2
    filling = {one for one in demo.fns.values() if any(target in buttons for target, _ in one.targets)}
    queues = {one.concurrency_id for one in filling if one.fn is not None}
    assert len(queues) == 1
    others = {one.concurrency_id for one in demo.fns.values() if one not in filling}
    assert "vectors" in others
    assert queues.isdisjoint(others)
