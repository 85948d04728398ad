"""`python -m tests.notebook_runner NOTEBOOK...`: runs each from top to bottom, as a kernel does; a JSON line for each.

A notebook has a process of its own and an empty folder; only what all of them import is loaded before, which would cost
five seconds each. `%pip` installs nothing here: it fails where a package is missing, or is of another version.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from packaging.requirements import Requirement
from traitlets.config import Config

SHARED = "torch", "transformers", "safetensors.torch", "sklearn.linear_model", "scipy.stats", "pandas", "bertviz"
MODELS = "transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto", "peft"
ALONE = "--alone"  # one notebook, in this process and folder
TAIL = 3_000  # characters of what a notebook that fails has printed


def pip(line: str) -> None:
    """What `%pip install -q ...` is here."""
    command, quiet, *needed = shlex.split(line)
    assert (command, quiet) == ("install", "-q")
    for requirement in map(Requirement, needed):
        version = importlib.metadata.version(requirement.name)
        assert version in requirement.specifier, f"{requirement}: {version} is installed"


def run(notebook: Path) -> None:
    """All cells, in this process. Raises what the first faulty cell raises."""
    cells = nbformat.read(notebook, as_version=4).cells
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.register_magic_function(pip, "line", "pip")
    for cell in cells:
        if cell.cell_type == "code":
            shell.run_cell(cell.source).raise_error()


def run_apart(notebook: Path, folder: Path) -> tuple[bool, str]:
    """(whether all cells ran, what they printed), from a fork of this process that works in `folder`."""
    output = folder.with_suffix(".out")
    if not hasattr(os, "fork"):
        return run_in_new_process(notebook, folder)
    child = os.fork()
    if not child:
        status = 1
        try:
            os.chdir(folder)
            with output.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            run(notebook)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    return ended == 0, output.read_text(errors="replace", encoding="utf-8")


def run_in_new_process(notebook: Path, folder: Path) -> tuple[bool, str]:
    """As `run_apart`, where no process can be forked: what all import is loaded again for each."""
    command = [sys.executable, str(Path(__file__).resolve()), ALONE, str(notebook)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def main() -> None:
    """A line for each notebook: its name, whether it ran, its seconds, what it printed."""
    if sys.argv[1] == ALONE:
        run(Path(sys.argv[2]))
        return
    for name in (*SHARED, *MODELS):
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    with tempfile.TemporaryDirectory() as parent:
        os.environ["IPYTHONDIR"] = f"{parent}/ipython"
        for notebook in map(Path, sys.argv[1:]):
            folder, began = Path(parent) / notebook.stem, time.monotonic()
            folder.mkdir()
            ran, printed = run_apart(notebook.resolve(), folder)
            line = {"name": notebook.stem, "ran": ran, "seconds": round(time.monotonic() - began, 1)}
            print(json.dumps(line | {"printed": printed[-TAIL:]}), flush=True)


if __name__ == "__main__":
    main()
