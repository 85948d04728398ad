"""A control for one word's uses: another word of the same sentences, which none of them was chosen for.

Where that word's two curves come apart as far, what comes apart is what the sentences are about, not the word's sense.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.embeddings.word_occurrences import Contrast, Use, contrast, find_word, use_cosines, word_states
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True)
class Control:
    """The other word's averages, and the first word's own over the same sentences: both by layer, [L + 1]."""

    word: str
    sentences: int
    other: Contrast
    own: Contrast


def control_word(word: str, uses: Sequence[Use]) -> str:
    """The other word in the most of the uses' sentences, as small letters; empty where none can be averaged.

    It must occur in two sentences of one sense and in one of another. Of equally frequent words, the first to occur.
    """
    senses: dict[str, dict[str, int]] = {}  # word -> sentence -> sense
    for use in uses:
        if use.sense is not None:
            for other in WORD.findall(use.sentence.lower()):
                senses.setdefault(other, {})[use.sentence] = use.sense
    senses.pop(word.lower(), None)

    def fits(labels: Sequence[int]) -> bool:
        return len(set(labels)) > 1 and len(labels) > len(set(labels))

    counts = {other: len(by_sentence) for other, by_sentence in senses.items() if fits(list(by_sentence.values()))}
    return max(counts, key=lambda other: counts[other]) if counts else ""


def control_uses(other: str, uses: Sequence[Use]) -> list[Use]:
    """The first place of `other` in each sentence of known sense that has it, in that sentence's sense."""
    by_sentence = {use.sentence: use for use in uses if use.sense is not None and find_word(use.sentence, other)}
    return [Use(line, *find_word(line, other)[0], use.sense) for line, use in by_sentence.items()]


def control_of(
    loaded: LoadedModel, word: str, uses: Sequence[Use], cosines: np.ndarray
) -> Generator[Encoded, None, Control | None]:
    """The control for `uses`, whose cosines at every layer are `cosines` [L + 1, m, m]; yields after each batch.

    None where no other word occurs in enough of the sentences, or where the model reads none of it in one.
    """
    other = control_word(word, uses)
    if not other:
        return None
    placed = control_uses(other, uses)
    try:
        states = yield from word_states(loaded, placed)
    except UserError:  # beyond the last token that is read: the word's own uses are worth seeing all the same
        return None
    lines = {use.sentence for use in placed}
    selected = [index for index, use in enumerate(uses) if use.sense is not None and use.sentence in lines]
    theirs = contrast(use_cosines(states), [use.sense for use in placed])
    own = contrast(cosines[:, selected][:, :, selected], [uses[index].sense for index in selected])
    return Control(other, len(lines), theirs, own) if theirs and own else None
