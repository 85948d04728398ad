"""A training in a thread of its own, so that its CPU threads are its own and the page's lag does not hold it up."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

import torch

from demos.training.events import Event


def in_own_thread(make: Callable[[], Iterator[Event]], cpu_threads: int) -> Iterator[Event]:
    """The events of `make()`, which runs in a thread of its own with `cpu_threads` threads for its products.

    Closing this generator ends that thread at its next event, and waits for it. An exception there is raised here.
    """
    events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
    left = threading.Event()

    def work() -> None:
        try:
            _own_cpu_threads(cpu_threads)
            generator = make()
            for event in generator:
                if left.is_set():
                    generator.close()  # type: ignore[attr-defined]
                    break
                events.put(event)
        except BaseException as error:
            events.put(error)
        finally:
            events.put(None)

    worker = threading.Thread(target=work, name="training", daemon=True)
    worker.start()
    try:
        while (event := events.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        left.set()
        worker.join()


def _own_cpu_threads(count: int) -> None:
    """Set torch's CPU threads for the calling thread only.

    OpenMP's count is a thread's own, but torch also keeps the last one set as the start value of threads that have not
    computed yet. A second, short-lived thread puts that start value back.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    restore = threading.Thread(target=torch.set_num_threads, args=(before,))
    restore.start()
    restore.join()
