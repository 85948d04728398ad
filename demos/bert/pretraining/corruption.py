"""The corruption of masked-word prediction: the tokens that BERT must predict, and their replacements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.bert.pretraining.unigrams import Unigrams
from demos.errors import UserError

NO_LABEL = -100  # a token that need not be predicted, as transformers marks it
UNTOUCHED, MASK, RANDOM, SAME = 0, 1, 2, 3  # the kinds


@dataclass(frozen=True)
class Shares:
    """The share of a text that is chosen, and the shares of the three kinds: the paper's if nothing else is given."""

    chosen: float = 0.15  # of all tokens
    masked: float = 0.8  # of the chosen ones
    replaced: float = 0.1  # by a random piece

    @property
    def kinds(self) -> tuple[float, float, float]:
        """The shares of the chosen tokens: masked, replaced, and kept, which is the rest."""
        return self.masked, self.replaced, max(0.0, round(1 - self.masked - self.replaced, 9))


PAPER = Shares()


@dataclass(frozen=True)
class Corruption:
    """One input of the model and its targets; one entry for each token (n in all)."""

    input_ids: np.ndarray  # <int64>[n]
    labels: np.ndarray  # <int64>[n]: the text's own token where it was chosen, else NO_LABEL
    kinds: np.ndarray  # <int8>[n]: UNTOUCHED; or chosen, and then MASK, RANDOM or SAME

    @property
    def chosen(self) -> np.ndarray:
        """The chosen places in the order of the text: <int64>[k]."""
        return np.flatnonzero(self.kinds)


def never_chosen(tokenizer: Any, input_ids: Sequence[int]) -> tuple[int, ...]:
    """1 for each token that is never chosen: [CLS], [SEP] and the like, also where somebody wrote them; n in all.

    [UNK] stands for a word, so it may be chosen.
    """
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    return tuple(int(number in special) for number in input_ids)


def corrupt(
    tokenizer: Any,
    input_ids: Sequence[int],
    rng: np.random.Generator,
    shares: Shares = PAPER,
    *,
    words: Sequence[int | None] | None = None,
    special: Sequence[int] | None = None,
    unigrams: Unigrams | None = None,
) -> Corruption:
    """Choose tokens and put [MASK], a random word piece or the token itself there (Devlin et al. 2019, section 3.1).

    As the paper's create_pretraining_data does: `chosen` is of all n `input_ids`, rounded, at least one token;
    a `special` token (n entries, `never_chosen` where none are given) is never chosen; each chosen token's kind is
    drawn by itself; a random piece comes from the whole vocabulary, the token itself and the special ones among it:
    each with the same probability, or with `unigrams` by how frequent it is.
    With `words` (the running number of each token's word, as `Encoding.word_index`), words are chosen with all their
    pieces, and a word that would go past the count is left out; where none fits, the first drawn is taken all the same.

    Raises UserError for an input without a word, ValueError for shares that are none.
    """
    masked, covered = shares.masked, shares.masked + shares.replaced
    if not all(0 <= share <= 1 + 1e-9 for share in (shares.chosen, masked, shares.replaced, covered)):
        raise ValueError(f"these are no shares: {shares}")
    ids = np.array(input_ids, dtype=np.int64)
    units = _units(never_chosen(tokenizer, input_ids) if special is None else special, words or [None] * len(ids))
    if not units:
        raise UserError("There is no word to choose; write a sentence first.")
    places = _choose(units, max(1, round(len(ids) * shares.chosen)), rng)
    drawn = rng.random(len(places))
    kinds = np.zeros(len(ids), dtype=np.int8)
    kinds[places] = np.where(drawn < masked, MASK, np.where(drawn < covered, RANDOM, SAME))
    labels = np.full(len(ids), NO_LABEL, dtype=np.int64)
    labels[places] = ids[places]
    ids[kinds == MASK] = tokenizer.mask_token_id
    at_random = kinds == RANDOM
    count = int(at_random.sum())
    ids[at_random] = rng.integers(tokenizer.vocab_size, size=count) if unigrams is None else unigrams.draw(rng, count)
    return Corruption(ids, labels, kinds)


def _units(special: Sequence[int], words: Sequence[int | None]) -> list[list[int]]:
    """The units that are chosen at once: each word's pieces, or a token by itself where its word is None."""
    units: dict[int, list[int]] = {}
    for place, (is_special, word) in enumerate(zip(special, words, strict=True)):
        if not is_special:
            units.setdefault(-1 - place if word is None else word, []).append(place)
    return list(units.values())


def _choose(units: list[list[int]], count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` places, or as many as whole units allow; sorted."""
    places: list[int] = []
    order = rng.permutation(len(units))
    for index in order:
        if len(places) >= count:
            break
        if len(places) + len(units[index]) <= count:
            places += units[index]
    return np.sort(np.array(places or units[order[0]], dtype=np.int64))
