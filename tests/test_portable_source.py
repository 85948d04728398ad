"""The whole source, read for what works on one system only: text files without an encoding, imports, types."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ONE_SYSTEM = {
    *("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog", "crypt", "spwd", "readline"),
    *("msvcrt", "winreg", "winsound", "_winapi", "uvloop"),
}
COMMANDS = ("run", "Popen", "call", "check_call", "check_output")
TEMPORARY = ("NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile")
OTHERS = ("FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "TextIOWrapper", "fdopen")
PACKED = ("gzip", "bz2", "lzma")


def sources() -> list[Path]:
    found = [ROOT / "app.py", *(ROOT / "demos").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return sorted([*found, *(ROOT / "assets").rglob("*.py")])


def mode_of(call: ast.Call, place: int) -> str | None:
    """The mode that a file is opened in, where it is written there; `place` is its number among the arguments."""
    written = [word.value for word in call.keywords if word.arg == "mode"] or call.args[place : place + 1]
    value = written[0].value if written and isinstance(written[0], ast.Constant) else None
    return value if isinstance(value, str) and set(value) <= set("rwaxbtU+") else None


def is_text_without_encoding(call: ast.Call, used: bool) -> bool:
    """Whether the call opens a text file, or text of another process, in the system's own encoding.

    `used`: something is done with its value at once, as with a file and not with a room that is opened.
    """
    words = {word.arg for word in call.keywords}
    if words & {"encoding", None}:
        return False
    is_method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("read_text", "write_text"):
        return is_method and len(call.args) <= (name == "write_text")
    if name == "open" and (not is_method or ast.unparse(call.func) in ("io.open", "codecs.open")):
        return "b" not in (mode_of(call, 1) or "r")
    if name == "open":
        of_archive = ast.unparse(call.func).split(".")[0] in PACKED
        mode = mode_of(call, 1 if of_archive else 0)
        if of_archive:
            return "t" in (mode or "rb")
        return "b" not in mode if mode else used and not call.args and words <= {"errors", "newline"}
    if name in COMMANDS:
        return bool(words & {"text", "universal_newlines"})
    if name in TEMPORARY:
        return "b" not in (mode_of(call, 0) or "w+b")
    return name in OTHERS and "b" not in (mode_of(call, 1) or "")


def texts_without_encoding(tree: ast.Module) -> Iterator[int]:
    """The lines of these calls."""
    used: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.withitem):
            used.add(node.context_expr)
        elif isinstance(node, ast.For | ast.comprehension):
            used.add(node.iter)
        elif isinstance(node, ast.Attribute):
            used.add(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_text_without_encoding(node, node in used):
            yield node.lineno


def one_system_imports(nodes: list[ast.stmt]) -> Iterator[int]:
    """The lines at which a module, as it is imported, imports a module that only some systems have."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            if any(name.split(".")[0] in ONE_SYSTEM for name in names):
                yield node.lineno
        elif isinstance(node, ast.Try):
            caught = " ".join(ast.unparse(handler.type) for handler in node.handlers if handler.type)
            if not any(name in caught for name in ("ImportError", "ModuleNotFoundError")):
                yield from one_system_imports(node.body)
            yield from one_system_imports([*node.orelse, *node.finalbody])
        elif isinstance(node, ast.If) and "sys.platform" not in ast.unparse(node.test):
            yield from one_system_imports([*node.body, *node.orelse])
        elif isinstance(node, ast.ClassDef | ast.With):
            yield from one_system_imports(node.body)


def faults(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    found = [(line, "a text file without an encoding") for line in texts_without_encoding(tree)]
    found += [(line, "a module that only some systems have") for line in one_system_imports(tree.body)]
    return [f"{name}:{line}: {what}" for line, what in sorted(found)]


def test_no_source_needs_one_system() -> None:
    assert [fault for path in sources() for fault in faults(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        "open(path)", "open(path, 'w')", "open(path, mode='a')", "open(path, mode)", "io.open(path)",
        "path.read_text()", "path.read_text(errors='replace')", "path.write_text(text)", "path.open('w')",
        "with path.open() as file: pass", "words = [line for line in path.open()]", "path.open().read()",
        "gzip.open(path, 'rt')", "NamedTemporaryFile('w')", "tempfile.TemporaryFile(mode='w+')",
        "subprocess.run(command, text=True)", "Popen(command, universal_newlines=True)", "logging.FileHandler(path)",
        "import resource", "from fcntl import flock", "import os, pwd", "if x:\n    import termios",
        "try:\n    import resource\nexcept OSError:\n    pass", "try:\n    import a\nfinally:\n    import msvcrt",
        "with x:\n    import posix", "class A:\n    import grp",
    ],
)  # fmt: skip
def test_what_needs_one_system_is_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(f"a = 1\n{line}\n", encoding="utf-8")
    (fault,) = faults(tmp_path / "source.py")
    assert fault.startswith("source.py:")


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'rb')", "open(path, encoding='utf-8')", "open(path, **options)", "path.open('rb')",
        "path.read_text(encoding='utf-8')", "read_text(path)", "path.read_text('utf-8')", "room = rooms.open()",
        "Image.open(path)", "gzip.open(path)", "NamedTemporaryFile()", "subprocess.run(command)",
        "subprocess.run(command, text=True, encoding='utf-8')", "archive.open('name', 'w')", "path.read_bytes()",
        "def late():\n    import resource", "try:\n    import resource\nexcept ImportError:\n    resource = None",
        "if sys.platform != 'win32':\n    import fcntl", "import resources",
    ],
)  # fmt: skip
def test_what_every_system_has_is_not(line: str, tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(f"a = 1\n{line}\n", encoding="utf-8")
    assert faults(tmp_path / "source.py") == []


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_types_hold_on_other_systems(platform: str) -> None:
    """Every attribute of Python's own modules that is read without a look at the system is there on each."""
    command = [sys.executable, "-m", "mypy", "--platform", platform, "--cache-dir", f".mypy_cache/{platform}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, encoding="utf-8")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
