"""Trainings on the page that go wrong, are left, or are two at once: the reason is told, and nothing stays behind."""

from __future__ import annotations

import errno
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
import torch
from safetensors import SafetensorError

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.finetune.train import controller as page
from demos.lessons.finetune.train.controller import Trainer
from demos.page.guards import OUR_FAULT
from demos.page.services import Services
from demos.training import loop
from demos.training.events import Epoch, Event, Resumed, Scoring, Started, Step, Waiting, Watched
from demos.training.form_values import UPLOAD, read_dataset, read_settings, shown_settings
from demos.training.learning import learner, model
from demos.training.learning.failures import DISK_FULL, NO_MEMORY, NO_MODEL, NOT_KEPT
from demos.training.learning.learner import Learner
from demos.training.service import training_service
from demos.training.service import training_thread as thread
from demos.training.service.expected_time import Expected
from demos.training.service.gpu_worker import NoGPUError, run_training
from demos.training.service.training_service import BROKEN_OFF, TrainingService
from demos.training.settings import Settings
from demos.training.tasks.classification.task import Classification
from demos.widgets.tasks.registry import view_of
from tests.lessons.finetune.whole_run import whole_run
from tests.page.tiny_store import TinyStore

CHOSEN = shown_settings(Settings(epochs=1, learning_rate=3e-3, batch_size=16, max_length=16))


class Room:
    """A trainer with a service of its own, and two readers' files."""

    def __init__(self, loaded: LoadedModel, files: Path) -> None:
        self.store = TinyStore.written(loaded, files)
        self.trainings = TrainingService()
        self.trainer = Trainer(Services(self.store, "tiny", trainings=self.trainings))
        self.file = {}
        for name, labels in (("films", ("dull", "fine")), ("pets", ("cat", "dog"))):
            path = files / f"{name}.tsv"
            path.write_text("".join(f"one {labels[k % 2]} {name} number {k}\t{labels[k % 2]}\n" for k in range(40)))
            self.file[name] = str(path)
        self.kept, self.shown = self.finish("films")

    def start(self, name: str, reader: str = "") -> Iterator[dict[str, Any]]:
        picked = ("sentence", UPLOAD, self.file[name], None, "", 1_500)
        return whole_run(self.trainer, picked, CHOSEN, ("a fine cat", "", ""), reader=reader)

    def finish(self, name: str) -> tuple[str, dict[str, Any]]:
        *_, last = self.start(name)
        return last["kept"], last["shown"]

    @property
    def left(self) -> list[str]:
        """What is in the folder of the runs."""
        return sorted(path.name for path in self.trainings.runs._home.path.iterdir())

    def is_as_before(self) -> None:
        """Nobody is in line, no file but the kept run's is there, no thread trains, and the kept run answers."""
        assert len(self.trainings.queue) == 0
        assert self.left == [self.kept]
        assert not [thread for thread in threading.enumerate() if thread.name == "training"]
        assert "fine" in self.trainer.answer(self.kept, self.shown, "a fine film", "", "")


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """One CPU thread, a quick look at the line, and no sweep through all of Python's objects after each run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setattr(training_service, "LOOK_SECONDS", 0.01)
        patch.setattr(thread, "give_back", lambda: None)
        yield


@pytest.fixture(scope="module")
def room(quick: None, tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Room:
    return Room(tiny, tmp_path_factory.mktemp("tiny"))


def raising(error: BaseException) -> Callable[..., Any]:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    return broken


def half_written(kept: Any, task: Any, limit: int, folder: Path) -> None:
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"half")
    raise OSError(errno.ENOSPC, "No space left on device")


def silent(*_: Any) -> Iterator[Event]:
    yield Waiting(0, 0.0)  # and then its worker is gone, without a word


FAILURES: dict[str, tuple[Any, str, Any, str]] = {
    "NaN loss": (Classification, "loss", lambda self, logits, targets: logits.sum() * torch.nan, "infinite at step 1"),
    "CUDA's memory": (Learner, "step", raising(torch.OutOfMemoryError("CUDA out of memory.")), NO_MEMORY),
    "Python's memory": (Learner, "logits", raising(MemoryError()), NO_MEMORY),
    "the CPU allocator's memory": (Learner, "step", lambda *_: torch.empty(2**58), NO_MEMORY),
    "disk full in the weights": (learner, "keep", half_written, DISK_FULL),
    "disk full in the head": (model, "save_file", raising(SafetensorError("I/O error: (os error 28)")), DISK_FULL),
    "disk full in the answers": (loop, "write_kept", raising(OSError(errno.ENOSPC, "No space left")), DISK_FULL),
    "disk broken": (model, "save_file", raising(SafetensorError("Error while serializing: I/O error")), NOT_KEPT),
    "torn weights": (learner, "load_encoder", raising(SafetensorError("Error while deserializing header")), NO_MODEL),
    "unknown fault": (loop, "write_kept", raising(KeyError("what")), OUR_FAULT),  # the weights are written already
    "a GPU that is taken away": (training_service, "run_training", raising(NoGPUError("No GPU.")), "No GPU."),
    "a worker that says nothing": (training_service, "run_training", silent, BROKEN_OFF),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILURES)
def test_a_run_that_fails_tells_why_and_leaves_what_was_there(
    case: str, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, broken, told = FAILURES[case]
    monkeypatch.setattr(where, name, broken)
    updates: list[dict[str, Any]] = []
    try:
        for update in room.start("pets"):
            updates.append(update)
    except KeyError:
        assert case == "unknown fault"  # told, and raised for the log
    ended(updates[-1], told, room)
    room.is_as_before()


def ended(update: dict[str, Any], told: str, room: Room) -> None:
    """The last update says why in one sentence, gives the buttons back, and keeps what was learned before."""
    curve = json.loads(update["curve"])
    assert told in curve["status"]
    assert curve["done"] is True
    assert update["run"] == ""
    assert (update["start"]["interactive"], update["stop"]["interactive"]) == (True, False)
    assert update["pause"]["interactive"] is False
    assert update["kept"] in (room.kept, gr.skip())
    for stays in ("shown", "results", "scores", "history", "answer"):
        assert update[stays] == gr.skip()


def test_a_run_without_a_gpu_is_offered_on_the_cpu_as_it_is(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same choices, by another button: its run needs no GPU and begins as the bundled model."""
    asked: list[tuple[Any, ...]] = []

    def lent_to_nobody(*run: Any) -> Iterator[Event]:
        asked.append(run)
        raise NoGPUError("No GPU.")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(training_service, "run_training", lent_to_nobody)
        *_, last = room.start("pets")
    ended(last, "No GPU.", room)
    assert last["on_cpu"]["visible"] is True
    monkeypatch.setattr(page, "BUNDLED", "tiny")

    def noted(*run: Any) -> Iterator[Event]:
        asked.append(run)
        return run_training(*run)

    monkeypatch.setattr(training_service, "run_training", noted)
    run, picked = room.trainings.runs.new(), ("sentence", UPLOAD, room.file["pets"], None, "", 1_500)
    updates = list(room.trainer.work(run, "a reader", "", "", "a model for a GPU", *picked, *CHOSEN, on_cpu=True))
    assert json.loads(updates[-2]["curve"])["status"].startswith("Trained after")
    assert "on_cpu" not in room.trainer.finish(updates[-1]["phase"], run, "sentence", "", "", "")
    (*gpu, _), (*cpu, _) = ((dataset, settings, on_cpu, 0) for dataset, _, settings, *_, on_cpu, _ in asked)
    assert gpu == [*cpu[:2], False]
    assert cpu[2] is True
    room.trainings.runs.discard(run)
    room.is_as_before()


