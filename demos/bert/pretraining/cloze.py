"""Cloze prompts: a text, “It was [MASK].”, and which of two words the masked-word head finds more probable there.

A classifier without training (Schick and Schütze 2021: a pattern and two label words). Solved examples may precede
the text in the input, as in Brown et al. 2020.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from demos.bert.model.encoding import MAX_TOKENS, Encoding, encode
from demos.bert.model.text import clean_text
from demos.bert.pretraining.guesses import Guess, guess_at
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.lens import states
from demos.errors import UserError

GAP = "[MASK]"  # in a pattern; the tokenizer's own mask token stands for it in the input
PATTERNS = (f"It was {GAP}.", f"All in all, it was {GAP}.", f"I found it {GAP}.")
LABEL_WORDS = (("great", "terrible"), ("good", "bad"), ("wonderful", "awful"))  # (for positive, for negative)
BATCH = 16  # inputs read at once
BEST = 5


@dataclass(frozen=True)
class Solved:
    """A text whose class is known."""

    text: str
    positive: bool


@dataclass(frozen=True)
class Reading:
    """The head's output at a prompt's [MASK]."""

    encoding: Encoding
    words: tuple[Guess, Guess]  # the label words, positive first: their probability among all V, and their logit
    best: tuple[Guess, ...]  # the most probable words, the first first

    @property
    def log_odds(self) -> float:
        """ln p(positive word) - ln p(negative word), in nats: the difference of their logits."""
        return self.words[0].logit - self.words[1].logit


def solved_lines(solved: Sequence[Solved], pattern: str, label_words: tuple[str, str]) -> list[str]:
    """Each solved example in its form in the input: its text, and the pattern with the right word."""
    return [f"{example.text} {pattern.replace(GAP, label_words[0 if example.positive else 1])}" for example in solved]


def prompt(text: str, solved: Sequence[Solved], pattern: str, label_words: tuple[str, str]) -> str:
    """The solved examples, then `text` with the gap; without a text, the gap alone."""
    return " ".join([*solved_lines(solved, pattern, label_words), *([ended(text)] if text else []), pattern])


def ended(text: str) -> str:
    """The text with a full stop if it ends in a letter or a digit: the pattern is a separate sentence."""
    return f"{text}." if text and text[-1].isalnum() else text


def drawn(examples: Sequence[Solved], each: int, draw: int) -> tuple[Solved, ...]:
    """`each` examples of each class, in an order drawn at random too; the same for the same number `draw`."""
    rng = random.Random(f"cloze {draw}")
    chosen = [
        example
        for positive in (True, False)
        for example in rng.sample([solved for solved in examples if solved.positive is positive], each)
    ]
    rng.shuffle(chosen)
    return tuple(chosen)


def label_ids(tokenizer: Any, label_words: tuple[str, str]) -> tuple[int, int]:
    """The label words' ids. Raises UserError where the vocabulary does not have them whole."""
    first, second = (tokenizer(word, add_special_tokens=False)["input_ids"] for word in label_words)
    if len(first) != 1 or len(second) != 1:
        raise UserError(f"“{label_words[0]}” and “{label_words[1]}” are not single tokens of this model.")
    return first[0], second[0]


def read_prompts(
    pretrained: Pretrained,
    texts: Sequence[str],
    solved: Sequence[Solved],
    pattern: str,
    label_words: tuple[str, str],
) -> list[Reading]:
    """Each text's reading, after the same solved examples; an empty text is the input without a text.

    Raises UserError where an input has more than 512 tokens: nothing is cut, since the gap comes last.
    """
    tokenizer = pretrained.tokenizer
    ids = label_ids(tokenizer, label_words)
    encodings = [encoded_prompt(tokenizer, text, solved, pattern, label_words) for text in texts]
    readings: list[Reading] = []
    for start in range(0, len(encodings), BATCH):
        batch = encodings[start : start + BATCH]
        gaps = [gap_of(tokenizer, encoding) for encoding in batch]
        hidden = states(pretrained.encoder, batch)[0]  # [b, n, d]
        with torch.inference_mode():
            logits = pretrained.word_logits(hidden[range(len(batch)), gaps])  # [b, V]
        chances = logits.double().softmax(dim=-1)
        for row, encoding in enumerate(batch):
            guesses = [
                guess_at(tokenizer, logits[row], chances[row], index)
                for index in (*ids, *logits[row].topk(BEST).indices.tolist())
            ]
            readings.append(Reading(encoding, (guesses[0], guesses[1]), tuple(guesses[2:])))
    return readings


def encoded_prompt(
    tokenizer: Any, text: str, solved: Sequence[Solved], pattern: str, label_words: tuple[str, str]
) -> Encoding:
    """A [MASK] that the text has itself stays; the pattern's is the last one."""
    whole = prompt(clean_text(text).strip(), solved, pattern, label_words)
    encoding = encode(tokenizer, whole.replace(GAP, tokenizer.mask_token))
    if encoding.dropped:
        raise UserError(
            f"With these examples the input has {len(encoding) + len(encoding.dropped):,} tokens; the limit is "
            f"{MAX_TOKENS}. Use a shorter sentence or fewer examples."
        )
    return encoding


def gap_of(tokenizer: Any, encoding: Encoding) -> int:
    """The place of the pattern's [MASK], the last one."""
    return len(encoding) - 1 - encoding.input_ids[::-1].index(tokenizer.mask_token_id)
