"""The place of a training: on ZeroGPU a forked worker with a GPU lent for some seconds, elsewhere a thread."""

import spaces  # isort: skip  (before anything that touches CUDA; off ZeroGPU its decorator changes nothing)

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spaces.config import Config

from demos.bert.model.cores import cores
from demos.errors import UserError
from demos.training.data.splits import Splits
from demos.training.events import Event
from demos.training.learning.stop_and_pause import Control
from demos.training.loop import train
from demos.training.service.gpu_quota import KEEP_SECONDS, reason, seconds_to_ask
from demos.training.service.training_thread import in_own_thread
from demos.training.settings import Settings

log = logging.getLogger(__name__)
ON_ZERO_GPU = bool(Config.zero_gpu)
CAN_PAUSE = not ON_ZERO_GPU


class NoGPUError(UserError):
    """ZeroGPU lent no GPU, or took it back; the same run is possible on the CPU."""


def lent_seconds(*_: Any, lent: int = 0, **__: Any) -> int:
    """The duration that `spaces` requests from ZeroGPU: it is called with the worker's arguments."""
    return lent


@spaces.GPU(duration=lent_seconds)
def train_in_worker(
    dataset: Splits, base: str, settings: Settings, folder: str, stop_file: str, lent: int = 0
) -> Iterator[Event]:
    """The loop, with everything it takes and yields fit to be pickled; the model comes back as files in `folder`.

    Seeds and loads inside: a ZeroGPU worker is used again, and its modules and random state with it. `lent` is for how
    many seconds it has a GPU. No pause, since a lent GPU would idle.
    """
    yield from train(dataset, base, settings, folder, Control(Path(stop_file).exists))


def run_training(
    dataset: Splits,
    base: Path,
    settings: Settings,
    folder: Path,
    stop_file: Path,
    pause_file: Path,
    on_cpu: bool = False,
    work: float = 0.0,
) -> Iterator[Event]:
    """The events of one training, wherever this machine runs it; `on_cpu` leaves its GPU, or a lent one, alone.

    On ZeroGPU a GPU is requested for the `work` seconds that the training is expected to take. Raises NoGPUError.
    """
    if ON_ZERO_GPU and not on_cpu:
        yield from _on_lent_gpu(dataset, base, settings, folder, stop_file, work)
        return
    control = Control(stop_file.exists, should_wait=pause_file.exists)
    yield from in_own_thread(
        lambda: train(dataset, base, settings, folder, control, on_cpu=on_cpu), settings.threads or cores()
    )


def _on_lent_gpu(
    dataset: Splits, base: Path, settings: Settings, folder: Path, stop_file: Path, work: float
) -> Iterator[Event]:
    lent, began = seconds_to_ask(work), time.monotonic()
    # Ends by itself before the GPU is taken away, so that what was learned is kept.
    settings = replace(settings, max_seconds=min(settings.max_seconds, lent - KEEP_SECONDS))
    try:
        yield from train_in_worker(dataset, str(base), settings, str(folder), str(stop_file), lent=lent)
    except Exception as error:
        log.warning("no GPU for a run: %r", error)
        raise NoGPUError(reason(error, lent, time.monotonic() - began)) from error
