"""Frozen features: what it draws, its words and figures, the reader's own model, and its program."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app import build_pages
from demos.bert.embeddings.frozen_features import CONCAT_ALL, features_of
from demos.bert.embeddings.pooling import SUM_ALL, Choice
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.embeddings.frozen_features import classifiers
from demos.lessons.embeddings.frozen_features.classifiers import Frozen, Task
from demos.lessons.embeddings.frozen_features.figure import Bar, bars_figure, grid_figure
from demos.lessons.embeddings.frozen_features.part import FrozenFeatures, fill, learn
from demos.page import progress
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.data.labelled_sentences import FILE, FILMS, own_sentences, read_labelled, split_rows
from demos.training.learning.model import Model, keep, load_encoder
from demos.training.lstm_classifier import Learned, lstm_steps
from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.widgets.pooling_menus.pooling_menus import menu_values
from tests.lessons.embeddings.answers import as_read
from tests.page.tiny_store import TinyStore
from tests.plotly_figure import plotly
from tests.programs import printed

VIEW, HELLO, TWO = FrozenFeatures(), Sentence("Hello.", "", ""), "two"


@pytest.fixture(scope="module")
def services(tiny: LoadedModel) -> Services:
    return Services(TinyStore(tiny, Path()), "tiny")


def of(services: Services, sentence: Sentence = HELLO, **said: Any) -> tuple[On, FrozenFeatures.Choices]:
    """What a drawing is drawn on, and choices as a browser holds them: of joy and sadness unless it says other data."""
    names = {name: name if name in ("file", "run") else f"features_{name}" for name in said}
    on = On(services, sentence)
    return on, VIEW.read(on, {"features_data": TWO} | {names[name]: value for name, value in said.items()})


def last(stream: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Each output's last value."""
    shown: dict[str, Any] = {}
    for values in stream:
        shown |= values
    grid = shown.get("grid", {})
    shown |= {"grid": grid | {"value": as_read(grid["value"])}} if "value" in grid else {}
    return {name: as_read(value) for name, value in shown.items()}


def drawn(services: Services, sentence: Sentence = HELLO, **said: Any) -> dict[str, Any]:
    """What is in sight."""
    on, c = of(services, sentence, **said)
    return last(VIEW.draw(on, c))


def task_of(services: Services, standardise: bool = True, data: str = TWO) -> Task:
    on, c = of(services, standardise=standardise, data=data)
    return c.task(on)


def test_the_opening_draws_baselines_then_vectors_and_tells_its_progress(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "BETWEEN", -1.0)
    steps = list(VIEW.draw(*of(services, Sentence("A kettle <b>sings</b> ${x}.", "", "tiny"))))
    bars = [len(plotly(values["bars"]).data[0].x) for values in steps if "bars" in values]
    assert bars == [2, 4]
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


def test_film_reviews_are_classified_as_positive_or_negative(services: Services) -> None:
    """The lectures' example, with reviews of our own."""
    shown = drawn(services, Sentence("a visually stunning rumination on love", "", "tiny"), data=FILMS)
    assert "320</b> sentences for training, <b>80</b> held out" in shown["about"]
    assert "2 classes: negative, positive" in shown["about"]
    assert "visually stunning" in shown["recipe"]
    assert "Film reviews" in shown["tuned"]
    assert "assets/data/films.tsv" in last(VIEW.draw_program(*of(services, data=FILMS)))["program"]


@pytest.mark.slow
def test_every_choice_is_fitted_and_cross_validations_pick_taken(services: Services, tiny: LoadedModel) -> None:
    shown = last(fill(*of(services)))
    assert shown["start"]["interactive"] is True
    assert shown["fitted"]  # so that all is drawn anew
    shown = drawn(services)
    total = len(features_of(tiny))
    assert np.isfinite(np.array(shown["grid"]["value"].data[0].z)).sum() == total
    assert "Cross-validation selects" in shown["grid_said"]
    assert "so far" not in shown["grid_said"]
    assert last(VIEW.draw_numbers(*of(services)))["numbers"].count("<tr>") > total
    known = services.shared(Frozen).known(task_of(services))
    assert len(known) == total
    pooling, layer = shown["best"].split(",")
    _, c = of(services, pooling=pooling, layer=layer)
    assert known[c.vector(tiny)].cross_validated == max(fit.cross_validated for fit in known.values())
    # All of it is stored, so that a second series may wait for its turn, but encodes and fits nothing.
    again = [str(values.get("grid_status")) for values in fill(*of(services))]
    assert not any("Encoding" in line or "Fitting" in line for line in again)


