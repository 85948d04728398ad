"""The agreement of attention weights with the grammar's own links between words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from demos.bert.translation.decoding import Trained
from demos.bert.translation.grammar import BE, WAS, Pair, lexicon
from demos.bert.translation.vocabulary import padded, shifted


@torch.inference_mode()
def weights_of(trained: Trained, pairs: Sequence[Pair]) -> np.ndarray:
    """[b, m, n]: the weights at each word of the right translations and at their ends, the words before it given."""
    decoder_input, _ = shifted([pair.target for pair in pairs], trained.target)
    memory: Any = trained.model.read(padded([pair.source for pair in pairs], trained.source))
    return trained.model.write(memory, decoder_input).weights.numpy()


def weights_for(trained: Trained, pair: Pair) -> np.ndarray:
    """[m, n]: the same for one pair, without its end."""
    return weights_of(trained, [pair])[0, : len(pair.target)]


def aligned(trained: Trained, pairs: Sequence[Pair]) -> float:
    """The share of content words whose largest weight falls on an English word that they render.

    Each decoder step is given the words before it in the right translation. Content words are nouns, adjectives,
    verbs, months and years: what a dictionary would list, not the grammar's small words; and a date's digits, not its
    dashes, which render no word.
    """
    most = weights_of(trained, pairs).argmax(-1).tolist()
    small = small_words()
    hits = [
        place in pair.links[at]
        for row, pair in zip(most, pairs, strict=True)
        for at, place in enumerate(row[: len(pair.target)])
        if pair.target[at] not in small and pair.links[at]
    ]
    return sum(hits) / len(hits)


def small_words() -> set[str]:
    """French words that are no content words: articles, pronouns, prepositions, auxiliaries, "ne ... pas"."""
    words = lexicon()
    determiners = {form for forms in words["determiners"].values() for form in forms}
    places = {french for _, french, _ in words["places"]}
    fixed = {"je", "j'", "il", "elle", "nous", "ils", "ne", "n'", "pas", "de", "du", "des", "sur", "en", "."}
    to_be = {form for tense in (BE, WAS) for _, form in tense}
    return determiners | places | fixed | to_be | {"a", "ont", "été"}
