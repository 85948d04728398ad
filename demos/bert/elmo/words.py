"""Words as the small ELMo reads them: split at spaces and punctuation, each word its characters."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

CHARACTERS = " 'abcdefghijklmnopqrstuvwxyz0123456789.,;:!?\"()-"  # id + 1 is the place; 0 is padding
OTHER, OPENS, CLOSES = len(CHARACTERS) + 1, len(CHARACTERS) + 2, len(CHARACTERS) + 3  # any other one; a word's two ends
CHARACTER_COUNT = CLOSES + 1
LONGEST = 16  # characters of a word that are read, its two ends included
UNKNOWN, BEGIN, END = 0, 1, 2  # ids of the output vocabulary that are no words
SPECIAL = ("<unknown>", "<s>", "</s>")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_CURLY = str.maketrans("“”‘’–—", "\"\"''--")


def word_spans(text: str) -> list[tuple[str, int, int]]:
    """(the word in lower case, its first character, the one behind its last) of `split_words`."""
    return [(match[0].lower(), *match.span()) for match in _WORD.finditer(text.translate(_CURLY))]


def split_words(text: str) -> list[str]:
    """Lower-case words, and punctuation marks by themselves; an apostrophe inside a word stays there."""
    return [word for word, _, _ in word_spans(text)]


def spelled(words: Sequence[str]) -> Tensor:
    """[n, LONGEST] ids of the characters, between OPENS and CLOSES; a longer word loses its last characters.

    BEGIN and END are spelled as one character each, which no word has.
    """
    rows = []
    for word in words:
        if word in SPECIAL:
            row = [OPENS, CHARACTER_COUNT + SPECIAL.index(word) - 1, CLOSES]
        else:
            row = [OPENS, *(CHARACTERS.find(letter) + 1 or OTHER for letter in word[: LONGEST - 2]), CLOSES]
        rows.append(row + [0] * (LONGEST - len(row)))
    return torch.tensor(rows).reshape(-1, LONGEST)
