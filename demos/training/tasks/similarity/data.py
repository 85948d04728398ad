"""The data of a run on scores: pairs of sentences with one from 0 to 5, or single texts with any, in three splits."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from demos.bert.embeddings.agreement import Pair
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.columns.labels import is_missing
from demos.training.data.columns.mapping import Column
from demos.training.data.columns.profiles import NUMBERS, TEXTS
from demos.training.data.rated_pairs import FIRST, MAX_SCORE, SCORE, SECOND, number_of
from demos.training.data.readers import Reader
from demos.training.data.splits import (
    MAX_TRAIN,
    Item,
    Splits,
    contained_note,
    count_of,
    same,
    shared_note,
    split_items,
)
from demos.training.data.tables import (
    GROUP,
    MIN_PER_CLASS,
    SPLIT,
    TEXT_NAMES,
    Record,
    left_out_notes,
    refuse_most_lacking,
)

LOWEST, HIGHEST = 0.0, 5.0  # STS-B's scale of pairs: nothing in common, the same meaning
POINTS = tuple(range(int(LOWEST), int(HIGHEST) + 1))
MOST_STEPS = 10  # between the points of a scale
MIN_PAIRS = 20
RATING = range(5, 102)  # how many different whole numbers make a rating, from 1 to 5 and from 0 to 100
SCORE_ROLE = "score"
SCORES = Column(SCORE_ROLE, SCORE, holds=NUMBERS)
COLUMNS = (
    Column("sentence1", FIRST, holds=TEXTS, many=True),
    Column("sentence2", SECOND, holds=TEXTS),
    SCORES,
    SPLIT,
    GROUP,
)
SINGLE_TEXTS = (
    Column("sentence1", (*FIRST, *TEXT_NAMES), holds=TEXTS, many=True),
    Column("sentence2", (), required=False),
    SCORES,
    SPLIT,
    GROUP,
)


@dataclass(frozen=True)
class ScoredRow:
    """A pair, or a text without a second one, with its score as a file has it; `number` as Record's."""

    number: int
    pair: Pair  # its score is NaN in a row that is left out
    split: str = ""
    group: str = ""
    lacks: str = ""  # why the row is left out

    @property
    def label(self) -> str:
        """The score as text: rows with the same sentences should have the same."""
        return f"{self.pair.score:g}"


@dataclass(frozen=True)
class SimilarityDataset(Splits[Pair]):
    """Pairs with a score each, or single texts, whose `second` is ""."""

    @property
    def single(self) -> bool:
        """Whether the examples are single texts."""
        return not any(pair.second for pair in self.train)

    @property
    def noun(self) -> str:
        """The name of one example."""
        return "text" if self.single else "pair"

    @property
    def points(self) -> tuple[int, ...]:
        """Whole numbers, evenly spaced, that mark the scale: of pairs from 0 to 5, of texts around their scores."""
        scores = [pair.score for split in (self.train, self.validation, self.test) for pair in split]
        return points_of(scores) if self.single else POINTS

    @property
    def trained_range(self) -> tuple[float, float, float]:
        """The lowest, the mean and the highest score of the training examples."""
        scores = [pair.score for pair in self.train]
        return min(scores), sum(scores) / len(scores), max(scores)