def test_a_base_model_whose_files_are_gone_is_told(room: Room, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(room.store, "files", tmp_path / "gone")
    *_, last = room.start("pets")
    ended(last, NO_MODEL, room)
    room.is_as_before()


@pytest.mark.parametrize("broken", ["keep_log", "record_of", "matrix_html"])
def test_what_breaks_after_the_training_takes_nothing_away(
    broken: str, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up with the log beside the model, or a picture can't be drawn."""
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(page, broken, raising(full if broken == "keep_log" else KeyError("what")))
    *_, last = room.start("pets")
    assert (DISK_FULL if broken == "keep_log" else OUR_FAULT) in last["cost"]
    assert last["run"] == ""
    assert (last["start"]["interactive"], last["stop"]["interactive"]) == (True, False)
    assert last["kept"] == gr.skip()
    room.is_as_before()


@pytest.mark.parametrize("kind", [Waiting, Started, Scoring, Epoch, Watched, Step])
def test_a_reader_who_is_gone_leaves_nothing_at_any_moment(
    kind: type[Event], room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "BEAT_SECONDS", 0)  # each event reaches the page
    seen: list[type[Event]] = []
    shown_now = page.shown_now

    def noted(*asked: Any, **named: Any) -> Iterator[Event]:
        for event in shown_now(*asked, **named):
            seen.append(type(event))
            yield event

    monkeypatch.setattr(page, "shown_now", noted)
    others = room.trainings.queue.join() if kind is Waiting else None
    updates = room.start("pets")
    for _ in updates:
        if seen[-1:] == [kind]:
            break
    assert seen[-1] is kind
    updates.close()  # type: ignore[attr-defined]  # as gradio does when the page is gone
    if others:
        room.trainings.queue.leave(others)
    room.is_as_before()


def test_who_leaves_at_the_last_event_has_the_run_until_the_session_ends(room: Room) -> None:
    updates = room.start("pets")
    last = next(update for update in updates if update["kept"])
    updates.close()  # type: ignore[attr-defined]
    assert room.left == sorted([room.kept, last["kept"]])
    room.trainings.runs.discard(last["kept"])  # what the page's State does when its session is deleted
    room.is_as_before()


def test_two_at_once_see_their_own_alone(room: Room) -> None:
    """Two threads, as two requests; the line makes one wait, whichever comes second."""
    updates: dict[str, list[dict[str, Any]]] = {"films": [], "pets": []}
    together = threading.Barrier(2)

    def read(name: str) -> None:
        together.wait()
        for update in room.start(name):
            updates[name].append(update)

    def waits(name: str) -> bool:
        return any(
            "ahead of yours" in json.loads(update["curve"] or "{}").get("status", "") for update in updates[name]
        )

    readers = [threading.Thread(target=read, args=(name,)) for name in updates]
    with room.trainings.queue.join():  # a third one trains until both stand in line
        for reader in readers:
            reader.start()
        end = time.monotonic() + 60
        while not all(map(waits, updates)) and time.monotonic() < end:
            time.sleep(0.02)
    for reader in readers:
        reader.join()
    kept = {name: mine[-1]["kept"] for name, mine in updates.items()}
    assert len({room.kept, *kept.values()}) == 3
    for name, mine in updates.items():
        told = [json.loads(update["curve"]) for update in mine]
        assert {one["run"] for one in told} == {kept[name]} == {mine[0]["run"]}
        assert f"{name}.tsv" in told[-1]["status"]
        assert waits(name)
        (record,) = mine[-1]["history"]
        assert (record.run, record.data) == (kept[name], f"{name}.tsv")
        own, other = {"films": ("fine", "cat"), "pets": ("cat", "fine")}[name]
        answer = room.trainer.answer(kept[name], mine[-1]["shown"], "a fine cat", "", "")
        assert own in answer.replace("a fine cat", "")
        assert other not in answer.replace("a fine cat", "")
    for run in kept.values():
        room.trainings.runs.discard(run)
    room.is_as_before()


@pytest.mark.parametrize(("reason", "active"), [("asked", True), ("time", False)])
def test_pause_can_be_pressed_again_until_its_time_is_spent(
    room: Room, monkeypatch: pytest.MonkeyPatch, reason: str, active: bool
) -> None:
    monkeypatch.setattr(page, "CAN_PAUSE", True)
    events = [Waiting(0, 0.0), Resumed(3, reason), Resumed(7, reason)]
    monkeypatch.setattr(room.trainings, "fine_tune", lambda *_, **__: (event for event in events))
    picked = ("sentence", UPLOAD, room.file["films"], None, "", 1_500)
    run = room.trainings.runs.new()
    updates = room.trainer.work(run, "a reader", "", "", "tiny", *picked, *CHOSEN)
    resumed = [update["phase"] for update in updates if "phase" in update][:2]
    assert len(set(resumed)) == 2  # else the page would not hear the second one
    for phase in resumed:
        changed = room.trainer.finish(phase, run, "sentence", "", "", "")
        assert changed["pause"]["interactive"] == active
    room.trainings.runs.discard(run)


def test_the_time_left_begins_at_the_time_told_before_start(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room.trainings, "expected", lambda *_: Expected(700.0, False))  # not a second, in truth
    monkeypatch.setattr(page, "BEAT_SECONDS", 0.0)
    chosen = shown_settings(Settings(epochs=4, batch_size=2, max_length=16))
    picked = ("sentence", UPLOAD, room.file["films"], None, "", 1_500)
    dataset = read_dataset(*picked, 0)
    assert "about <b>11 min 40 s</b>" in room.trainer.cost("tiny", dataset, read_settings(*chosen))
    run = room.trainings.runs.new()
    updates = list(room.trainer.work(run, "a reader", "", "", "tiny", *picked, *chosen))
    room.trainings.runs.discard(run)
    told = [json.loads(update["curve"])["status"] for update in updates if "curve" in update]
    first = next(status for status in told if " left" in status)
    assert re.search(r"about (11 min|10 min [3-5]\d s)", first), first


@pytest.mark.parametrize("now", ["sentence", "pair"])
def test_what_was_learned_is_shown_under_its_own_task_alone(room: Room, now: str) -> None:
    picked = ("sentence", UPLOAD, room.file["films"], None, "", 1_500)
    *_, last = whole_run(room.trainer, picked, CHOSEN, boxes=("a fine cat", "", ""), now=now)
    assert last["results"]["visible"] == (now == "sentence")
    assert last["shown"]["kind"] == "sentence"  # by which the page shows it when its task is chosen again
    assert len(last["history"]) == 1
    sample = view_of("sentence").boxes[0][1]
    again = room.trainer.answer(last["kept"], last["shown"], "a fine cat" if now == "sentence" else sample, "", "")
    assert last["answer"] == again  # the other task's boxes hold something else by now
    room.trainings.runs.discard(last["kept"])
    room.is_as_before()


def test_a_kept_run_whose_files_were_cleared_away_is_told_as_gone(room: Room) -> None:
    run, shown = room.finish("pets")
    room.trainings.runs._trained.pop(run)
    for file in room.trainings.runs.folder(run).iterdir():
        file.unlink()
    with pytest.raises(UserError, match="no longer kept"):
        room.trainer.answer(run, shown, "a cat", "", "")
    room.is_as_before()
