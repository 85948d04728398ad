"""A training in a separate thread, so that its CPU threads are its own and the page's lag does not delay it."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from demos.bert.model.cores import own_cpu_threads
from demos.bert.model.freed_memory import give_back

Event = TypeVar("Event")


def in_own_thread(make: Callable[[], Iterator[Event]], cpu_threads: int) -> Iterator[Event]:
    """The events of `make()`, which runs in a separate thread with `cpu_threads` threads for its products.

    Closing this generator ends that thread at its next event, and waits for it. An exception there is raised here.
    """
    events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
    left = threading.Event()

    def work() -> None:
        try:
            own_cpu_threads(cpu_threads)
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
        give_back()  # else each training leaves hundreds of megabytes with its dead thread
