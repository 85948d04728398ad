"""What the tests of the bundled, hand-written data sets share: reading, overlap of words, mean-pooled vectors."""

import csv
import functools
import itertools
import re
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from demos.bert.model.batches.padding import pad
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel

DATA = Path(__file__).parents[2] / "assets" / "data"
SPLITS = ("train", "validation", "test")
BATCH = 48
NEGATIONS = re.compile(r"\b(not|no|never|none|nothing|nobody|no one|neither|nor|without|hardly|cannot)\b|n't\b")

Row = dict[str, str]


def read_rows(path: Path, *, honour_quotes: bool = False) -> list[Row]:
    """The lines after the header, by column name; no bundled file needs its quotes honoured."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(
            csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL if honour_quotes else csv.QUOTE_NONE)
        )


def where(rows: list[Row], *splits: str) -> np.ndarray:
    """The row numbers of the given splits."""
    return np.array([i for i, row in enumerate(rows) if row["split"] in splits])


def words(text: str) -> list[str]:
    """The lowercased words without punctuation; an apostrophe inside a word stays."""
    return re.findall(r"\w+(?:'\w+)*", text.lower())


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """The word 3-grams; a sentence of fewer words is its own single n-gram."""
    found = words(text)
    return frozenset(tuple(found[i : i + 3]) for i in range(max(1, len(found) - 2)))


def jaccard(first: frozenset, second: frozenset) -> float:
    """|A and B| / |A or B|, 0 to 1."""
    return len(first & second) / len(first | second)


@functools.cache  # several tests ask for the same
def vectors_of(loaded: LoadedModel, file: str, columns: tuple[str, ...] = ("text",)) -> np.ndarray:
    """The `mean_vectors` of these columns of a bundled TSV, each row's texts joined by a blank: [rows, d]."""
    return mean_vectors(loaded, [" ".join(row[column] for column in columns) for row in read_rows(DATA / file)])


def accuracy(classifier: LogisticRegression | Pipeline, features: np.ndarray, rows: list[Row]) -> float:
    """Fitted on train, scored on test."""
    labels, train, test = np.array([row["label"] for row in rows]), where(rows, "train"), where(rows, "test")
    return float(classifier.fit(features[train], labels[train]).score(features[test], labels[test]))


def sheet_of(file: str) -> str:
    """The datasheet with its line breaks as spaces, so that a phrase is found wherever it is broken."""
    return " ".join((DATA / file).with_suffix(".md").read_text(encoding="utf-8").split())


def mean_vectors(loaded: LoadedModel, texts: list[str]) -> np.ndarray:
    """Unit mean-pooled vectors of the last layer, <float32>[len(texts), d], in batches of like length."""
    encodings = [encode(loaded.tokenizer, text) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
    vectors = np.empty((len(texts), loaded.spec.width), dtype=np.float32)
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        batch = pad(loaded.tokenizer, [encodings[i] for i in part])
        mask = torch.tensor(batch.attention_mask)
        with torch.inference_mode():
            hidden = loaded.model(input_ids=torch.tensor(batch.input_ids), attention_mask=mask).last_hidden_state
            vectors[part] = ((hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)).numpy()
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def stray_text(text: str) -> bool:
    """White space that is not one plain space, a control character, or a dash or quote off the keyboard."""
    return (
        text != " ".join(text.split())
        or any(unicodedata.category(c).startswith("C") for c in text)
        or any(c in "\u2013\u2014\u2018\u2019\u201c\u201d\u2026" for c in text)
    )


def frames(texts: list[str], most: int) -> dict[tuple[str, ...], int]:
    """The four-word openings and the five-word runs that stand in more than `most` of the texts."""
    openings = Counter(tuple(words(text)[:4]) for text in texts)
    runs: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        found = words(text)
        runs.update({tuple(found[i : i + 5]) for i in range(len(found) - 4)})
    return {frame: n for frame, n in (openings + runs).items() if n > most}


def near_copies(texts: list[str], most: float) -> list[tuple[int, int]]:
    """The pairs of texts, by number, that share `most` of their word 3-grams or more."""
    grams = [trigrams(text) for text in texts]
    holders: dict[tuple[str, ...], list[int]] = {}
    for i, found in enumerate(grams):
        for gram in found:
            holders.setdefault(gram, []).append(i)
    pairs = {pair for held in holders.values() for pair in itertools.combinations(held, 2)}
    return sorted((i, j) for i, j in pairs if jaccard(grams[i], grams[j]) >= most)
