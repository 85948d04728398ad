"""A program reads the quotes of a table as the page does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from demos.training.export.data_program import reading_of
from demos.training.export.recipe_file import Recipe
from demos.training.sources import reader_of

LABELS = ("-1", "0", "1")
TEXTS = [f"film {k}" for k in range(30)]
LOOSE = '"Great movie'


def rows(*more: str, text: str = "{}", label: str = "{}") -> str:
    """Lines of text and label, between them a tab; `more` are lines that follow."""
    lines = (f"{text.format(one)}\t{label.format(LABELS[k % 3])}\n" for k, one in enumerate(TEXTS))
    return "".join(lines) + "".join(f"{line}\n" for line in more)


HEADER, NAMED = '"text"\t"label"\n', "text\tlabel\n"
WHOLE = rows('"say ""hi"" twice"\t"0"', text='"{}"', label='"{}"')
# what is between quotes: (the table, whether the program takes quotes off by itself)
TABLES = {
    "the names": (HEADER + rows(), False),
    "labels": (NAMED + rows(label='"{}"'), False),
    "every cell, one with quotes inside": (HEADER + WHOLE, False),
    "nothing, a quote is the text's own": (NAMED + rows('a "so-so" film\t0', f"{LOOSE}\t1"), False),
    "the names, a quote is a text's own": (HEADER + rows(f"{LOOSE}\t1"), True),
    "every cell but one with a quote of its own": (HEADER + WHOLE + f'{LOOSE}\t"1"\n', True),
    "labels without names": (rows('"Bof" dit-il\t"0"', '""hi""\t"1"', label='"{}"'), True),
    "a part of a text at either end": (NAMED + rows('"good" and "bad"\t"0"', '"a ""b"\t1', '"\t0'), True),
    "cells over two lines": (NAMED + rows('"first\nsecond"\t0'), False),
    "cells below sep=": (f"sep=\t\n{HEADER}" + rows(f"{LOOSE}\t1"), True),
}  # fmt: skip


def by_page(data: bytes, name: str) -> list[tuple[str, str]]:
    return sorted((row.text, row.label) for row in reader_of("sentence").read(data, name).rows)


def by_program(recipe: Recipe) -> list[tuple[str, str]]:
    reading = reading_of(recipe)
    done: dict[str, Any] = {}
    exec(compile("\n".join((*reading.imports, reading.lines)), "reading", "exec"), done)
    return sorted((row["text"], row["label"]) for row in done["train"] + done["test"])


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case in TABLES for name in ("a.csv", "a.tsv")[: 2 - ("sep=" in case)]]
)
def test_quotes_between_tabs(case: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, taken_off = TABLES[case]
    (tmp_path / name).write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    read = by_page(table.encode(), name)
    recipe = Recipe("minilm", "sentence", "file", file=name)
    assert by_program(recipe) == read
    assert {label for _, label in read} == set(LABELS)
    assert len(read) >= 30
    assert ("unquoted" in reading_of(recipe).lines) is taken_off


def test_two_files_share_the_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.tsv", "b.csv"):
        Path(name).write_text(HEADER + rows(f"{LOOSE}\t1"), encoding="utf-8")
    recipe = Recipe("minilm", "sentence", "file", file="a.tsv", test_file="b.csv")
    assert reading_of(recipe).lines.count("def unquoted") == 1
    assert by_program(recipe) == sorted(2 * by_page(Path("a.tsv").read_bytes(), "a.tsv"))
