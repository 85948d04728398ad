"""Trainings on the page that go wrong: the reason is told, what was there stays, and nothing is left behind."""

import errno
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
import torch
from safetensors import SafetensorError

from demos.lessons.finetune.train import controller as page
from demos.page.guards import OUR_FAULT
from demos.training import loop
from demos.training.events import Event, Waiting
from demos.training.form_values import UPLOAD
from demos.training.learning import learner, model
from demos.training.learning.failures import DISK_FULL, NO_MEMORY, NO_MODEL, NOT_KEPT
from demos.training.learning.learner import Learner
from demos.training.service import training_service
from demos.training.service.gpu_worker import NoGPUError, run_training
from demos.training.service.training_service import BROKEN_OFF
from demos.training.tasks.classification.task import Classification
from tests.lessons.finetune.room import CHOSEN, Room


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
    "NaN loss": (Classification, "loss", lambda self, logits, targets: logits.sum() * torch.nan, "number at step 1"),
    "CUDA's memory": (Learner, "step", raising(torch.OutOfMemoryError("CUDA out of memory.")), NO_MEMORY),
    "Python's memory": (Learner, "logits", raising(MemoryError()), NO_MEMORY),
    "the CPU allocator's memory": (Learner, "step", lambda *_: torch.empty(2**58), NO_MEMORY),
    "disk full in the weights": (learner, "keep", half_written, DISK_FULL),
    "disk full in the head": (model, "save_file", raising(SafetensorError("I/O error: (os error 28)")), DISK_FULL),
    "disk full in the answers": (loop, "write_answers", raising(OSError(errno.ENOSPC, "No space left")), DISK_FULL),
    "disk broken": (model, "save_file", raising(SafetensorError("Error while serializing: I/O error")), NOT_KEPT),
    "torn weights": (learner, "load_encoder", raising(SafetensorError("Error while deserializing header")), NO_MODEL),
    "unknown fault": (loop, "write_answers", raising(KeyError("what")), OUR_FAULT),  # the weights are written already
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
    for stays in ("results", "scores", "history", "answer"):
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
    run, picked = room.trainings.runs.new(), ("sentence", UPLOAD, room.file["pets"], None, "", "", 1_500)
    updates = list(room.trainer.work(run, "a reader", "a model for a GPU", "model", *picked, *CHOSEN, on_cpu=True))
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
