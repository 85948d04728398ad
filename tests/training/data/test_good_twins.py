"""Files that look broken and are not: each is read as what it is."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demos.training.sources import load_file
from tests.training.data.made_files import CONLL, FILMS, GOOD, films, lines, squad, table


@dataclass(frozen=True)
class Twin:
    """A file that looks broken and is not: what it must be read as."""

    name: str
    kind: str
    held: str | bytes
    found: set[Any]


def pieces(kind: str, data: Any) -> set[Any]:
    """All examples, as what they were in their file."""
    said: dict[str, Callable[[Any], Any]] = {
        "sentence": lambda one: (one.text, data.labels[one.label]),
        "entities": lambda one: (one.words, tuple(data.labels[label] for label in one.labels)),
        "question": lambda one: (one.context, one.answers, one.start),
        "choice": lambda one: (one.context, one.endings, one.label),
    }
    return {said[kind](one) for one in (*data.train, *data.validation, *data.test)}


MIXED = GOOD.replace("\n", "\r\n", 20).replace("\r\nfilm 7 ", "\rfilm 7 ")
QUOTED = [(f'first line {k}\r\nand, "so" he says,\n\nthe last', label) for k, (_, label) in enumerate(FILMS)]
CELLS = "".join('"{}",{}\n'.format(text.replace('"', '""'), label) for text, label in QUOTED)
NAMES = {((f"Ann{k}", "slept"), ("B-PER", "O")) for k in range(30)}
TWINS = {
    "byte order mark": Twin("a.csv", "sentence", b"\xef\xbb\xbf" + GOOD.encode(), set(FILMS)),
    "marks in the middle": Twin(
        "a.csv", "sentence", GOOD.replace("label", "\ufefflabel").replace("film 9", "\ufefffilm 9"), set(FILMS),
    ),
    "UTF-16 with its mark": Twin("a.csv", "sentence", GOOD.encode("utf-16"), set(FILMS)),
    "UTF-16, the other way": Twin("a.csv", "sentence", b"\xfe\xff" + GOOD.encode("utf-16-be"), set(FILMS)),
    "Windows-1252's quotes, CR lines": Twin(
        "a.csv", "sentence", films(("“so” café", "no")).replace("\n", "\r").encode("cp1252"),
        {*FILMS, ("“so” café", "no")},
    ),
    "CRLF, CR and LF": Twin("a.csv", "sentence", MIXED, set(FILMS)),
    "CR in JSON lines": Twin("a.jsonl", "sentence", lines().replace("\n", "\r"), set(FILMS)),
    "a million lines before the last row": Twin(
        "a.tsv", "sentence", table(FILMS[:-1], between="\t") + "\n" * 1_000_000 + "\t".join(FILMS[-1]), set(FILMS),
    ),
    "quoted newlines": Twin("a.csv", "sentence", "text,label\n" + CELLS, set(QUOTED)),
    "lone surrogates": Twin(
        "a.jsonl",
        "sentence",
        lines(of=[(f"\ud800{t}", f"{c}\udfff") for t, c in FILMS]),
        {(f"\ufffd{t}", f"{c}\ufffd") for t, c in FILMS},
    ),
    "a class called none": Twin(
        "a.csv",
        "sentence",
        table([(t, {"no": "none"}.get(c, c)) for t, c in FILMS]),
        {(t, {"no": "none"}.get(c, c)) for t, c in FILMS},
    ),
    "CoNLL with CRLF and a mark": Twin("a.conll", "entities", "\ufeff" + CONLL.replace("\n", "\r\n"), NAMES),
    "tags with lone surrogates": Twin(
        "a.jsonl",
        "entities",
        "\n".join(json.dumps({"tokens": [f"Ann{k}", "slept"], "tags": ["B-\ud800", "O"]}) for k in range(30)),
        {(words, ("B-\ufffd", "O")) for words, _ in NAMES},
    ),
    "answers in other places": Twin(
        "a.json", "question", squad("the bees", "bees", 99), {(f"the bees {k}", ("bees",), 4) for k in range(12)},
    ),
    "answers at infinity": Twin(
        "a.json",
        "question",
        squad("the bees", "bees", float("inf")).replace("Infinity", "1e999"),
        {(f"the bees {k}", ("bees",), 4) for k in range(12)},
    ),
    "a split that is null": Twin(
        "a.json",
        "question",
        squad("bees", "bees").replace('"title": "t"', '"split": null'),
        {(f"bees {k}", ("bees",), 0) for k in range(12)},
    ),
    "endings that are numbers": Twin(
        "a.jsonl",
        "choice",
        "\n".join(json.dumps({"question": f"{k} + 1?", "choices": [k, k + 1], "answer": 1}) for k in range(1, 30)),
        {("", (str(k), str(k + 1)), 1) for k in range(1, 30)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TWINS)
def test_a_good_twin_is_read_as_it_is(case: str, tmp_path: Path) -> None:
    twin = TWINS[case]
    (tmp_path / twin.name).write_bytes(twin.held if isinstance(twin.held, bytes) else twin.held.encode())
    assert pieces(twin.kind, load_file(twin.kind, tmp_path / twin.name)) == twin.found