def points_of(scores: Sequence[float]) -> tuple[int, ...]:
    """Whole numbers from below the lowest score to above the highest, 1, 2, 5, 10, … apart: MOST_STEPS or few more."""
    low, high = math.floor(min(scores)), math.ceil(max(scores))
    steps = (factor * 10**power for power in count() for factor in (1, 2, 5))
    step = next(step for step in steps if high - low <= MOST_STEPS * step)
    return tuple(range(low // step * step, -(-high // step) * step + 1, step))


def width_of(points: Sequence[int]) -> float:
    """The width of a scale in units of that from 0 to 5: the factor for a fresh last layer's weights."""
    return (points[-1] - points[0]) / (HIGHEST - LOWEST)


def rating_of(scores: Sequence[float | None]) -> tuple[int, int] | None:
    """(the lowest, the highest) of scores that look like a rating of five or more steps; None for any others.

    These are whole numbers, either without a gap or from 0 to 100, and some are there more than once.
    """
    whole = {int(score) for score in scores if score is not None and score == int(score)}
    if len(whole) not in RATING or len(whole) == len(scores) or len(whole) < len(set(scores)):
        return None
    low, high = min(whole), max(whole)
    return (low, high) if high - low < len(whole) or 0 <= low <= high <= 100 else None


def similarity_rows(records: Sequence[Record]) -> list[ScoredRow]:
    """Rows from records of COLUMNS, of single texts where no record has a second sentence.

    Raises UserError for a pair that lacks a sentence or its score, where most texts lack something, and for a score
    that is none.
    """
    single = not any(record["sentence2"].strip() for record in records)
    rows = [_text_row(record) if single else _pair_row(record) for record in records]
    refuse_most_lacking(rows)
    return rows


def _pair_row(record: Record) -> ScoredRow:
    first, second = _sentence(record, "sentence1", "first"), _sentence(record, "sentence2", "second")
    if not record[SCORE_ROLE].strip():
        raise UserError(f"Row {record.number:,} has no score.")
    score = _score(record)
    if not LOWEST <= score <= HIGHEST:
        raise UserError(
            f"Row {record.number:,} has the score {record[SCORE_ROLE].strip()[:20]}; scores must be from {LOWEST:g} "
            f"(nothing in common) to {HIGHEST:g} (the same meaning)."
        )
    return ScoredRow(record.number, Pair(first, second, score), *_kept_with(record))


def _text_row(record: Record) -> ScoredRow:
    text = clean_text(record["sentence1"], f"Row {record.number:,}").strip()
    lacks = "no text" if not text else "no score" if is_missing(record[SCORE_ROLE]) else ""
    score = math.nan if lacks else _score(record)
    if abs(score) > MAX_SCORE:
        raise UserError(
            f"Row {record.number:,} has the score {score:g}; it must be between −{MAX_SCORE:,.0f} and {MAX_SCORE:,.0f}."
        )
    return ScoredRow(record.number, Pair(text, "", score), *_kept_with(record), lacks)


def _kept_with(record: Record) -> tuple[str, str]:
    """(its split, its group)."""
    return record["split"].strip(), str(record.values.get("group", "")).strip()


def _sentence(record: Record, role: str, which: str) -> str:
    text = clean_text(record[role], f"Row {record.number:,}").strip()
    if not text:
        raise UserError(f"Row {record.number:,} has no {which} sentence.")
    return text


def _score(record: Record) -> float:
    """A finite number, exactly as written: 3.8 stays 3.8, and 3,8 is the same."""
    written = record[SCORE_ROLE].strip()
    score = number_of(written)
    if score is None:
        raise UserError(f"Row {record.number:,} has a score that is not a number: {written[:20]!r}.")
    return score


def usable_scores(rows: Sequence[ScoredRow]) -> tuple[list[ScoredRow], dict[str, int]]:
    """(the rows with a text and a score, how many were left out for which reason)."""
    return [row for row in rows if not row.lacks], dict(Counter(row.lacks for row in rows if row.lacks))


def build_similarity(
    name: str, rows: Sequence[ScoredRow], seed: int = 0, max_train: int = MAX_TRAIN
) -> SimilarityDataset:
    """Splits and bounds from rows, by the rules of `split_items`.

    Raises UserError for too few pairs or texts, and where the scores of a split do not differ.
    """
    used, left_out = usable_scores(rows)
    single = not any(row.pair.second for row in used)
    noun = "text" if single else "pair"
    if len(used) < MIN_PAIRS:
        raise UserError(f"The file has {count_of(len(used), noun)}; at least {MIN_PAIRS} are needed.")
    # Of a small rating, a split that is drawn without regard to the scores may have only one.
    rated = single and min(Counter(row.label for row in used).values()) >= MIN_PER_CLASS
    # A pair the other way round is the same sentences over again, which a test split must not be tested with.
    items = [
        Item(
            row.number,
            "\n".join(sorted(map(same, (row.pair.first, row.pair.second)))),
            row.label if rated else "",
            row.split,
            row.pair,
            row.label,
            row.group,
        )
        for row in used
    ]
    parts = split_items(items, seed, max_train, noun, strata="score by score")
    for split, pairs in (("training", parts.train), ("validation", parts.validation), ("test", parts.test)):
        if len({pair.score for pair in pairs}) < 2:
            raise UserError(
                f"The scores of the {split} {noun}s are all the same, so there is nothing that a prediction could "
                "follow."
            )
    notes = (*left_out_notes(left_out), *parts.notes)
    if not single:
        notes += shared_note(*([(pair.first, pair.second) for pair in split] for split in (parts.train, parts.test)))
    elif not any(row.group for row in used):
        notes += contained_note(*([pair.first for pair in split] for split in (parts.train, parts.test)))
    return SimilarityDataset(name, parts.train, parts.validation, parts.test, notes)


READER = Reader(
    "similarity",
    "A text and a number in each row (named text and score), or columns named sentence1, sentence2 and score (a number "
    "from 0 to 5, such as 3.8); optionally split.",
    COLUMNS,
    similarity_rows,
    build_similarity,
    nameless=("sentence1", "sentence2", SCORE_ROLE),
    otherwise=SINGLE_TEXTS,
)
READERS = (READER,)
SOURCES = (READER.bundled("similarity", "Similarity", "similarity.tsv"),)
