"""The end of the program is not that of a process forked from it, as ZeroGPU's workers are.

What it does while a training is under way is tested with the app itself, in tests/test_restart.py.
"""

import multiprocessing
from functools import partial

import pytest

from demos.page.ending import ending
from demos.training.service.training_service import TrainingService
from tests.systems import needs_fork


@needs_fork
@pytest.mark.parametrize("code", [0, 2])
def test_a_forked_process_leaves_all_as_it_is(code: int) -> None:
    trainings = TrainingService()
    worker = multiprocessing.get_context("fork").Process(target=partial(ending(trainings), code=code))
    worker.start()
    worker.join(30)
    assert worker.exitcode == code
    assert trainings.runs._home.path.is_dir()
