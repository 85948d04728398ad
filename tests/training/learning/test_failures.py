"""A run that can't end well ends with one sentence and leaves nothing."""

import dataclasses
import errno
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

from demos.errors import UserError
from demos.training.events import Failed
from demos.training.learning import learner, model
from demos.training.learning.failures import DISK_FULL, NO_MEMORY, NO_MODEL, NOT_KEPT, sentence_of
from demos.training.learning.learner import Learner
from demos.training.loop import train
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.siamese.task import Siamese


def test_a_loss_that_explodes_ends_the_run_with_a_sentence(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Classification, "loss", lambda self, logits, targets: logits.sum() * math.inf)
    *_, last = train(dataset, base, quick, tmp_path / "run")
    assert isinstance(last, Failed)
    assert "step 1" in last.message
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written_is_told(dataset: Dataset, base: Path, quick: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    *_, last = train(dataset, base, dataclasses.replace(quick, epochs=1), tmp_path / "file" / "run")
    assert isinstance(last, Failed)
    assert "could not be saved" in last.message


def test_memory_that_cannot_be_had_is_told(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the allocator itself says when a step asks for an exabyte."""

    def greedy(self: Learner, *_: Any) -> None:
        torch.empty(2**58)

    monkeypatch.setattr(Learner, "step", greedy)
    *_, last = train(dataset, base, quick, tmp_path / "run")
    assert last == Failed(NO_MEMORY)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("how", ["weights", "head"])
def test_a_disk_that_fills_up_leaves_no_half_of_a_model(
    how: str, dataset: Dataset, base: Path, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        if how == "head":  # the weights are written already
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(model if how == "head" else learner, "save_file" if how == "head" else "keep", full)
    *_, last = train(dataset, base, dataclasses.replace(quick, epochs=1), tmp_path / "run")
    assert last == Failed(DISK_FULL)
    assert not (tmp_path / "run").exists()


def test_a_fault_of_our_own_is_raised_and_leaves_nothing(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(model, "save_file", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        list(train(dataset, base, dataclasses.replace(quick, epochs=1), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_every_way_out_of_memory_and_disk_has_its_sentence() -> None:
    told = "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 B"
    cublas = RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)")
    for error in (MemoryError(), torch.OutOfMemoryError("CUDA out of memory."), RuntimeError(told), cublas):
        assert sentence_of(error) == NO_MEMORY
    assert sentence_of(OSError(errno.ENOSPC, "No space left on device")) == DISK_FULL
    denied = OSError(errno.EACCES, "Permission denied")
    assert sentence_of(denied) == "The run could not be saved: Permission denied."
    assert sentence_of(OSError("no file named model.safetensors")) == NO_MODEL  # as transformers tells it
    assert sentence_of(SafetensorError("Error while deserializing header: invalid header length")) == NO_MODEL
    assert sentence_of(SafetensorError("Error while serializing: I/O error: Broken pipe")) == NOT_KEPT
    assert sentence_of(RuntimeError("shapes differ")) == ""


@pytest.mark.parametrize("missing", ["folder", "weights", "half of the weights", "configuration"])
def test_a_base_model_that_cannot_be_read_is_told(
    missing: str, dataset: Dataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    files, weights = tmp_path / "base", base / "model.safetensors"
    if missing != "folder":
        shutil.copytree(base, files)
    if missing == "weights":
        (files / weights.name).unlink()
    elif missing == "half of the weights":
        (files / weights.name).write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    elif missing == "configuration":
        (files / "config.json").write_text("{", encoding="utf-8")
    assert list(train(dataset, files, quick, tmp_path / "run")) == [Failed(NO_MODEL)]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("forged", ["..", "../other", "a/b", "/tmp", "", "a.stop", "a\n", "x" * 65, "ü"])
def test_an_id_that_a_page_forges_names_no_path(
    forged: str, dataset: Dataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    """A run's folder is deleted when it fails: with a path for its id that would be anybody's folder."""
    trainings = TrainingService()
    other = trainings.runs._home.path.parent / "other"
    for run in (forged, str(tmp_path)):
        trainings.runs.discard(run)
        for ask in (trainings.runs.folder, trainings.runs.stop, trainings.runs.pause, trainings.runs.go_on):
            with pytest.raises(UserError, match="no longer kept"):
                ask(run)
        with pytest.raises(UserError, match="no longer kept"):
            list(trainings.fine_tune(run, dataset, "tiny", base, quick))
    assert tmp_path.exists()
    assert not other.exists()
    assert list(trainings.runs._home.path.iterdir()) == []
    assert len(trainings.queue) == 0


def test_a_task_without_a_head_has_nothing_to_train_alone(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Classification, "head", Siamese.head)
    *_, last = train(dataset, base, dataclasses.replace(quick, trains="head"), tmp_path / "run")
    assert isinstance(last, Failed)
    assert last.message.startswith("There is nothing to train")
