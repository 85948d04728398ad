"""Freed memory goes back to the system, also what a dead thread has left between things that live on."""

import ctypes
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from demos.bert.model import freed_memory
from demos.bert.model.freed_memory import _of_glibc, give_back, keep_giving_back, keep_pages

ROOT = Path(__file__).resolve().parents[3]
STATUS = Path("/proc/self/status")


def resident() -> int:
    """This process's memory in MiB."""
    (line,) = (line for line in STATUS.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


@pytest.mark.skipif(not STATUS.exists() or not _of_glibc("malloc_trim"), reason="only glibc on Linux keeps it so")
def test_what_a_thread_left_is_given_back() -> None:
    """In a process of its own: this one's allocator may have room left for it all."""
    program = (
        "import sys, threading\n"
        "from demos.bert.model.freed_memory import give_back\n"
        "from tests.bert.model.test_freed_memory import resident\n"
        "kept = []\n"
        "def work():\n"
        "    blocks = [bytearray(b'x') * 100_000 for _ in range(2_000)]  # under the size that has pages of its own\n"
        "    kept.extend(blocks[::40])\n"
        "before = resident()\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "thread.join()\n"
        "held = resident() - before\n"
        "assert give_back() and len(kept) == 50\n"
        "print(held, resident() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, cwd=ROOT, encoding="utf-8"
    )
    held, left = map(int, done.stdout.split())
    assert held > 100  # else there is nothing to show
    assert left < held / 2


def test_it_is_given_back_again_and_again_until_told(monkeypatch: pytest.MonkeyPatch) -> None:
    given = threading.Semaphore(0)
    monkeypatch.setattr(freed_memory, "give_back", given.release)
    ended = keep_giving_back(0.01)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "memory")
    assert given.acquire(timeout=60)
    assert given.acquire(timeout=60)
    ended.set()
    thread.join(60)
    assert not thread.is_alive()


def test_without_glibc_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert give_back() is False
    assert keep_pages.__wrapped__() is False


@pytest.mark.skipif(not _of_glibc("mallopt"), reason="only glibc is told so")
def test_pages_kept_are_not_asked_for_again() -> None:
    """In a process of its own: a block of 16 MiB, made and freed again and again, takes 4,096 pages, or none."""
    program = (
        "import resource, sys\n"
        "from demos.bert.model.freed_memory import keep_pages\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "if sys.argv[1] == 'keep': assert keep_pages()\n"
        "def touch():\n"
        "    pieces = [b'x' * 2**20 for _ in range(16)]\n"
        "touch(); before = faults(); touch(); print(faults() - before)\n"
    )
    kept, given = (
        int(
            subprocess.run(
                [sys.executable, "-c", program, way], capture_output=True, check=True, text=True, encoding="utf-8"
            ).stdout
        )
        for way in ("keep", "leave")
    )
    assert kept < 200
    assert given > 3_000
