"""Freed memory: the times when the C library (glibc) keeps it for later requests, and when it gives it back."""

import ctypes
import gc
import threading
from functools import cache
from typing import Any

from demos.system import lacks

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h's names and numbers
MIB = 2**20


def _of_glibc(name: str) -> Any:
    """A function of the C library; None where it is not glibc's, as on macOS, Windows and with musl."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):
        return None


def give_back() -> bool:
    """Collect what is unreachable and return free pages to the system; False where the C library can't (not glibc).

    Without it glibc keeps each thread's for a thread that may never come.
    """
    gc.collect()
    trim = _of_glibc("malloc_trim")
    return bool(trim and trim(0))


def keep_giving_back(seconds: float) -> threading.Event:
    """Give back every so many seconds, in a separate thread, until the event that is returned is set.

    Readers who have left leave drawings in circles of references, and free pages in the arenas of some twenty threads.
    """
    ended = threading.Event()
    if not _of_glibc("malloc_trim"):
        lacks("Here freed memory can't be given back on demand: after many readers the app holds more than it uses.")

    def work() -> None:
        while not ended.wait(seconds):
            give_back()

    threading.Thread(target=work, name="memory", daemon=True).start()
    return ended


@cache
def keep_pages() -> bool:
    """Keep up to 64 MiB of free pages at hand, for this process; False where the C library has no such setting.

    The limits that glibc comes to by itself after large blocks, set at once: else each training step returns its
    tensors' pages and requests them again, some 4,000 a step of the bundled model, 5% of its time.
    """
    tell = _of_glibc("mallopt")
    return bool(tell and tell(M_MMAP_THRESHOLD, 32 * MIB) and tell(M_TRIM_THRESHOLD, 64 * MIB))
