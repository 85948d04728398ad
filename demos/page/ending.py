"""The end of the program, by a signal or Ctrl+C: trainings under way are saved if there is time, and nothing is left
over.
"""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from demos.training.service.training_service import TrainingService

# Windows delivers no SIGTERM; there Ctrl+Break, which other systems lack, requests a program's end.
ASKED_TO_END = [kind for kind in signal.Signals if kind.name in ("SIGTERM", "SIGBREAK")]
ROOM_SECONDS = 1.0  # seconds to notify the members of rooms
END_SECONDS = 5.0  # for trainings under way: a container is killed ten seconds after the request to end


def ending(
    trainings: TrainingService, end_rooms: Callable[[float], object] = lambda _: None
) -> Callable[..., NoReturn]:
    """A function that ends this process, with exit code 0 or `code`; fit for a signal's handler.

    A second signal ends it at once.

    `end_rooms` is given the seconds that it may take.
    """
    process = os.getpid()

    def end(*_: Any, code: int = 0) -> NoReturn:
        if os.getpid() == process:  # else ZeroGPU's worker, forked from it
            for kind in (*ASKED_TO_END, signal.SIGINT):
                signal.signal(kind, signal.SIG_DFL)
            end_rooms(ROOM_SECONDS)
            trainings.stop_all(END_SECONDS)
            atexit._run_exitfuncs()  # they remove temporary folders
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)  # Python's own end aborts the process where a thread comes back from torch meanwhile

    return end
