"""The data of a run on similarity: pairs of sentences with a score from 0 to 5, in three splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demos.bert.embeddings.agreement import Pair
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.columns.mapping import Column
from demos.training.data.columns.profiles import NUMBERS, TEXTS
from demos.training.data.rated_pairs import FIRST, SCORE, SECOND, number_of
from demos.training.data.readers import Reader
from demos.training.data.splits import MAX_TRAIN, Item, Splits, count_of, same, shared_note, split_items
from demos.training.data.tables import SPLIT, Record

LOWEST, HIGHEST = 0.0, 5.0  # STS-B's scale: nothing in common, the same meaning
MIN_PAIRS = 20
SCORE_ROLE = "score"
COLUMNS = (
    Column("sentence1", FIRST, holds=TEXTS),
    Column("sentence2", SECOND, holds=TEXTS),
    Column(SCORE_ROLE, SCORE, holds=NUMBERS),
    SPLIT,
)


@dataclass(frozen=True)
class ScoredRow:
    """A pair with its score as a file has it; `number` as Record's."""

    number: int
    pair: Pair
    split: str = ""

    @property
    def label(self) -> str:
        """The score as text: rows with the same sentences should have the same."""
        return f"{self.pair.score:g}"


@dataclass(frozen=True)
class SimilarityDataset(Splits[Pair]):
    """Pairs with a score each."""

    @property
    def trained_range(self) -> tuple[float, float, float]:
        """The lowest, the mean and the highest score of the training pairs."""
        scores = [pair.score for pair in self.train]
        return min(scores), sum(scores) / len(scores), max(scores)


def similarity_rows(records: Sequence[Record]) -> list[ScoredRow]:
    """Rows from records of COLUMNS. Raises UserError for one without a sentence, or whose score is none."""
    return [
        ScoredRow(
            record.number,
            Pair(_sentence(record, "sentence1", "first"), _sentence(record, "sentence2", "second"), _score(record)),
            record["split"].strip(),
        )
        for record in records
    ]


def _sentence(record: Record, role: str, which: str) -> str:
    text = clean_text(record[role], f"Row {record.number:,}").strip()
    if not text:
        raise UserError(f"Row {record.number:,} has no {which} sentence.")
    return text


def _score(record: Record) -> float:
    """A number from LOWEST to HIGHEST, exactly as it is written: 3.8 stays 3.8, and 3,8 is the same."""
    written = record[SCORE_ROLE].strip()
    if not written:
        raise UserError(f"Row {record.number:,} has no score.")
    score = number_of(written)
    if score is None:
        raise UserError(f"Row {record.number:,} has a score that is not a number: {written[:20]!r}.")
    if not LOWEST <= score <= HIGHEST:
        raise UserError(
            f"Row {record.number:,} has the score {written[:20]}; scores must be from {LOWEST:g} (nothing in common) "
            f"to {HIGHEST:g} (the same meaning)."
        )
    return score


def build_similarity(
    name: str, rows: Sequence[ScoredRow], seed: int = 0, max_train: int = MAX_TRAIN
) -> SimilarityDataset:
    """Splits and bounds from rows, by the rules of `split_items`.

    Raises UserError for too few pairs, and where the scores of a split do not differ.
    """
    if len(rows) < MIN_PAIRS:
        raise UserError(f"The file has {count_of(len(rows), 'pair')}; at least {MIN_PAIRS} are needed.")
    # A pair the other way round is the same sentences over again, which a test split must not be tested with.
    items = [
        Item(
            row.number,
            "\n".join(sorted(map(same, (row.pair.first, row.pair.second)))),
            "",
            row.split,
            row.pair,
            row.label,
        )
        for row in rows
    ]
    parts = split_items(items, seed, max_train, "pair")
    for split, pairs in (("training", parts.train), ("validation", parts.validation), ("test", parts.test)):
        if len({pair.score for pair in pairs}) < 2:
            raise UserError(
                f"The scores of the {split} pairs are all the same, so there is nothing that a prediction could follow."
            )
    train, test = ([(pair.first, pair.second) for pair in pairs] for pairs in (parts.train, parts.test))
    notes = parts.notes + shared_note(train, test)
    return SimilarityDataset(name, parts.train, parts.validation, parts.test, notes)


READER = Reader(
    "similarity",
    "Columns named sentence1, sentence2 and score (a number from 0 to 5, such as 3.8); optionally split.",
    COLUMNS,
    similarity_rows,
    build_similarity,
    nameless=("sentence1", "sentence2", SCORE_ROLE),
)
READERS = (READER,)
SOURCES = (READER.bundled("similarity", "Similarity", "similarity.tsv"),)
