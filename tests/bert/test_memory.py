"""Freed memory goes back to the system, also what a dead thread has left between things that live on."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import pytest

from demos.bert.memory import give_back

STATUS = Path("/proc/self/status")


def resident() -> int:
    """This process's memory in MiB."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


@pytest.mark.skipif(
    not STATUS.exists() or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc on Linux keeps it so"
)
def test_what_a_thread_left_is_given_back() -> None:
    kept: list[bytearray] = []

    def work() -> None:
        blocks = [bytearray(b"x") * 100_000 for _ in range(2_000)]  # under the size that has pages of its own
        kept.extend(blocks[::40])

    before = resident()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    held = resident() - before
    assert held > 100  # else there is nothing to show
    assert give_back()
    assert resident() - before < held / 2
    assert len(kept) == 50


def test_without_glibc_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert give_back() is False
