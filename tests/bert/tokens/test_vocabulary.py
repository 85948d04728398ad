"""The vocabulary explorer against the tokenizer's own vocabulary, counted in another way."""

import pytest

from demos.bert.model.models import ModelStore
from demos.bert.tokens.vocabulary import (
    BEGINS,
    CHARACTER,
    CONTAINS,
    CONTINUATION,
    ENDS,
    KINDS,
    SPECIAL,
    UNUSED,
    WORD,
    Vocabulary,
    read_vocabulary,
)
from demos.errors import UserError


@pytest.fixture(scope="module")
def ids(store: ModelStore) -> dict[str, int]:
    vocab: dict[str, int] = store.tokenizer("minilm").get_vocab()
    return vocab


@pytest.fixture(scope="module")
def vocabulary(store: ModelStore) -> Vocabulary:
    return read_vocabulary(store.tokenizer("minilm"))


def test_all_entries_are_there_by_id(vocabulary: Vocabulary, ids: dict[str, int]) -> None:
    assert len(vocabulary) == len(ids) == 30_522
    assert {entry.token: entry.id for entry in vocabulary.entries} == ids
    assert [entry.id for entry in vocabulary.entries] == list(range(30_522))


def test_the_kinds_add_up(vocabulary: Vocabulary, ids: dict[str, int]) -> None:
    counts = vocabulary.counts
    assert sum(counts.values()) == 30_522
    assert counts[SPECIAL] == 5
    assert counts[UNUSED] == sum(token.startswith("[unused") for token in ids) == 994
    assert counts[CONTINUATION] == sum(token[:2] == "##" and token != "##" for token in ids)
    assert counts[CHARACTER] == sum(len(token) == 1 for token in ids)
    assert counts[WORD] == 22_698


@pytest.mark.parametrize(
    ("where", "test"), [(BEGINS, str.startswith), (ENDS, str.endswith), (CONTAINS, str.__contains__)]
)
def test_search_by_letters(vocabulary: Vocabulary, ids: dict[str, int], where: str, test: object) -> None:
    found = vocabulary.search("able", where, limit=10**6)
    expected = {token for token in ids if test(token.removeprefix("##"), "able")}  # type: ignore[operator]
    assert {entry.token for entry in found.entries} == expected
    assert found.total == len(expected) >= 2


def test_search_by_continuation_kind_and_length(vocabulary: Vocabulary, ids: dict[str, int]) -> None:
    continuations = vocabulary.search("##ing", limit=10**6)
    assert {entry.token for entry in continuations.entries} == {token for token in ids if token.startswith("##ing")}
    assert vocabulary.search("##").total == vocabulary.counts[CONTINUATION]
    three = vocabulary.search("", kind=CONTINUATION, length=3, limit=10**6)
    assert {entry.token for entry in three.entries} == {
        token for token in ids if token.startswith("##") and len(token) == 5
    }
    for kind in KINDS:
        assert vocabulary.search(kind=kind).total == vocabulary.counts[kind]
    assert vocabulary.search("[unused99]").entries[0].id == ids["[unused99]"]


def test_a_search_is_capped_and_tells_the_total(vocabulary: Vocabulary) -> None:
    found = vocabulary.search("", limit=50)
    assert (len(found.entries), found.total) == (50, 30_522)


def test_an_uncased_vocabulary_is_searched_in_lower_case(vocabulary: Vocabulary) -> None:
    assert vocabulary.search(" Un ") == vocabulary.search("un")


def test_which_words_begin_with_a_piece(vocabulary: Vocabulary, ids: dict[str, int]) -> None:
    expected = {token for token in ids if token.startswith("able") and len(token) > 1}
    assert {entry.token for entry in vocabulary.words_from("##able").entries} == expected == {"able"}
    assert vocabulary.words_from("un").total == sum(token.startswith("un") for token in ids)


def test_what_an_id_is(vocabulary: Vocabulary, ids: dict[str, int]) -> None:
    assert vocabulary.entry(ids["hello"]).token == "hello"
    assert [entry.id for entry in vocabulary.around(1)] == [0, 1, 2, 3, 4]
    assert vocabulary.around(30_521)[-1].id == 30_521
    for wrong in (-1, 30_522):
        with pytest.raises(UserError, match="30,521"):
            vocabulary.entry(wrong)


def test_nonsense_is_told_in_a_sentence(vocabulary: Vocabulary) -> None:
    with pytest.raises(UserError, match="begins with"):
        vocabulary.search("a", where="sideways")
    with pytest.raises(UserError, match="kind must be one of"):
        vocabulary.search("a", kind="verb")
