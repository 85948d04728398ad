"""The labels that a plain text provides by itself: masked words and one next sentence, without an annotator."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.text import clean_text
from demos.bert.pretraining.corruption import Corruption, corrupt
from demos.errors import UserError

NOTHING = "There is no text to derive labels from; write a sentence first."
_BORDER = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


@dataclass(frozen=True)
class FreeLabels:
    """One training example of BERT's pre-training, made of a text: [CLS] A [SEP] B [SEP], corrupted."""

    sentences: list[str]  # of the text
    first: str
    second: str
    is_next: bool  # B followed A in the text; else it was drawn from another one
    encoding: Encoding  # before the corruption
    corruption: Corruption

    @property
    def count(self) -> int:
        """The number of labels: one for each chosen token, and one for the two sentences."""
        return len(self.corruption.chosen) + 1


def sentences_of(text: str) -> list[str]:
    """`text` cut after full stops, question and exclamation marks, and at line ends; a rule of thumb."""
    return [piece.strip() for piece in _BORDER.split(text) if piece.strip()]


def free_labels(tokenizer: Any, text: str, others: Sequence[str], rng: np.random.Generator) -> FreeLabels:
    """One example as the paper's create_pretraining_data makes it (Devlin et al. 2019, section 3.1).

    A is the text up to a sentence border drawn at random. By a coin B is the rest of it (IsNext) or one of `others`,
    sentences of another text (NotNext), as always where the text has one sentence only. Then 15% of all tokens are
    chosen. Raises UserError for a text without a word, or a too long one as `encode` does.
    """
    sentences = sentences_of(clean_text(text))
    if not sentences:
        raise UserError(NOTHING)
    border = int(rng.integers(1, len(sentences))) if len(sentences) > 1 else 1
    is_next = len(sentences) > 1 and bool(rng.random() < 0.5)
    first = " ".join(sentences[:border])
    second = " ".join(sentences[border:]) if is_next else others[int(rng.integers(len(others)))]
    encoding = encode(tokenizer, first, second)
    if 0 not in encoding.sequence_ids:
        raise UserError(NOTHING)
    return FreeLabels(sentences, first, second, is_next, encoding, corrupt(tokenizer, encoding.input_ids, rng))
