"""The premises and hypotheses of our own: plain text, each premise with each relation, no premise in two splits."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from demos.bert.model.models import LoadedModel
from demos.training.sources import SOURCES
from demos.widgets.tasks.classification.view import PairView
from tests.one_line import flat
from tests.training.hand_written_data import (
    DATA,
    NEGATIONS,
    accuracy,
    frames,
    near_copies,
    read_rows,
    sheet_of,
    stray_text,
    vectors_of,
    words,
)

CLASSES = ("contradiction", "entailment", "neutral")
ROWS = read_rows(DATA / "entailment.tsv")
PREMISES = [row["premise"] for row in ROWS]
HYPOTHESES = [row["hypothesis"] for row in ROWS]
LABELS = np.array([row["label"] for row in ROWS])
SIZES = {"train": 327, "validation": 42, "test": 90}
CHANCE = 1 / len(CLASSES)


def told(value: float) -> str:
    """A share as the sheet has it."""
    return f"{value:.2f}"


def test_each_premise_has_one_hypothesis_of_each_relation_and_one_split() -> None:
    by_premise = defaultdict(list)
    for row in ROWS:
        assert tuple(row) == ("premise", "hypothesis", "label", "split")
        assert not any(stray_text(cell) or not cell for cell in row.values())
        by_premise[row["premise"]].append(row)
    assert len(by_premise) == 153
    for rows in by_premise.values():
        assert sorted(row["label"] for row in rows) == sorted(CLASSES)
        assert len({row["split"] for row in rows}) == 1
    assert Counter(row["split"] for row in ROWS) == SIZES


def test_no_sentence_stands_twice_and_none_is_like_another() -> None:
    texts = [*dict.fromkeys(PREMISES), *HYPOTHESES]
    assert len({" ".join(words(text)) for text in texts}) == len(texts) == 153 * 4
    assert near_copies([*dict.fromkeys(PREMISES)], 0.5) == []
    premise = {row["hypothesis"]: row["premise"] for row in ROWS}
    alike = [(HYPOTHESES[i], HYPOTHESES[j]) for i, j in near_copies(HYPOTHESES, 0.6)]
    assert [pair for pair in alike if premise[pair[0]] != premise[pair[1]]] == []
    assert frames(HYPOTHESES, 3) == {}


def test_the_page_reads_it_as_pairs() -> None:
    data = SOURCES["entailment"].load(0, 1_500)
    assert (data.kind, data.labels) == ("pair", CLASSES)  # type: ignore[attr-defined]
    assert {split: len(getattr(data, split)) for split in SIZES} == SIZES
    assert data.notes == ()  # no row is left out, no sentence is in two splits


def test_lengths_and_negations_are_about_the_same_in_each_class() -> None:
    by_class = [[text for text, label in zip(HYPOTHESES, LABELS, strict=True) if label == one] for one in CLASSES]
    lengths = [np.mean([len(words(text)) for text in texts]) for texts in by_class]
    negated = [np.mean([bool(NEGATIONS.search(text.lower())) for text in texts]) for texts in by_class]
    assert max(lengths) - min(lengths) < 0.6
    assert min(negated) > 0.15
    assert max(negated) - min(negated) < 0.08
    sheet = sheet_of("entailment.tsv")
    assert ", ".join(f"{length:.1f} ({name})" for name, length in zip(CLASSES, lengths, strict=True)) in sheet
    assert ", ".join(f"{share:.0%}" for share in negated).replace("%", " %") in sheet


def test_no_word_gives_a_class_away() -> None:
    counts = {one: Counter[str]() for one in CLASSES}
    for text, label in zip(HYPOTHESES, LABELS, strict=True):
        counts[label].update(set(words(text)))
    every = sum(counts.values(), Counter())
    frequent = [word for word, count in every.items() if count >= 10]
    assert {"not", "no", "more", "all"} <= set(frequent)
    skewed = {word for word in frequent if max(of[word] for of in counts.values()) > 0.6 * every[word]}
    assert skewed == set()


@pytest.mark.slow
def test_a_classifier_of_the_hypothesis_alone_does_little_more_than_guess(bundled: LoadedModel) -> None:
    """What such data gives away (Gururangan et al. 2018): the sheet says how much it is here."""
    model, folds = LogisticRegression(max_iter=1_000), GroupKFold(8)
    sheet = sheet_of("entailment.tsv")
    counts = CountVectorizer(ngram_range=(1, 2)).fit_transform(HYPOTHESES)
    vectors = vectors_of(bundled, "entailment.tsv", ("hypothesis",))
    for name, features, most in (("words and word pairs", counts, 0.4), ("mean vector", vectors, 0.45)):
        guesses = cross_val_predict(model, features, LABELS, groups=PREMISES, cv=folds)
        share = float((guesses == LABELS).mean())
        assert CHANCE - 0.08 < share < most, name
        assert f"its {name} {told(share)}" in sheet


def test_shared_words_alone_do_not_solve_it() -> None:
    shared = [
        [len({*words(row["hypothesis"])} & {*words(row["premise"])}) / len({*words(row["hypothesis"])})] for row in ROWS
    ]
    share = accuracy(LogisticRegression(), np.array(shared), ROWS)
    assert share < 0.6
    assert f"gets {told(share)} on the test pairs" in sheet_of("entailment.tsv")


def test_the_page_says_how_far_the_bundled_model_gets(bundled: LoadedModel) -> None:
    shown = flat(PairView().data(SOURCES["entailment"].load(0, 1_500), bundled.tokenizer))
    mean, shared = re.findall(r"an accuracy of (\d\.\d\d) .* alone (\d\.\d\d)\)", shown)[0]
    assert f"3 epochs, rate 1e-4 | {mean} |" in sheet_of("entailment.tsv")
    assert f"gets {shared} on the test pairs" in sheet_of("entailment.tsv")
    assert "MNLI" not in flat(PairView().data(SOURCES["paraphrase"].load(0, 1_500), bundled.tokenizer))


def test_the_examples_of_the_datasheet_stand_in_the_file() -> None:
    told_pairs = re.findall(r'\| (\w+) +\| [^|]+ \| "([^"]+)" / "([^"]+)" \|', sheet_of("entailment.tsv"))
    assert len(told_pairs) == 7
    assert set(told_pairs) <= {(row["label"], row["premise"], row["hypothesis"]) for row in ROWS}
