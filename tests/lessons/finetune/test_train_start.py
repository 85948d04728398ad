"""A training that begins with one of the reader's own runs: its weights, what is told of it, whose runs are offered."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from demos.errors import UserError
from demos.figures.training_program import program_of
from demos.lessons.finetune.train import controller
from demos.lessons.finetune.train.start import available_runs, offers_of, start_from_model, start_from_run, start_of
from demos.training.events import Event, Started
from demos.training.export.card import card
from demos.training.export.folder import write_folder
from demos.training.export.recipe_file import Recipe
from demos.training.export.run_log import read_log
from demos.training.export.script import command_of, repeated, script_of
from demos.training.export.transformers_folder import form_of
from demos.training.form_values import UPLOAD, read_dataset, read_settings
from demos.training.learning.earlier import GONE
from demos.training.learning.learner import Learner
from demos.training.learning.model import HEAD, Trained
from demos.training.settings import Settings
from demos.training.tasks.registry import task_of
from tests.lessons.finetune.room import CHOSEN, Room
from tests.lessons.finetune.whole_run import whole_run
from tests.programs import printed

READER, OTHER = "a-reader-who-builds-on-runs", "another-reader-here-today"


@pytest.fixture(scope="module")
def first(room: Room) -> str:
    """The reader's run 1, on films."""
    *_, last = room.start("films", READER)
    run: str = last["kept"]
    return run


def second(room: Room, name: str, reader: str = READER, earlier: str = "1") -> Iterator[dict[str, Any]]:
    picked = ("sentence", UPLOAD, room.file[name], None, "", "", 1_500)
    return whole_run(room.trainer, picked, CHOSEN, ("a fine cat", "", ""), reader=reader, earlier=earlier)


def learner(room: Room, name: str, base: Path, settings: Settings | None = None) -> Learner:
    """What a run on this file begins as, before its first step."""
    settings = settings or read_settings(*CHOSEN)
    dataset = read_dataset("sentence", UPLOAD, room.file[name], None, "", "", 1_500, 0)
    made = Learner(task_of(dataset, settings), base, settings)
    made.prepare(made.task.features(made.model.tokenizer, dataset.train, made.limit))
    return made


def status(updates: list[dict[str, Any]]) -> str:
    told: str = json.loads(updates[-1]["curve"])["status"]
    return told


def test_the_encoder_begins_as_the_run_left_it_and_the_head_where_it_is_for_the_same(room: Room, first: str) -> None:
    folder = room.trainings.runs.folder(first)
    weights, head = load_file(folder / "model.safetensors"), load_file(folder / HEAD)
    pretrained = load_file(room.store.folder("tiny") / "model.safetensors")
    assert any(not torch.equal(weights[name], pretrained[name]) for name in weights)  # the run moved them
    begun = {name: learner(room, name, folder) for name in ("films", "pets")}
    for made in begun.values():
        made.compact.restore(made.model.encoder, made.padding)
        state = made.model.encoder.state_dict()
        assert all(torch.equal(state[name], one) for name, one in weights.items())
    fresh = learner(room, "films", room.store.folder("tiny"))
    for name, value in head.items():
        assert torch.equal(begun["films"].model.head.state_dict()[name], value)
        assert torch.equal(begun["pets"].model.head.state_dict()[name], fresh.model.head.state_dict()[name])
    assert [begun["films"].has_earlier_head, begun["pets"].has_earlier_head, fresh.has_earlier_head] == [
        True,
        False,
        False,
    ]
    wider = learner(room, "films", folder, Settings(hidden=(8,), max_length=16))
    assert not wider.has_earlier_head  # other layers on top


@pytest.mark.parametrize("hidden", [(), (32,)])  # 32 wide, as BERT's own dense layer: a standard class
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_the_downloaded_folder_is_the_same_start(
    room: Room, tmp_path: Path, hidden: tuple[int, ...], pooling: str, first: str
) -> None:
    settings = Settings(hidden=hidden, pooling=pooling, max_length=16)
    made = learner(room, "films", room.store.folder("tiny"), settings)
    made.keep(tmp_path / "kept")
    log = read_log(room.trainings.runs.folder(first))
    assert log is not None
    write_folder(Trained.read(tmp_path / "kept"), log, tmp_path / "bert-films")
    again = learner(room, "films", tmp_path / "bert-films", settings)
    assert again.has_earlier_head
    kept, downloaded = (
        [*one.model.head.state_dict().values(), *one.model.encoder.encoder.state_dict().values()]
        for one in (learner(room, "films", tmp_path / "kept", settings), again)
    )
    assert all(torch.equal(one, other) for one, other in zip(kept, downloaded, strict=True))


