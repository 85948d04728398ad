"""The data of question answering: questions on paragraphs, in three splits that share no paragraph, or in folds."""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.readers import Reader
from demos.training.data.splits import MAX_TRAIN, Item, Splits, count_of, same, split_items, split_name
from demos.training.tasks.question_answering.files import (
    MAX_CONTEXT,
    MAX_QUESTION,
    QUESTION_COLUMNS,
    QuestionExample,
    QuestionRow,
    question_rows,
    read_questions,
)

MIN_PARAGRAPHS, MIN_QUESTIONS = 5, 10
MAX_VALIDATION, MAX_TEST = 100, 400  # questions: each is a whole paragraph to read


@dataclass(frozen=True)
class QuestionDataset(Splits[QuestionExample]):
    """Questions, no paragraph in two splits."""

    kind: ClassVar[str] = "question"
    labels: ClassVar[tuple[str, ...]] = ()

    def paragraphs(self, split: str) -> int:
        """The number of different paragraphs in a split."""
        return len({example.context for example in getattr(self, split)})

    @property
    def has_unanswerable(self) -> bool:
        """Whether some training question has no answer in its paragraph, as in SQuAD 2.0."""
        return not all(example.answers for example in self.train)

    def counts(self, split: str) -> dict[str, int]:
        """Questions by their question word, the most frequent first."""
        return dict(Counter(example.word for example in getattr(self, split)).most_common())


def build_questions(
    name: str, rows: Sequence[QuestionRow], seed: int = 0, max_train: int = MAX_TRAIN
) -> QuestionDataset:
    """Splits by paragraph, by the rules of `split_items`, and bounds on their questions.

    A paragraph that the file has in two splits is tested rather than trained on. Raises UserError for too few.
    """
    distinct, notes = distinct_questions(rows)
    by_paragraph: dict[tuple[str, str], list[QuestionRow]] = defaultdict(list)
    for row in distinct:
        by_paragraph[row.key, split_name(row.split, row.number)].append(row)
    items = [
        Item(group[0].number, key, "", split, [row.value for row in group])
        for (key, split), group in by_paragraph.items()
    ]
    parts = split_items(items, seed, max(1, len(items)), "paragraph", _enough)
    splits: dict[str, tuple[QuestionExample, ...]] = {}
    limits = {"train": max_train, "validation": MAX_VALIDATION, "test": MAX_TEST}
    for (split, limit), groups in zip(limits.items(), (parts.train, parts.validation, parts.test), strict=True):
        examples = [example for group in groups for example in group]
        if len(examples) > limit:
            notes.append(f"{limit:,} of {count_of(len(examples), 'question')} in the {split} split are used.")
            drawn = random.Random(f"{seed} {split}").sample(range(len(examples)), limit)
            examples = [examples[place] for place in sorted(drawn)]
        splits[split] = tuple(examples)
    return QuestionDataset(name, splits["train"], splits["validation"], splits["test"], (*notes, *parts.notes))


def distinct_questions(rows: Sequence[QuestionRow]) -> tuple[list[QuestionRow], list[str]]:
    """(each question of a paragraph once in a split; notes). Raises UserError where no question has an answer."""
    notes = list(dict.fromkeys(row.places.note for row in rows if row.places.note))
    unanswerable = sum(not row.value.answers for row in rows)
    if rows and unanswerable == len(rows):
        raise UserError("No question has an answer.")
    if unanswerable:
        notes.append(f"{count_of(unanswerable, 'question')} without an answer in the paragraph, as in SQuAD 2.0.")
    first: dict[tuple[str, str, str], QuestionRow] = {}
    for row in rows:
        first.setdefault((same(row.value.question), row.key, split_name(row.split, row.number)), row)
    if len(first) < len(rows):
        repeated = count_of(len(rows) - len(first), "question")
        notes.append(f"{repeated} left out: an earlier row has the same question and paragraph.")
    return list(first.values()), notes


def _enough(distinct: Sequence[Item[list[QuestionExample]]]) -> None:
    questions = sum(len(item.value) for item in distinct)
    if len(distinct) < MIN_PARAGRAPHS or questions < MIN_QUESTIONS:
        raise UserError(
            f"The data has {count_of(questions, 'question')} on {count_of(len(distinct), 'paragraph')}; at least "
            f"{MIN_QUESTIONS} on {MIN_PARAGRAPHS} are needed, since no paragraph may be in two splits."
        )


def example_of(boxes: Sequence[str]) -> QuestionExample:
    """A person's own question and paragraph. Raises UserError for what is missing or too long."""
    question, context = (clean_text(box, "The text").strip() for box in (*boxes, "", "")[:2])
    if not question:
        raise UserError("Write a question first.")
    if not context:
        raise UserError("Write the paragraph in which to look for an answer.")
    for what, text, limit in (("question", question, MAX_QUESTION), ("paragraph", context, MAX_CONTEXT)):
        if len(text) > limit:
            raise UserError(f"The {what} has {len(text):,} characters; the limit is {limit:,}.")
    return QuestionExample(" ".join(question.split()), context)


READER = Reader(
    "question",
    "SQuAD's JSON, or columns question, context and answer (answer_start where the answer occurs more than once).",
    QUESTION_COLUMNS,
    question_rows,
    build_questions,
    read_file=read_questions,
    forms="SQuAD’s JSON, CSV or Excel",
)
READERS = (READER,)
SOURCES = (
    READER.bundled("questions", "Questions", "questions.json"),
    READER.bundled("unanswerable", "Some unanswerable", "unanswerable.json"),
)
