"""A training within the memory budget: what it holds, what goes for it, what is told where there is no room."""

from pathlib import Path

import pytest
from safetensors.torch import load_file

from demos.bert.model.fetching import WEIGHTS
from demos.bert.model.once_cache import Recent
from demos.training.events import Failed, Finished
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


@pytest.fixture
def trainings() -> TrainingService:
    return TrainingService()


def test_a_training_holds_its_memory_and_fails_in_one_sentence_without(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    weights = sum(tensor.numel() * 4 for tensor in load_file(base / WEIGHTS).values())
    events = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick)
    next(events)
    assert trainings.memory.usage() == {"trainings": 4 * weights}
    events.close()
    assert trainings.memory.usage() == {}
    trainings.memory.most = 3.9 * weights
    for told, needed in ((0, "17 MB"), (20 * 10**6, "20 MB")):
        (last,) = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick, nbytes=told)
        assert isinstance(last, Failed)
        assert last.message.startswith(f"This needs {needed} of memory, but the server has only 15 MB left;")
    assert len(trainings.queue) == 0
    assert list(Path(trainings.runs._home.path).iterdir()) == []  # nothing is left behind


def test_what_is_thrown_away_never_pushes_out_what_a_student_keeps(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    weights = sum(tensor.numel() * 4 for tensor in load_file(base / WEIGHTS).values())
    trainings.memory.most = 7 * weights
    copies: Recent[int] = Recent(size=float, budget=trainings.memory, kind="copies", lasting=True)
    models: Recent[int] = Recent(size=float, budget=trainings.memory, kind="base models")
    copies.put("a student's", 4 * weights)
    (last,) = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick, keep=False)
    assert isinstance(last, Failed)
    assert "a student's" in copies
    trainings.memory.most = 8 * weights
    models.put("can be read again", weights)
    *_, last = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick, keep=False)
    assert isinstance(last, Finished)
    assert ("a student's" in copies, "can be read again" in models) == (True, False)
    trainings.memory.most = 7 * weights
    *_, last = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick)
    assert isinstance(last, Finished)  # a student's own training: what was used long ago goes
    assert "a student's" not in copies
