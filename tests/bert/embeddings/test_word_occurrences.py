"""A word's uses: found in their lines, their vectors transformers' own, their averages by hand; each made once."""

import threading
import time
from collections.abc import Generator

import numpy as np
import pytest
import torch

from demos.bert.embeddings.word_occurrences import (
    MAX_LINES,
    Use,
    bar_uses,
    check_uses,
    clean_word,
    contrast,
    find_word,
    read_uses,
    static_vectors,
    use_cosines,
    word_pieces,
    word_states,
)
from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError

LISTED = "The bank closed.\n\nBank, river, bank!\n  A muddy BANK  "
LONG = "Her unflappability bored the bank."


@pytest.mark.parametrize(
    ("sentence", "word", "places"),
    [
        ("The bank, a Bank.", "bank", [(4, 8), (12, 16)]),
        ("banker riverbank banks bank_2", "bank", []),
        ("New\tYork, new york", "new york", [(0, 8), (10, 18)]),
        ("I ❤️ it 🎻🎻", "🎻", [(8, 9), (9, 10)]),
        ("他去银行了", "银行", [(2, 4)]),
        ("C++ and c++.", "c++", [(0, 3), (8, 11)]),
        ("Why? Ah?", "?", [(3, 4), (7, 8)]),
    ],
)
def test_a_word_is_found_as_a_whole(sentence: str, word: str, places: list[tuple[int, int]]) -> None:
    assert find_word(sentence, word) == places


def test_lines_are_uses_and_an_empty_line_begins_a_sense() -> None:
    uses = read_uses("bank", LISTED)
    assert [(use.start, use.sense) for use in uses] == [(4, 0), (0, 1), (13, 1), (8, 1)]
    assert read_uses("bank", LISTED.replace("\n", "\r\n")) == uses
    assert read_uses("bank", " \n\n") == []
    joined = bar_uses("bank", ["Our  bank\nsank.", "The bank closed.", "No such word."], uses)
    assert joined == [Use("Our bank sank.", 4, 8, None)]


@pytest.mark.parametrize(
    ("word", "lines", "told"),
    [
        ("", "a", "Write the word"),
        ("b" * 61, "a", "61 characters; the limit is 60"),
        ("bank", "The bank.\n\nA <b>river</b>.", "Line 2, “A <b>river</b>.”, does not contain the word “bank”"),
        ("bank", "bank\n" * (MAX_LINES + 1), "17 lines; the limit is 16"),
        ("bank", "bank " * 5_000, "25,000 characters"),
    ],
)
def test_what_can_not_be_compared_is_one_sentence(word: str, lines: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_uses(clean_word(word), lines)


def test_how_much_is_compared_is_bounded(tiny: LoadedModel) -> None:
    check_uses(tiny, read_uses("bank", "bank bank"))
    long = "\n".join(f"{number} " + "so " * 450 + "bank" for number in range(10))
    for lines, told in (("bank", "At least two"), ("bank " * 25, "25 times"), (long, "tokens; the limit is 4,096")):
        with pytest.raises(UserError, match=told):
            check_uses(tiny, read_uses("bank", lines))
    far = read_uses("bank", "word " * 600 + "bank")
    with pytest.raises(UserError, match="after the limit of 512 tokens"):
        drained(word_states(tiny, far))
    with pytest.raises(UserError, match="the tokenizer removes it"):
        drained(word_states(tiny, [Use("a \u200b b", 2, 3)]))


def test_vectors_are_transformers_own(bundled: LoadedModel) -> None:
    uses = [*read_uses("bank", f"{LISTED}\n{LONG}"), *bar_uses("unflappability", [LONG], [])]
    found = drained(word_states(bundled, uses))
    assert found.shape == (6, 7, 384)
    for use, mine in zip(uses, found, strict=True):
        encoding = encode(bundled.tokenizer, use.sentence)
        pieces = word_pieces(encoding, use)
        with torch.inference_mode():
            inputs = bundled.tokenizer(use.sentence, return_tensors="pt")
            hidden = bundled.model(**inputs, output_hidden_states=True).hidden_states
        np.testing.assert_allclose(mine, [layer[0, pieces].mean(dim=0) for layer in hidden], atol=2e-5)
        spelt = "".join(encoding.tokens[piece].removeprefix("##") for piece in pieces)
        assert spelt == use.sentence[use.start : use.end].lower()
    assert len(pieces) > 2  # the last: a word of several


def test_the_static_table_has_one_vector_a_word(bundled: LoadedModel) -> None:
    uses = [*read_uses("bank", LISTED), *bar_uses("unflappability", [LONG], [])]
    rows = static_vectors(bundled, uses)
    table = bundled.model.get_input_embeddings().weight
    for row in rows[:-1]:
        np.testing.assert_array_equal(row, table[bundled.tokenizer.vocab["bank"]])
    ids = bundled.tokenizer("unflappability", add_special_tokens=False)["input_ids"]
    np.testing.assert_allclose(rows[-1], table[ids].mean(dim=0), atol=1e-6)


def test_averages_by_hand() -> None:
    states = np.random.default_rng(0).normal(size=(4, 2, 5))
    cosines = use_cosines(states)
    a, b = states[1, 1], states[3, 1]
    assert cosines[1, 1, 3] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))
    found = contrast(cosines, [0, 0, 1, None])
    assert found is not None
    np.testing.assert_allclose(found.same, cosines[:, 0, 1])
    np.testing.assert_allclose(found.different, (cosines[:, 0, 2] + cosines[:, 1, 2]) / 2)
    assert (found.same_pairs, found.different_pairs) == (1, 2)
    assert contrast(cosines, [0, 0, 0, None]) is None
    assert contrast(cosines, [0, 1, 2, 3]) is None


def test_what_takes_a_while_is_made_once_and_told_to_who_waits() -> None:
    cache: OnceCache[str, int] = OnceCache(2)
    made = []
    go_on = threading.Event()

    def make() -> Generator[str, None, int]:
        made.append(threading.current_thread().name)
        yield "half"
        assert go_on.wait(timeout=60)
        return 7

    told: list[list[str]] = []
    first = threading.Thread(target=lambda: told.append(list(cache.steps("a", make, "wait"))))
    first.start()
    while not made:
        time.sleep(0.01)
    second = cache.steps("a", make, "wait")
    before = [next(second)]
    go_on.set()
    told.append([*before, *second])
    first.join()
    assert len(made) == 1
    assert sorted({step for steps in told for step in steps}) == ["half", "wait"]
    assert cache.get("a", make, "wait") == 7
    for key in "bc":
        cache.get(key, make, "wait")
    assert len(cache) == 2
    with pytest.raises(ZeroDivisionError):
        cache.get("d", lambda: (1 / 0 for _ in "x"), "wait")  # type: ignore[arg-type,return-value]
    assert cache.get("d", make, "wait") == 7
