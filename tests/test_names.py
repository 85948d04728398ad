"""Identifiers say what a thing is: words that mean another thing in every file are none (prose may use them)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

RIDDLES = {"one", "found", "kept", "asked", "told", "held", "watched", "once"}
# What events and files call their fields: readers of the API and of saved logs know them by these names.
WRITTEN = {"found", "watched", "baseline_watched", "kept_head"}
FILES = sorted(Path("demos").rglob("*.py"))


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """(line, name) of each variable, parameter, attribute, function and class that the source makes."""
    tree = ast.parse(source)
    fields = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    for node in ast.walk(tree):
        if id(node) in fields and isinstance(node, ast.Name) and node.id in WRITTEN:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def riddles(source: str) -> list[tuple[int, str]]:
    """Those that are such a word."""
    return [(line, name) for line, name in identifiers(source) if name.strip("_") in RIDDLES]


@pytest.mark.parametrize("source", ["one = 1", "def told(): ...", "x = [kept for kept in y]", "lambda asked: 1"])
def test_they_are_noticed(source: str) -> None:
    assert riddles(source)


def test_no_identifier_is_a_riddle() -> None:
    assert len(FILES) > 500
    found = {f"{path}:{line} {name}" for path in FILES for line, name in riddles(path.read_text(encoding="utf-8"))}
    assert found == set()


def test_the_page_s_scripts_share_few_names() -> None:
    """An object a script or a purpose; each is declared, and each declared one is used (tests/test_types.py)."""
    declarations = Path("demos/page/inside_bert.d.ts").read_text(encoding="utf-8")
    listed = set(re.findall(r"^  (\w+)\??[:(]", declarations.partition("\n}\n")[0], re.MULTILINE))
    files = [
        path
        for folder in ("demos", "assets/bertviz")
        for path in Path(folder).rglob("*")
        if path.suffix in {".js", ".py"}
    ]
    found = {name for path in files for name in re.findall(r"\binsideBert\??\.(\w+)", path.read_text(encoding="utf-8"))}
    assert found == listed
    assert len(listed) <= 25, sorted(listed)
