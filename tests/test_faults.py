"""The table of faults names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("faults.md")
ROOT = TABLE.parents[1]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TABLE.read_text(encoding="utf-8"))))


def test_every_row_names_its_test() -> None:
    rows = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 15
    assert [row for row in rows if not re.search(r"\| `tests/[\w/]+\.py::test_\w+` \|$", row)] == []


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_the_test_is_there(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
