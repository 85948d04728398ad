"""A reader's own paragraphs as pre-training takes them: sentences, the last few of them held out."""

import re
from dataclasses import dataclass
from typing import Any

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.tasks.task import token_ids

MAX_WORDS = 40  # of one sentence; a longer one is cut there
MAX_LENGTH = 64  # tokens of one sequence, [CLS] and [SEP] included
HELD_OUT = ((9, 3), (6, 2), (3, 1))  # from so many sentences on, so many of them are held out
EMPTY = "There is no word in the text; write a few sentences first."
_END = re.compile(r"((?<=[.!?…。！？])[\"'”’)\]]*)\s+|\n+|(?<=[。！？])")  # in brackets what stays with the sentence


@dataclass(frozen=True)
class Passage:
    """The sentences of a text, in its order."""

    train: tuple[str, ...]
    held_out: tuple[str, ...]  # the last ones; no step is taken on them

    @property
    def has_pairs(self) -> bool:
        """Whether next sentences can be predicted: this takes two sentences."""
        return len(self.train) > 1


def read_passage(tokenizer: Any, text: str | None) -> Passage:
    """The text's sentences. Raises UserError for one that is too long, or has no word."""
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.mask_token_id}
    cut = [piece for sentence in cut_behind(clean_text(text, "Your text"), _END) for piece in _pieces(sentence)]
    rows = token_ids(tokenizer, cut, MAX_LENGTH)
    sentences = [sentence for sentence, (ids, _) in zip(cut, rows, strict=True) if set(ids) - special]
    if not sentences:
        raise UserError(EMPTY)
    held_out = next((count for least, count in HELD_OUT if len(sentences) >= least), 0)
    return Passage(tuple(sentences[: len(sentences) - held_out]), tuple(sentences[len(sentences) - held_out :]))


def cut_behind(text: str, end: re.Pattern[str]) -> list[str]:
    """The text cut at each match of `end`, which falls away but for its first group: that stays with what is before."""
    cut, last = [], 0
    for match in end.finditer(text):
        cut.append(text[last : match.start() if match[1] is None else match.end(1)])
        last = match.end()
    return [*cut, text[last:]]


def _pieces(sentence: str) -> list[str]:
    words = sentence.split()
    return [" ".join(words[at : at + MAX_WORDS]) for at in range(0, len(words), MAX_WORDS)]
