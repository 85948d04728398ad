"""Dates in words: read back by another rule, with links that say which word each digit renders."""

import datetime
import re

import pytest

from demos.bert.translation import dates
from demos.bert.translation.grammar import HELD_OUT

PAIRS = dates.sentences(3_000, 1)
ORDINAL = {name: number for number, name in enumerate(dates.ORDINALS)} | {"thirtieth": 30}


def number_of(words: list[str]) -> int:
    """twenty third -> 23, nineteen -> 19, oh five -> 5."""
    return sum(
        ORDINAL.get(word) or (dates.NUMBERS.index(word) if word in dates.NUMBERS else 0)
        or (10 * dates.TENS.index(word) if word in dates.TENS else 0)
        for word in words
    )  # fmt: skip


def year_of(words: list[str]) -> int:
    """Century and rest, or thousands."""
    if "thousand" in words:
        return 2000 + number_of(words[2:])
    if words[1:] == ["hundred"]:
        return 100 * number_of(words[:1])
    return 100 * number_of(words[:1]) + number_of(words[1:])


def test_each_is_a_true_date() -> None:
    assert len({pair.source for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        date = datetime.date.fromisoformat("".join(pair.target))
        words = " ".join(pair.source)
        found = re.fullmatch(r"(?:(\w+) , )?(.*) , (.*)", words)
        assert found is not None
        weekday, middle, year = found.groups()
        assert year_of(year.split()) == date.year
        assert weekday is None or weekday == date.strftime("%A").lower()
        rest = [word for word in middle.split() if word not in ("the", "of")]
        (month,) = (word for word in rest if word in dates.MONTHS)
        assert month == date.strftime("%B").lower()
        assert number_of([word for word in rest if word != month]) == date.day


def test_the_links() -> None:
    pair = dates.example()
    assert " ".join(pair.source) == "sunday , the twentieth of july , nineteen sixty nine"
    rendered = [[pair.source[place] for place in places] for places in pair.links]
    assert list(zip(pair.target, rendered, strict=True)) == [
        ("1", ["nineteen"]), ("9", ["nineteen"]), ("6", ["sixty"]), ("9", ["nine"]), ("-", []),
        ("0", ["july"]), ("7", ["july"]), ("-", []), ("2", ["twentieth"]), ("0", ["twentieth"]),
    ]  # fmt: skip
    for pair in PAIRS:
        assert len(pair.links) == len(pair.target) == 10
        for digit, places in zip(pair.target, pair.links, strict=True):
            assert len(places) == (digit != "-")


@pytest.mark.parametrize(
    ("year", "words"),
    [
        (1900, "nineteen hundred"), (1905, "nineteen oh five"), (1914, "nineteen fourteen"),
        (1998, "nineteen ninety eight"), (2000, "two thousand"), (2009, "two thousand nine"),
        (2010, "twenty ten"), (2040, "twenty forty"),
    ],
)  # fmt: skip
def test_years(year: int, words: str) -> None:
    said = dates.year_in_words(year)
    assert " ".join(word for word, _ in said) == words
    assert "".join(digits for _, digits in said) == str(year)


def test_what_is_held_out() -> None:
    assert dates.held_out() == tuple(dates.sentences(HELD_OUT + 50, 0)[:HELD_OUT])
    assert dates.held_out()[0] == dates.example()
