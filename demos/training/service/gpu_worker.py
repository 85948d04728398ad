"""Where a training runs: on ZeroGPU in a forked worker with a GPU lent for some seconds, elsewhere in a thread."""

from __future__ import annotations

import spaces  # isort: skip  (before anything that touches CUDA; off ZeroGPU its decorator changes nothing)

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spaces.config import Config

from demos.bert.model.cores import cores
from demos.training.data.splits import Splits
from demos.training.events import Event
from demos.training.learning.controls import Control
from demos.training.loop import train
from demos.training.service.training_thread import in_own_thread
from demos.training.settings import Settings

ON_ZERO_GPU = bool(Config.zero_gpu)
START_SECONDS = 25  # a cold worker: CUDA, the weights, the first kernels
SENTENCES_PER_SECOND = 150  # a careful figure for BERT base; a shorter duration is granted sooner than it is outrun
CAN_PAUSE = not ON_ZERO_GPU
VISITOR_SECONDS = 120  # an anonymous visitor's whole day on ZeroGPU
DURATION_FACTOR = 1.5  # what ZeroGPU counts for a second on its dearest hardware (spaces/zero/configs.json)
MOST_SECONDS = int(VISITOR_SECONDS / DURATION_FACTOR)  # that may be asked for


def gpu_seconds(dataset: Splits, base: str, settings: Settings, *_: Any, **__: Any) -> int:
    """For how long to borrow the GPU, from what there is to compute (a score costs a third of a step)."""
    looks = settings.epochs * settings.evaluations + 1
    work = settings.epochs * len(dataset.train) + (looks * len(dataset.validation) + len(dataset.test)) / 3
    return min(MOST_SECONDS, START_SECONDS + round(work * dataset.sentences / SENTENCES_PER_SECOND))


@spaces.GPU(duration=gpu_seconds)
def train_in_worker(
    dataset: Splits, base: str, settings: Settings, folder: str, stop_file: str, pause_file: str = ""
) -> Iterator[Event]:
    """The loop, with everything it takes and yields fit to be pickled; the model comes back as files in `folder`.

    Seeds and loads inside: a ZeroGPU worker is used again, and its modules and random state with it.
    """
    waits = {"should_wait": Path(pause_file).exists} if pause_file else {}
    yield from train(dataset, base, settings, folder, Control(Path(stop_file).exists, **waits))


def run_training(
    dataset: Splits, base: Path, settings: Settings, folder: Path, stop_file: Path, pause_file: Path
) -> Iterator[Event]:
    """The events of one training, wherever this machine runs it. No pause on ZeroGPU, where a lent GPU would idle."""
    if ON_ZERO_GPU:
        # Ends by itself before the GPU is taken away, so that what was learned is kept.
        allowed = gpu_seconds(dataset, str(base), settings) - 8
        settings = replace(settings, max_seconds=min(settings.max_seconds, allowed))
        yield from train_in_worker(dataset, str(base), settings, str(folder), str(stop_file))
        return
    yield from in_own_thread(
        lambda: train_in_worker(dataset, str(base), settings, str(folder), str(stop_file), str(pause_file)),
        settings.threads or cores(),
    )