@pytest.mark.slow
def test_an_lstm_learns_from_the_same_split_when_it_is_asked_for(tiny: LoadedModel) -> None:
    services = Services(TinyStore(tiny, Path()), "tiny")
    before = drawn(services)
    assert "trained from scratch" in before["lstm"]
    assert before["learn"]["visible"] is True
    steps = list(learn(*of(services)))
    assert sum("Training the LSTM: step" in str(values.get("status")) for values in steps) == 21
    assert steps[-1]["fitted"]  # so that all is drawn anew
    shown = drawn(services)
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
    frozen = services.shared(Frozen)
    fit = frozen.known(task_of(services))[Choice("mean", 2)]
    assert f"{100 * abs(learned.accuracy - fit.scores.accuracy):.1f} percentage points" in shown["lstm"]
    assert len(list(learn(*of(services)))) == 1  # kept for all
    assert len(frozen.line) == 0
    with pytest.raises(UserError, match="Choose a file"):
        last(learn(*of(services, data="file")))


def test_a_stop_ends_the_filling_and_keeps_what_is_fitted(services: Services) -> None:
    stream = fill(*of(services, standardise=False))
    for values in stream:
        assert not {"start", "stop"} & values.keys()  # a late one of these would undo the button that ends it
        if str(values.get("grid_status")).startswith("<p>Fitting 4 of"):
            break
    stream.close()  # as the button does
    frozen = services.shared(Frozen)
    assert len(frozen.known(task_of(services, standardise=False))) == 3
    assert len(frozen.line) == 0


@pytest.mark.slow
def test_two_who_ask_for_all_fits_have_them_made_once_and_the_second_is_told_its_place(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = Services(TinyStore(tiny, Path()), "tiny")
    monkeypatch.setattr(classifiers, "LOOK_SECONDS", 0.01)
    fitted, began, go_on = [], threading.Event(), threading.Event()
    fit_vectors = classifiers.fit_vectors

    def counted(*asked: Any) -> Any:
        fitted.append(asked)
        began.set()
        assert go_on.wait(timeout=60)
        return fit_vectors(*asked)

    monkeypatch.setattr(classifiers, "fit_vectors", counted)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: last(fill(*of(services))))
        try:
            assert began.wait(timeout=60)
            second = fill(*of(services))
            assert "1 run is ahead of yours. Yours should begin in " in next(second)["grid_status"]
            third = fill(*of(services))
            assert "2 runs are ahead of yours" in next(third)["grid_status"]
            third.close()
            assert len(services.shared(Frozen).line) == 2
        finally:
            go_on.set()
        assert first.result(timeout=60)["fitted"]
    assert last(second)["fitted"]
    assert len(fitted) == len(features_of(tiny))
    assert len(services.shared(Frozen).line) == 0


@pytest.mark.parametrize("text", ["", "   ", "x" * 20_001, "🎻", "\ud800"])
def test_an_odd_sentence_spoils_its_own_box_alone(services: Services, text: str) -> None:
    shown = drawn(services, Sentence(text, "", "tiny"))
    assert len(shown["bars"].data[0].x) == 4
    assert ("recipe-steps" in shown["recipe"]) == (text in ("🎻", "\ud800"))


def test_a_file_is_awaited_read_or_refused(services: Services, tmp_path: Path) -> None:
    chosen = {"data": "file", "pooling": "cls", "layer": CONCAT_ALL, "standardise": False}
    assert "Choose a file" in drawn(services, **chosen)["status"]
    assert [*VIEW.shown(services, HELLO, features_data="file")] == ["status"]
    path = tmp_path / "mine.tsv"
    path.write_text("text\tlabel\nno\tsame\n", encoding="utf-8")
    with pytest.raises(UserError, match="same label"):
        drawn(services, data="file", file=str(path), split="0")
    path.write_text(
        "".join(f"the <i>{'good' if n % 2 else 'bad'}</i> one of {n}\t<b>{n % 2}</b>\n" for n in range(40)),
        encoding="utf-8",
    )
    shown = drawn(services, Sentence("Good.", "", "tiny"), file=str(path), **chosen)
    assert "drawn at random within each class (seed 0)" in shown["about"]
    assert shown["features_split"]["value"] == "0"
    assert "own" not in [value for _, value in shown["features_split"]["choices"]]
    assert "uses other test sentences" in shown["tuned"]
    assert "<b>1</b>" not in shown["recipe"] + shown["about"] + shown["mistakes"]
    assert len(shown["bars"].data[0].x) == 5
    compile(last(VIEW.draw_program(*of(services, file=str(path), **chosen)))["program"], "code", "exec")
    with pytest.raises(UserError, match="was never trained"):
        drawn(services, pooling="pooler")


