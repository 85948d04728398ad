"""Several processes train as one does: real processes over gloo, held against the run of a single one."""

import multiprocessing
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from demos.training.events import Finished, Step
from demos.training.learning.parallel import ALONE, joined
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset
from tests.systems import needs_fork


def take_part(rank: int, address: dict[str, str], run: tuple[Any, ...], told: Any) -> None:
    import os

    os.environ |= {**address, "RANK": str(rank), "LOCAL_RANK": str(rank)}
    torch.set_num_threads(1)
    with joined() as parallel:
        events = list(train(*run, None, parallel))
    told.put((rank, [type(event).__name__ for event in events], [one.loss for one in events if isinstance(one, Step)]))


@needs_fork
def test_two_processes_with_half_of_each_batch_train_as_one_does(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    settings = replace(quick, dropout=0.0, epochs=1, batch_size=9, class_weights=True)  # uneven shares
    single = list(train(dataset, base, settings, tmp_path / "single"))
    expected = [event.loss for event in single if isinstance(event, Step)]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    context = multiprocessing.get_context("fork")  # no second import of torch
    told = context.Queue()
    run = (dataset, base, settings, tmp_path / "both")
    both = [context.Process(target=take_part, args=(rank, address, run, told)) for rank in (0, 1)]
    for one in both:
        one.start()
    found = {rank: rest for rank, *rest in (told.get(timeout=200), told.get(timeout=200))}
    for one in both:
        one.join(60)
        assert one.exitcode == 0
    for _, losses in found.values():
        assert losses == pytest.approx(expected, abs=1e-4)
        assert len(set(losses)) > 1
    assert found[0][0][-1] == Finished.__name__
    assert set(found[1][0]) == {"Started", "Step"}  # it neither looks nor tells the end
    assert (tmp_path / "both" / "model.safetensors").is_file()


def test_alone_it_takes_everything() -> None:
    assert ALONE.share([3, 4, 5]) == [3, 4, 5]
    assert ALONE.agreed("time") == "time"
    assert ALONE.leads
