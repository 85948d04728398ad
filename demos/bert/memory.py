"""Memory that was freed, given back to the system: glibc keeps each thread's for a thread that may never come."""

from __future__ import annotations

import ctypes
import gc


def give_back() -> bool:
    """Collect what is unreachable and return free pages to the system; False where the C library can't (not glibc)."""
    gc.collect()
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return False