def test_the_readers_own_model_stands_beside_on_the_same_sentences(
    services: Services, tiny: LoadedModel, tmp_path: Path
) -> None:
    runs, data = services.trainings.runs, own_sentences(True)
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
        shown = drawn(services, run=run)
        assert shown["bars"].data[0].x[-1] == pytest.approx(expected, abs=1e-4)
        assert "tested on the same 48" in shown["tuned"]
        by_seed = drawn(services, split="4", run=run)
        assert "may have been trained on" in by_seed["tuned"]
        assert len(by_seed["bars"].data[0].x) == 4
        whole = own_sentences(False)  # has classes that this model does not know
        assert Frozen(services).tuned_state(Task(whole, split_rows(whole, "own"), tiny, True), run) == "other"
    finally:
        runs.discard(run)
    assert "Fine-tune" in drawn(services, run=run)["tuned"]


def test_menus_and_choices_agree(services: Services, tiny: LoadedModel) -> None:
    for choice in features_of(tiny):
        pooling, layer = menu_values(choice, tiny.model.config.num_hidden_layers)
        _, c = of(services, pooling=pooling, layer=layer)
        assert c.vector(tiny) == choice


@pytest.mark.parametrize("has_split", [False, True])
def test_a_mask_in_small_letters_is_one_token_for_the_program_too(
    services: Services, tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_split: bool
) -> None:
    typed = [f"A {('[mask]', '[Mask]', '[MASK]')[at % 3]} of {at}." for at in range(40)]
    splits = ["\ttest" if at % 8 < 2 else "\ttrain" for at in range(40)] if has_split else [""] * 40
    lines = [f"{text}\t{at % 2}{split}\n" for at, (text, split) in enumerate(zip(typed, splits, strict=True))]
    (tmp_path / "train.tsv").write_text("".join(["text\tlabel\tsplit\n"] * has_split + lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    chosen = of(services, data=FILE, file=str(tmp_path / "train.tsv"), split="own" if has_split else "0")
    program, done = last(VIEW.draw_program(*chosen))["program"], dict[str, Any]()
    exec(program[: program.index("labels = np.array")], done)
    tokens = [encode(tiny.tokenizer, text).input_ids for text in typed]  # the page's
    assert [tuple(ids) for ids in tiny.tokenizer(done["texts"])["input_ids"]] == tokens
    assert "re.sub" not in last(VIEW.draw_program(*of(services)))["program"]


@pytest.mark.slow
@pytest.mark.parametrize("data", [TWO, FILMS])
def test_the_program_prints_the_pages_numbers(bundled: LoadedModel, monkeypatch: pytest.MonkeyPatch, data: str) -> None:
    """And on the project's own sentences of two classes, frozen vectors beat the words alone."""
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    services = Services(TinyStore(bundled, Path()), bundled.spec.key)
    chosen = of(services, Sentence("What a day!", "", ""), layer=SUM_ALL, data=data)
    last(VIEW.draw(*chosen))
    frozen, task = services.shared(Frozen), task_of(services, data=data)
    fit = frozen.known(task)[Choice("mean", SUM_ALL)]
    assert printed(last(VIEW.draw_program(*chosen))["program"]) == [
        f"C {fit.strength}",
        f"cross-validated {round(fit.cross_validated, 3)}",
        f"held out {round(fit.scores.accuracy, 3)}",
        "guessing 0.5",
    ]
    assert fit.cross_validated > frozen.words(task).cross_validated + 0.1


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
    services = Services(TinyStore(bundled, Path()), bundled.spec.key)
    chosen = of(services, data=FILE, file=str(tmp_path / "train.tsv"))
    last(VIEW.draw(*chosen))
    lines = printed(last(VIEW.draw_program(*chosen))["program"])
    data = read_labelled(FILE, str(tmp_path / "train.tsv"))
    task = Task(data, split_rows(data, "own"), bundled, True)
    assert len(task.split.test) == 15
    fit = services.shared(Frozen).known(task)[Choice("mean", task.deepest)]
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
    demo = build_pages(Services(TinyStore(tiny, Path()), "tiny"))
    long = "features-start", "features-learn"
    buttons = [key for key, block in demo.blocks.items() if getattr(block, "elem_id", "") in long]
    assert len(buttons) == 2
    filling = {one for one in demo.fns.values() if any(target in buttons for target, _ in one.targets)}
    queues = {one.concurrency_id for one in filling if one.fn is not None}
    assert len(queues) == 1
    others = {one.concurrency_id for one in demo.fns.values() if one not in filling}
    assert "vectors" in others
    assert queues.isdisjoint(others)
