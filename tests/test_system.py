"""What the system lacks is told once, and standard output takes what it has no character for."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from demos.system import is_device, lacks
from tests.conftest import ROOT

SAID = "Łódź → 🙂"


def test_it_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    for sentence in ("Here 100% of it is missing.", "Here 100% of it is missing.", "Here nothing is."):
        lacks(sentence)
    assert caplog.messages == ["Here 100% of it is missing.", "Here nothing is."]


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii", "utf-8"])
def test_what_no_code_page_has_is_printed(encoding: str) -> None:
    program = f"from demos.system import print_any_character as p; p(); print({SAID!r})"
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, check=True)
    assert done.stdout.decode(encoding).rstrip() == SAID.encode(encoding, "backslashreplace").decode(encoding)


@pytest.mark.slow
def test_the_command_tells_its_options_on_any_console() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "demos.training", "--help"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=True)
    assert b"demos.training \\u2026" in done.stdout


@pytest.mark.parametrize(
    ("name", "expected"),
    [("CON", True), ("nul.txt", True), ("com1.tar.gz", True), ("LPT9", True), ("console", False), ("com", False)],
)
def test_names_of_devices(name: str, expected: bool) -> None:
    assert is_device(name) == expected


@pytest.mark.slow
def test_numpy_has_no_threads_that_spin_while_they_wait_and_libraries_are_not_searched_for_what_is_unreachable() -> (
    None
):
    script = "import app, gc, json, threadpoolctl as pools; "
    script += "print(json.dumps([gc.isenabled(), gc.get_freeze_count(), pools.threadpool_info()]))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "OMP_"))}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, check=True, encoding="utf-8"
    )
    searches, left_out, pools = json.loads(done.stdout.splitlines()[-1])
    assert searches
    assert left_out > 100_000
    assert pools
    assert {pool["num_threads"] for pool in pools if pool["internal_api"] == "openblas"} <= {1}
