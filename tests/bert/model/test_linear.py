"""The code that oneDNN compiles for each shape of a product does not pile up in a process that is the app."""

import subprocess
import sys
from pathlib import Path

import pytest

from demos.bert.model.freed_memory import _of_glibc
from demos.bert.model.linear import _has_onednn

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import app  # which says how much is kept, before PyTorch is imported
import ctypes, threading, torch
from demos.bert.model.linear import _by_onednn

class Counts(ctypes.Structure):  # malloc.h's mallinfo2
    _fields_ = [(name, ctypes.c_size_t) for name in "arena a b c mapped d e used free f".split()]

def used():
    malloc = ctypes.CDLL(None).mallinfo2
    malloc.restype = Counts
    counts = malloc()
    return counts.used + counts.mapped

def multiply(first):
    with torch.inference_mode():
        for tokens in range(first, first + 300):
            _by_onednn(torch.rand(tokens, 64), weight, None)
    done.release()
    ended.wait()

torch.set_num_threads(1)
weight, done, ended = torch.rand(64, 64), threading.Semaphore(0), threading.Event()
before = used()
for first in range(1, 1_500, 300):  # a thread for each: their own caches live as long as they do
    threading.Thread(target=multiply, args=(first,)).start()
    done.acquire()
print((used() - before) // 2**20)
ended.set()
"""


@pytest.mark.skipif(not (_has_onednn() and _of_glibc("mallinfo2")), reason="only glibc counts what is in use")
def test_products_of_many_shapes_in_many_threads_take_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, check=True, text=True, cwd=ROOT, encoding="utf-8"
    )
    assert int(done.stdout.split()[-1]) < 200  # MiB: else 0.4 for each of 1,500
