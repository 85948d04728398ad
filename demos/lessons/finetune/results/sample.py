"""The sample in "What was learned" before a reader has trained: one run of ours, measured once and labeled so."""

import json
from dataclasses import dataclass
from functools import cache

import numpy as np

from demos.bert.model.encoding import encode
from demos.files import Json, read_asset
from demos.training.results.answers import StoredAnswers
from demos.training.results.evidence import Error, Evidence, Rationale
from demos.training.tasks.classification.data import Example
from demos.widgets.tasks.registry import own_tokenizer

FILE = "data/after.json"


@dataclass(frozen=True, eq=False)
class Sample:
    """A finished run, without its model."""

    description: str  # the model and its training data, plain text
    text: str  # the sentence that the heads were compared on
    labels: tuple[str, ...]
    answers: StoredAnswers
    heads: np.ndarray  # [L, A]: the share of attention that moved
    errors: tuple[Error, ...]
    evidence: tuple[Evidence, ...]  # of each of them


@cache
def sample() -> Sample:
    """The run in assets/data/after.json."""
    document = json.loads(read_asset(FILE))
    errors = tuple(
        Error(number, Example(row["text"], row["label"]), row["predicted"], row["probability"])
        for number, row in enumerate(document["errors"])
    )
    evidence = tuple(_evidence(row) for row in document["errors"])
    answers = StoredAnswers(len(document["right"]), tuple(document["confidence"]), tuple(map(bool, document["right"])))
    labels, heads = tuple(document["labels"]), np.array(document["heads"])
    return Sample(document["told"], document["text"], labels, answers, heads, errors, evidence)


def _evidence(row: Json) -> Evidence:
    arrays = {name: np.array(row[name]) for name in ("gradient", "integrated", "left_out")}
    values = arrays | {name: row[name] for name in ("probability", "margin", "empty", "masked")}
    rationales = tuple(Rationale(tuple(words), *rest) for words, *rest in row["rationales"])
    encoding = encode(own_tokenizer(), row["text"])
    return Evidence(encoding, row["predicted"], row["label"], **values, rationales=rationales)
