"""Every benchmark runs to its end in its shortest form, by the command that the README names, and prints figures."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from demos.training.tasks.classification.data import load_emotion

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
SECONDS = 300
NO_FILE = "no file was named|name a text file"
# These watch the app that all tests share.
IN_THE_APP = {"attention_speed", "cost", "first_step", "hall", "page", "redraw", "room", "tours"}
ALONE = {"drawing", "training_speed"}  # in a process of their own: one counts its threads, one once broke the command
Run = Callable[..., tuple[int, str, str]]
FILE = {  # what those benchmarks read that want a file: its name, and the function that makes its text
    "agreement": ("sts-dev.csv", "pairs"),
    "encoding_speed": ("lines.tsv", "classes"),
    "features": ("train.tsv", "classes"),
    "gpu_speed": ("lines.tsv", "classes"),
    "pretraining": ("documents.txt", "documents"),
    "quality": ("sst2/train.tsv", "classes"),
}


def sentences() -> list[str]:
    return [example.text for example in load_emotion().train[:60]]


def pairs() -> str:
    """STS-B's form: genre, file, year, number, score, two sentences."""
    lines = sentences()
    both = pairwise(lines[:21])
    return "".join(f"main-captions\tmade\t2012\t{n:04}\t{n % 6}.000\t{a}\t{b}\n" for n, (a, b) in enumerate(both))


def classes() -> str:
    """SST-2's form: sentence, class."""
    return "".join(f"{line}\t{number % 2}\n" for number, line in enumerate(sentences()))


def documents() -> str:
    """One paragraph a line, an empty line between documents."""
    lines = sentences()
    return "\n\n".join("\n".join(lines[at : at + 5]) for at in range(0, len(lines), 5))


def asked(name: str, folder: Path) -> list[str]:
    """The benchmark's name, and the path of a tiny file where it wants one."""
    if name not in FILE:
        return [name]
    path, make = FILE[name]
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(globals()[make](), encoding="utf-8")
    return [name, str(folder / path)]


def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """(exit status, output, errors) of the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "tests/benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **environment},
        encoding="utf-8",
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """The same in this process, which has imported what most of them import; it stays as it was.

    In a thread apart: Playwright may be at work in this one, for the tests of the browser.
    """
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(sys, "path", [*sys.path])
    threads = torch.get_num_threads()
    main = runpy.run_path(str(FOLDER / "__main__.py"), run_name="benchmarks")["main"]

    def run_here(*arguments: str, **environment: str) -> tuple[int, str, str]:
        os.environ.update(environment)
        with ThreadPoolExecutor(1) as apart:
            status = apart.submit(main, list(arguments)).result()
        return status, *capsys.readouterr()

    yield run_here
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", NAMES)
def test_the_shortest_form_runs_and_prints_figures(
    name: str, tmp_path: Path, here: Run, request: pytest.FixtureRequest
) -> None:
    ways = run if name in ALONE else here
    shared = {"APP_URL": request.getfixturevalue("app_url")} if name in IN_THE_APP else {}
    status, told, errors = ways("--short", *asked(name, tmp_path), **shared)
    assert status == 0, told + errors
    head, _, figures = told.partition(f"== {name}\n")
    if "no Chromium on this machine" in figures and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine")
    assert re.search(r"\d", figures), told
    assert not re.search(NO_FILE, figures)
    assert re.search(r"^processor: .*AMX (yes|no), AVX-512 BF16 (yes|no)", head, flags=re.M)
    assert re.search(r"^Python [\d.]+, torch [\d.]+", head, flags=re.M)


def test_a_benchmark_without_its_file_says_so_and_the_next_one_runs(here: Run) -> None:
    wanting = sorted(FILE.keys() - {"gpu_speed"})  # which has sentences of its own
    status, told, _ = here("--short", *wanting)
    assert status == 0
    assert len(re.findall(NO_FILE, told)) == len(wanting)


def test_a_figure_that_is_missed_is_told_and_the_next_one_runs(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missed() -> None:
        raise SystemExit("1.2 times, where 1.3 was asked")

    for name, main in (("agreement", missed), ("quality", lambda: print("figures"))):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(main=main))
    status, told, _ = here("agreement", "quality")
    assert status == 1
    assert told.endswith("== agreement\n  MISSED: 1.2 times, where 1.3 was asked\n== quality\nfigures\n")


def test_an_unknown_name_is_one_sentence() -> None:
    status, told, errors = run("speed")
    assert (status, told) == (2, "")
    assert errors.startswith("There is no benchmark 'speed'; there are ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("named", [["redraw"], []], ids=["one-without-options", "none"])
def test_an_option_of_no_benchmark_is_one_sentence(named: list[str]) -> None:
    status, told, errors = run(*named, "--students", "3")
    assert (status, told) == (2, "")
    assert errors == "--students is an option of no benchmark that was named.\n"
