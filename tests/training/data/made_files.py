"""Files as people choose them, as text: sentences, pairs, items, names and questions, some rows of them changed."""

import json
from collections.abc import Sequence
from typing import Any

FILMS = [(f"film {k} is one of {7 * k}", ("no", "yes")[k % 2]) for k in range(40)]
PAIRS = [(f"cat {k}", f"dog {k}", ("no", "yes")[k % 2]) for k in range(40)]
ITEMS = [(f"Ann sees shop {k}.", "She", f"buys {k}", f"sells {k}", f"eats {k}", f"hops {k}", k % 4) for k in range(30)]
ITEM_NAMES = ("context", "start", "ending0", "ending1", "ending2", "ending3", "label")
CONLL = "".join(f"Ann{k}\tB-PER\nslept\tO\n\n" for k in range(30))


def table(rows: Sequence[Sequence[Any]], head: Sequence[str] = ("text", "label"), between: str = ",") -> str:
    return "".join(between.join(map(str, row)) + "\n" for row in (head, *rows))


def films(*more: Sequence[str], between: str = ",") -> str:
    return table([*FILMS, *more], between=between)


def pairs(*more: Sequence[str]) -> str:
    return table([*PAIRS, *more], ("s1", "s2", "label"), "\t")


def split(*names: str) -> str:
    return table([(*row, name) for row in FILMS for name in names], ("text", "label", "split"))


def changed(number: int, **cells: Any) -> str:
    """The endings as TSV, the row of this number with other cells."""
    rows = [dict(zip(ITEM_NAMES, item, strict=True)) for item in ITEMS]
    rows[number - 2] |= cells
    return table([list(row.values()) for row in rows], ITEM_NAMES, "\t")


def lines(*more: Any, of: Sequence[tuple[str, str]] = FILMS) -> str:
    return "\n".join(json.dumps(row) for row in [*({"text": text, "label": label} for text, label in of), *more])


def squad(context: str, answer: Any, start: Any = 0, count: int = 12) -> str:
    """SQuAD's JSON with one question each on so many paragraphs."""
    asked = [{"id": "1", "question": "What?", "answers": [{"text": answer, "answer_start": start}]}]
    paragraphs = [{"context": f"{context} {k}", "qas": asked} for k in range(count)]
    return json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]})


GOOD = table(FILMS)
