"""A question and a paragraph as the encoder reads them: [CLS] question [SEP] window [SEP], one window or several."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.task import tokenized

MOST_OF_QUESTION = 64  # tokens, as Devlin et al.'s run_squad.py reads them; less where half of the room is less
MAX_WINDOWS = 6
Places = tuple[tuple[int, int], ...]  # each token's first character, and one past its last


@dataclass(frozen=True)
class Reading:
    """An example's tokens: q of the question, then the windows of the paragraph's."""

    example: QuestionExample
    question: Places  # [q], those that were kept
    context: Places  # of the whole paragraph
    words: tuple[int, ...]  # the running number of each of the paragraph's tokens' words, after the question's
    windows: tuple[tuple[int, int], ...]  # each one's first token of the paragraph, and one past its last
    answer: tuple[int, int] | None  # the first answer's first and last token of the paragraph
    lost: int  # tokens of the question that were cut off

    @property
    def offset(self) -> int:
        """The position of a window's first token in its sequence: behind [CLS], the question and [SEP]."""
        return len(self.question) + 2

    def target(self, window: int) -> tuple[int, int]:
        """The start and the end of the answer in this window's sequence; (0, 0), [CLS], if it is not wholly in it."""
        first, past = self.windows[window]
        if self.answer is None or not (first <= self.answer[0] and self.answer[1] < past):
            return 0, 0
        return self.answer[0] - first + self.offset, self.answer[1] - first + self.offset

    @property
    def unread(self) -> int:
        """The number of the paragraph's last tokens that are in no window."""
        return len(self.context) - self.windows[-1][1]


@dataclass(frozen=True)
class Pieces:
    """A text's tokens, no special ones."""

    ids: tuple[int, ...]
    places: Places
    words: tuple[int, ...]  # each token's word, counted from 0


def pieces_of(tokenizer: Any, texts: Sequence[str]) -> dict[str, Pieces]:
    """Each different text's tokens."""
    different = list(dict.fromkeys(texts))
    cut = tokenized(tokenizer, different, add_special_tokens=False, return_offsets_mapping=True)
    pieces = {}
    for row, text in enumerate(different):
        seen: dict[int | None, int] = {}
        words = tuple(seen.setdefault(word, len(seen)) for word in cut.word_ids(row))
        places = tuple((int(start), int(end)) for start, end in cut["offset_mapping"][row])
        pieces[text] = Pieces(tuple(cut["input_ids"][row]), places, words)
    return pieces


def windows_of(tokens: int, room: int) -> tuple[tuple[int, int], ...]:
    """(first, past) of each window of at most `room` tokens, each begun half a window after the one before it.

    At most MAX_WINDOWS; tokens after the last one are not read.
    """
    step = max(1, room // 2)
    windows = [(0, min(room, tokens))]
    while windows[-1][1] < tokens and len(windows) < MAX_WINDOWS:
        first = len(windows) * step
        windows.append((first, min(first + room, tokens)))
    return tuple(windows)


def read_examples(
    tokenizer: Any, examples: Sequence[QuestionExample], max_length: int
) -> list[tuple[Reading, tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]]:
    """(reading, the windows' sequences of at most `max_length` tokens, their segments) of each example."""
    pieces = pieces_of(tokenizer, [text for example in examples for text in (example.question, example.context)])
    readings = []
    for example in examples:
        question, paragraph = pieces[example.question], pieces[example.context]
        question_length = min(len(question.ids), MOST_OF_QUESTION, max(0, max_length - 3) // 2)
        windows = windows_of(len(paragraph.ids), max(1, max_length - 3 - question_length))
        past = 1 + max(question.words, default=-1)
        reading = Reading(
            example,
            question.places[:question_length],
            paragraph.places,
            tuple(past + word for word in paragraph.words),
            windows,
            _answer(paragraph.places, example),
            len(question.ids) - question_length,
        )
        begun = (tokenizer.cls_token_id, *question.ids[:question_length], tokenizer.sep_token_id)
        sequences = tuple((*begun, *paragraph.ids[first:end], tokenizer.sep_token_id) for first, end in windows)
        segments = tuple((*[0] * len(begun), *[1] * (end - first + 1)) for first, end in windows)
        readings.append((reading, sequences, segments))
    return readings


def _answer(places: Places, example: QuestionExample) -> tuple[int, int] | None:
    """The first and the last token that have a character of the first answer."""
    if not example.answers:
        return None
    inside = [at for at, (start, end) in enumerate(places) if start < example.end and end > example.start]
    return (inside[0], inside[-1]) if inside else None
