"""Which word stands beside which: by hand, against a reference search, and on random sentences."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demos.bert.attention.alignment import Alignment, align, arranged
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel


def encoding_of(words: list[str], pair: list[str] | None = None) -> Encoding:
    """[CLS] words [SEP] (pair [SEP]), a token a word."""
    sentences = [words] if pair is None else [words, pair]
    tokens, word_ids, sequences, types, offsets = ["[CLS]"], [None], [None], [0], [(0, 0)]
    texts = []
    for number, sentence in enumerate(sentences):
        text = " ".join(sentence)
        start = 0
        for index, word in enumerate(sentence):
            tokens.append(word.lower())
            word_ids.append(index)  # type: ignore[arg-type]
            sequences.append(number)  # type: ignore[arg-type]
            offsets.append((start, start + len(word)))
            start += len(word) + 1
        tokens.append("[SEP]")
        word_ids.append(None)
        sequences.append(None)
        offsets.append((0, 0))
        types += [number] * (len(sentence) + 1)
        texts.append(text)
    return Encoding(
        text=texts[0],
        text_pair=texts[1] if pair is not None else "",
        tokens=tuple(tokens),
        input_ids=tuple(range(len(tokens))),
        token_type_ids=tuple(types),
        word_ids=tuple(word_ids),
        sequence_ids=tuple(sequences),
        offsets=tuple(offsets),
        special_tokens_mask=tuple(int(word is None) for word in word_ids),
    )


def of_words(left: str, right: str, fold: bool = True) -> Alignment:
    return align(encoding_of(left.split()), encoding_of(right.split()), fold)


def test_one_changed_word_stands_beside_the_word_it_was() -> None:
    found = of_words("the bank of the river", "the bank of the city")
    assert found.by_word
    assert found.names == ("[CLS]", "the", "bank", "of", "the", "river → city", "[SEP]")
    assert found.rows == tuple((i, i) for i in range(7))
    assert found.lonely == ((), ())


def test_words_come_and_go() -> None:
    found = of_words("she sat quietly on the bank", "then she sat on a river bank")
    assert found.names == (
        "[CLS]", "then", "she", "sat", "quietly", "on", "the", "a", "river", "bank", "[SEP]",
    )  # fmt: skip
    assert found.lonely == (("quietly", "the"), ("then", "a", "river"))
    assert found.rows[1:4] == ((None, 1), (1, 2), (2, 3))


def test_another_sentence_is_not_paired_word_for_word() -> None:
    found = of_words("one two three four", "five six seven eight")
    assert found.lonely == (("one", "two", "three", "four"), ("five", "six", "seven", "eight"))
    assert [row for row in found.rows if None not in row] == [(0, 0), (5, 5)]
    assert of_words("one two three", "five six seven").names[1:4] == ("one → five", "two → six", "three → seven")


def test_of_equally_long_matches_neighbours_win() -> None:
    found = of_words("the a b the bank", "the bank")  # "the … bank" would match as many words
    assert found.rows[-3:] == ((4, 1), (5, 2), (6, 3))


def test_a_matches_a_and_b_matches_b() -> None:
    left = encoding_of(["rain", "fell"], ["we", "stayed"])
    found = align(left, encoding_of(["we", "stayed"]), fold=True)
    assert found.lonely == (("we", "stayed", "[SEP]"), ())  # B has no partner, and A's words were replaced
    assert found.names[:4] == ("[CLS]", "rain → we", "fell → stayed", "[SEP]")


def test_case_and_accents_are_folded_where_asked() -> None:
    assert of_words("The Café closed", "the cafe closed again").names[1:3] == ("The", "Café")
    strict = of_words("The Café closed", "the cafe closed again", fold=False)
    assert strict.names[1:3] == ("The → the", "Café → cafe")


def test_equal_tokens_stand_side_by_side_and_split_words_become_one(bundled: LoadedModel) -> None:
    one = encode(bundled.tokenizer, "The unflappable banker")
    same = align(one, encode(bundled.tokenizer, "the UNFLAPPABLE banker"), fold=True)
    assert not same.by_word
    assert same.names == one.tokens
    other = align(one, encode(bundled.tokenizer, "An unflappable banker"), fold=True)
    assert other.names == ("[CLS]", "The → An", "unflappable", "banker", "[SEP]")
    assert len(other.left[2].tokens) == one.word_ids.count(1) > 1
    assert sum((unit.tokens for unit in other.left), ()) == tuple(range(len(one)))


def test_a_long_input_is_cut_at_a_whole_word(bundled: LoadedModel) -> None:
    long, short = (encode(bundled.tokenizer, "unflappable " * count) for count in (40, 41))
    found = align(long, short, fold=True, shown=10)
    assert found.left == found.right
    assert all(unit.tokens[-1] < 10 for unit in found.left)
    assert not any(unit.name == "[SEP]" for unit in found.left)


words = st.lists(st.sampled_from(["a", "b", "c", "A"]), max_size=7)


@settings(max_examples=150, deadline=None)
@given(words, words, st.none() | words, st.none() | words, st.booleans())
def test_order_is_kept_each_unit_is_used_once_and_no_match_is_missed(
    left: list[str], right: list[str], left_pair: list[str] | None, right_pair: list[str] | None, fold: bool
) -> None:
    found = align(encoding_of(left, left_pair), encoding_of(right, right_pair), fold)
    for side, units in enumerate((found.left, found.right)):
        used = [row[side] for row in found.rows if row[side] is not None]
        assert used == list(range(len(units)))
    assert len(found.names) == len(found.rows)
    if not found.by_word:
        return
    matched = sum(bool(here and there and here.matches(there)) for here, there in found.pairs)
    special = 2 + (left_pair is not None and right_pair is not None)
    longest = sum(
        _longest(*([word.lower() if fold else word for word in side] for side in (one or [], other or [])))
        for one, other in ((left, right), (left_pair, right_pair))
    )
    assert matched == special + longest


def _longest(left: list[str], right: list[str]) -> int:
    """The longest common subsequence by trying every one."""
    return next(
        count
        for count in range(len(left), -1, -1)
        if {tuple(side) for side in combinations(left, count)} & {tuple(side) for side in combinations(right, count)}
    )


def test_weights_go_to_their_rows() -> None:
    found = of_words("a b", "b c d")
    assert found.names == ("[CLS]", "a", "b", "c", "d", "[SEP]")
    weights = np.arange(16.0).reshape(4, 4)
    here = arranged(weights, found, "left")
    kept = [0, 1, 2, 5]
    np.testing.assert_array_equal(here[np.ix_(kept, kept)], weights)
    assert np.isnan(here[3]).all()
    assert np.isnan(here[:, 4]).all()
    both = arranged(np.ones((2, 3, 5, 5)), found, "right")
    assert both.shape == (2, 3, 6, 6)
    assert np.isnan(both[1, 2, 1]).all()
    assert np.nansum(both[1, 2]) == pytest.approx(25)
