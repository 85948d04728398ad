"""Cross-validation of question answering by paragraph: what the benchmark `quality` tests on."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from demos.errors import UserError
from demos.training.tasks.question_answering.data import QuestionDataset, distinct_questions
from demos.training.tasks.question_answering.files import QuestionExample, QuestionRow


def folds_of(name: str, rows: Sequence[QuestionRow], folds: int = 5, seed: int = 0) -> list[QuestionDataset]:
    """Cross-validation by paragraph: each paragraph's questions are tested in one fold and trained on in all others.

    A fold's test split is also watched; nothing is chosen by what is seen there. Raises UserError for too few.
    """
    distinct, notes = distinct_questions(rows)
    by_paragraph: dict[str, list[QuestionExample]] = defaultdict(list)
    for row in distinct:
        by_paragraph[row.key].append(row.value)
    keys = list(by_paragraph)
    if not 2 <= folds <= len(keys):
        raise UserError(f"{folds} folds need as many paragraphs, and at least two; there are {len(keys):,}.")
    random.Random(f"{seed} folds").shuffle(keys)
    datasets = []
    for fold in range(folds):
        held_out = set(keys[fold::folds])
        parts = [
            tuple(example for key in by_paragraph if (key in held_out) == tested for example in by_paragraph[key])
            for tested in (False, True)
        ]
        datasets.append(QuestionDataset(f"{name}, fold {fold + 1}", parts[0], parts[1], parts[1], tuple(notes)))
    return datasets
