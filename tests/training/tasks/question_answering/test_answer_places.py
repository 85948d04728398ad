"""Places of answers that count characters, UTF-16 units or UTF-8 bytes, or fit nowhere."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from demos.training.tasks.question_answering.answer_places import (
    CHARACTERS,
    UTF_8,
    UTF_16,
    ReadPlaces,
    StatedAnswer,
    find_answer,
    read_places,
    whole_place,
)

BEES = "Ann kept bees. Ann sold bees."
PARTY = "🎉 Ann 🎉 Ann"  # Ann at 2 and 8; in UTF-16 units at 3 and 10, in UTF-8 bytes at 5 and 14
CAFE = "café Ann é Ann"  # at 5 and 11, in bytes at 6 and 13


@pytest.mark.parametrize(
    ("context", "answer", "place", "start"),
    [
        (BEES, "Ann", 0, 0),
        (BEES, "Ann", 15, 15),
        (BEES, "Ann", 7, 0),
        (BEES, "Ann", 8, 15),
        (BEES, "Ann", 999, 15),
        (BEES, "Ann", 10**30, 15),
        (BEES, "Ann", -4, 0),
        ("ab  ab", "ab", 2, 0),  # as far from one as from the other
        ("aaaa", "aa", 1, 1),  # one over another
        ("ann and Ann", "Ann", 0, 8),  # with its capitals
        ("ann and ann", "ANN", 7, 8),
        (BEES, "Bo", 0, None),
        ("İİ x", "X", 0, None),  # its small letters are more, so that places would not fit
        ("a", "", 0, None),
    ],
)
def test_the_nearest_occurrence(context: str, answer: str, place: int, start: int | None) -> None:
    assert find_answer(context, answer, place) == start


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (12, 12), (12.0, 12), (12.7, 12), ("12", 12), (" 12.0 ", 12), (-1, -1), ("", None), (None, None), (True, None),
        (float("nan"), None), (float("inf"), None), ("1e3", None), ([3], None), ("9" * 5_000, None),
    ],
)  # fmt: skip
def test_a_place_is_a_whole_number_or_none(value: Any, place: int | None) -> None:
    assert whole_place(value) == place


@pytest.mark.parametrize(
    ("context", "places", "starts", "read"),
    [
        (PARTY, [2, 8], [2, 8], ReadPlaces(CHARACTERS, 2, 0)),
        (PARTY, [3, 10], [2, 8], ReadPlaces(UTF_16, 2, 2)),
        (PARTY, [5, 14], [2, 8], ReadPlaces(UTF_8, 2, 2)),
        (CAFE, [6, 13], [5, 11], ReadPlaces(UTF_8, 2, 2)),
        (CAFE, [5, 13], [5, 11], ReadPlaces(CHARACTERS, 2, 1)),  # two ways of counting: the nearest
        (PARTY, [10, None], [8, 2], ReadPlaces(UTF_16, 1, 1)),
        (PARTY, [None, None], [2, 2], ReadPlaces()),
        (PARTY, [1, 10], [2, 8], ReadPlaces(CHARACTERS, 2, 2)),  # inside the emoji in UTF-16
        (CAFE, [4, 13], [5, 11], ReadPlaces(CHARACTERS, 2, 2)),  # inside é in UTF-8
        (PARTY, [2, 99], [2, 8], ReadPlaces(CHARACTERS, 2, 1)),
        (PARTY, [-1, 8], [2, 8], ReadPlaces(CHARACTERS, 2, 1)),
        (BEES, [1, 15], [0, 15], ReadPlaces(CHARACTERS, 2, 1)),
    ],
)
def test_one_reading_of_a_whole_file(
    context: str, places: list[int | None], starts: list[int], read: ReadPlaces
) -> None:
    assert read_places([StatedAnswer(context, "Ann", place) for place in places]) == (read, starts)


def test_a_text_without_emoji_counts_alike_in_units() -> None:
    answers = [StatedAnswer(BEES, "Ann", 15), StatedAnswer(PARTY, "ANN", 10)]
    assert read_places(answers) == (ReadPlaces(UTF_16, 2, 1), [15, 8])
    assert read_places([]) == (ReadPlaces(), [])


def test_the_note_says_what_was_done_to_how_many() -> None:
    assert ReadPlaces(CHARACTERS, 40, 0).note == ""
    assert ReadPlaces(UTF_16, 40, 1).note == (
        "The answers’ positions count UTF-16 units, as a browser does; 1 of 40 was converted."
    )
    assert ReadPlaces(UTF_8, 4_000, 1_200).note == (
        "The answers’ positions count UTF-8 bytes; 1,200 of 4,000 were converted."
    )
    assert ReadPlaces(CHARACTERS, 40, 3).note == (
        "3 of 40 stated positions of answers do not fit the paragraph; they were moved to the answer’s nearest "
        "occurrence."
    )


TEXTS = st.text(st.sampled_from("ab é🎉"), min_size=1, max_size=30)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data())
def test_places_in_any_units_are_found_again(context: str, data: st.DataObject) -> None:
    """Whatever a reading says, the answer occurs where it begins, and what fits in characters is left as it is."""
    start = data.draw(st.integers(0, len(context) - 1))
    answer = context[start : data.draw(st.integers(start + 1, len(context)))]
    assert read_places([StatedAnswer(context, answer, start)]) == (ReadPlaces(CHARACTERS, 1, 0), [start])
    before = context[:start]
    for units, place in ((UTF_16, len(before.encode("utf-16-le")) // 2), (UTF_8, len(before.encode()))):
        assert StatedAnswer(context, answer, place).start_in(units) == start
    place = data.draw(st.integers(-2, 99))
    read, starts = read_places([StatedAnswer(context, answer, place)])
    assert context.startswith(answer, starts[0])
    every = [at for at in range(len(context)) if context.startswith(answer, at)]
    assume(read.units == CHARACTERS)
    assert starts == [min(every, key=lambda at: (abs(at - max(0, place)), at))]