def test_a_second_run_on_the_first_says_so_everywhere(
    room: Room, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Started] = []
    shown_now = controller.shown_now

    def noted(*asked: Any, **named: Any) -> Iterator[Event]:
        for event in shown_now(*asked, **named):
            started.extend([event] if isinstance(event, Started) else [])
            yield event

    monkeypatch.setattr(controller, "shown_now", noted)
    *_, last = second(room, "pets")
    kept, record = last["kept"], last["history"][-1]
    assert (record.number, record.model) == (2, "Tiny random BERT, from run 1")
    assert not started[0].kept_head
    runs = room.trainings.runs
    assert runs.base(kept) == "tiny"
    log, trained = read_log(runs.folder(kept)), runs.trained(kept)
    assert log is not None
    assert (log.recipe.earlier, log.earlier) == ("bert-films", "run 1, trained on films.tsv")
    told = card(log, form_of(trained.task, trained.model.encoder.config), "")
    assert "began with the weights of an earlier run (run 1, trained on films.tsv), not with Tiny random BERT" in told
    assert "folder is called bert-films. The layers on top were new." in told
    first_log = read_log(runs.folder(first))
    assert first_log is not None
    assert "earlier run" not in card(first_log, form_of(trained.task, trained.model.encoder.config), "")
    # the exported program and command begin with the downloaded folder, and give the page's numbers
    again = repeated(log)
    assert "--earlier bert-films" in command_of(again)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no folder 'bert-films' here; download the earlier run"):
        again.base(room.store)
    write_folder(runs.trained(first), first_log, tmp_path / "bert-films")
    assert again.base(room.store).samefile(tmp_path / "bert-films")
    shutil.copy(room.file["pets"], tmp_path)
    said: dict[str, Any] = {}
    exec(compile(script_of(again, log, out=str(tmp_path / "out")), "run.py", "exec"), said)
    assert said["metrics"] == log.metrics
    weights = [load_file(folder / "model.safetensors") for folder in (runs.folder(kept), tmp_path / "out")]
    assert all(torch.equal(weights[0][name], weights[1][f"encoder.{name}"]) for name in weights[0])


def test_the_program_loads_the_downloaded_folder_and_runs(
    room: Room, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, history = room.trainer.services, room.trainings.readers.history(READER)
    start = start_of(services, "tiny", history, "1")
    log = read_log(room.trainings.runs.folder(first))
    assert log is not None
    write_folder(room.trainings.runs.trained(first), log, tmp_path / start.downloaded)
    for name in ("films", "pets"):
        shutil.copy(room.file[name], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    for name, kept in (("films", True), ("pets", False)):
        settings = Settings(epochs=1, max_length=16)
        recipe = Recipe("tiny", "sentence", UPLOAD, file=room.file[name], settings=settings, earlier=start.downloaded)
        task = task_of(recipe.dataset(), settings)
        code = program_of(start.spec, recipe, start.program(task))
        assert "demos" not in code
        assert "It begins with run 1: download its folder in “Export”" in code
        assert ("head.load_state_dict(earlier.head" in code) is kept
        assert f"The layers on top\n  {'are kept too' if kept else 'are new'}" in start_from_run(start, task)
        assert printed(code)[-1].startswith("test accuracy")
    assert "earlier" not in program_of(start.spec, Recipe("tiny"))


def test_the_menu_has_this_readers_kept_runs_alone(room: Room, first: str) -> None:
    services, readers = room.trainer.services, room.trainings.readers
    *_, last = room.start("pets", OTHER)
    assert [one.run for one in available_runs(services, readers.history(OTHER))] == [last["kept"]]
    assert start_of(services, "tiny", readers.history(OTHER), "1").folder != room.trainings.runs.folder(first)
    shown = offers_of(services, readers.history(READER), "model")
    titles = [title for title, _ in shown["choices"]]
    assert titles[0] == "the pre-trained model"
    assert titles[-1].endswith("accuracy on films.tsv")
    assert titles[-1].startswith("Run 1")
    assert shown["visible"]
    empty, told = offers_of(services, [], "1"), start_from_model(services, [])
    assert (empty["visible"], empty["value"]) == (False, "model")
    assert "menu “Start from” appears here" in told
    # run ids and numbers that are not this reader's name nothing, in the page as in a run
    for number in (first, "7", "<b>"):
        with pytest.raises(UserError, match=GONE):
            start_of(services, "tiny", readers.history(OTHER), number)
        assert status(list(second(room, "films", OTHER, number))) == GONE
    room.trainings.runs.discard(last["kept"])


def test_a_run_that_went_meanwhile_is_told_in_a_sentence(room: Room) -> None:
    reader = "a-reader-whose-run-goes-away"
    *_, last = room.start("films", reader)
    updates = second(room, "pets", reader)
    with room.trainings.queue.join():  # it waits in the line while the run goes
        next(updates)
        room.trainings.runs.discard(last["kept"])
    assert status(list(updates)) == GONE
    assert status(list(second(room, "pets", reader))) == GONE
    shown = offers_of(room.trainer.services, room.trainings.readers.history(reader), "1")
    assert (shown["visible"], shown["value"]) == (False, "model")
