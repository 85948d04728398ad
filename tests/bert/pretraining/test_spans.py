"""Packed spans against a plain reading of Google's program, token by token, with the same draws."""

from typing import Any

import numpy as np
import pytest

from demos.bert.pretraining.spans import SPECIAL, Instance, pack

DOCUMENTS = [[5, 9, 4, 7, 12, 3, 8, 6, 10, 2], [7, 7, 30, 4], [3], [40, 6, 6]]
Token = tuple[int, int, int]  # document, sentence, place in it


def joined(sentences: list[list[Token]]) -> list[Token]:
    return [token for sentence in sentences for token in sentence]


def reference(which: int, length: int, rng: np.random.Generator) -> list[tuple[list[Token], list[Token], bool]]:
    """create_instances_from_document and truncate_seq_pair with lists of tokens, as their description says."""
    texts = [[[(d, s, t) for t in range(n)] for s, n in enumerate(row)] for d, row in enumerate(DOCUMENTS)]
    room = length - 3
    target = room
    if rng.random() < 0.1:
        target = int(rng.integers(2, room + 1))
    found: list[tuple[list[Token], list[Token], bool]] = []
    chunk: list[list[Token]] = []
    i = 0
    while i < len(texts[which]):
        chunk.append(texts[which][i])
        if i == len(texts[which]) - 1 or len(joined(chunk)) >= target:
            a_end = 1 if len(chunk) < 2 else int(rng.integers(1, len(chunk)))
            a = joined(chunk[:a_end])
            if len(chunk) == 1 or rng.random() < 0.5:
                is_next, b = False, []
                other = [d for d in range(len(texts)) if d != which][int(rng.integers(len(texts) - 1))]
                start = int(rng.integers(len(texts[other])))
                for sentence in texts[other][start:]:
                    b = b + sentence
                    if len(b) >= target - len(a):
                        break
                i -= len(chunk) - a_end
            else:
                is_next, b = True, joined(chunk[a_end:])
            while len(a) + len(b) > room:
                longer = a if len(a) > len(b) else b
                del longer[0 if rng.random() < 0.5 else -1]
            found.append((a, b, is_next))
            chunk = []
        i += 1
    return found


def tokens(instance: Instance) -> tuple[list[Token], list[Token], bool]:
    first, second = (
        [(p.document, p.sentence, p.front + k) for p in span for k in range(p.tokens)]
        for span in (instance.first, instance.second)
    )
    return first, second, instance.is_next


@pytest.mark.parametrize("length", [8, 16, 32, 128])
def test_instances_are_those_of_the_program(length: int) -> None:
    for seed in range(60):
        for which in range(len(DOCUMENTS)):
            ours, theirs = (np.random.default_rng(seed) for _ in range(2))
            found = pack(DOCUMENTS, which, length, ours)
            assert [tokens(instance) for instance in found] == reference(which, length, theirs)
            for instance in found:
                assert instance.tokens <= length
                for piece in (*instance.first, *instance.second):
                    whole = DOCUMENTS[piece.document][piece.sentence]
                    assert piece.front + piece.tokens + piece.back == whole
                assert {piece.document == which for piece in instance.second} == {instance.is_next}


def test_one_in_ten_is_short_and_b_follows_a_in_half_of_the_packed_ones() -> None:
    rng = np.random.default_rng(0)
    many = [pack(DOCUMENTS, 0, 32, rng) for _ in range(3_000)]
    short = np.mean([found[0].target < 32 - SPECIAL for found in many])
    assert short == pytest.approx(0.1 * 27 / 28, abs=0.02)  # a drawn length may be the whole one
    full = [one for found in many for one in found if len(one.first) > 1 and one.target == 29]
    assert np.mean([one.is_next for one in full]) == pytest.approx(0.5, abs=0.05)
    assert all(len(found) >= 1 for found in many)


@pytest.mark.parametrize("wrong", [{"documents": [[3]]}, {"length": 4}])
def test_what_cannot_be_packed(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="two documents"):
        pack(**{"documents": DOCUMENTS, "which": 0, "length": 32, "rng": np.random.default_rng(0)} | wrong)
