"""Our own film reviews: what gives no label away, how far a model gets, and that their datasheet tells it right."""

import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.models import LoadedModel
from demos.training.data.labelled_sentences import own_reviews, split_rows
from demos.training.frozen_classifier import fit_guess, fit_plain
from tests.training.data.test_bundled_shortcuts import lengths_told, surface
from tests.training.hand_written_data import DATA, NEGATIONS, accuracy, read_rows, sheet_of, vectors_of

ROWS = read_rows(DATA / "films.tsv")
TEXTS = [row["text"] for row in ROWS]
POSITIVE = np.array([row["label"] == "positive" for row in ROWS])
SHEET = sheet_of("films.tsv")


def cross_validated(pipeline: Pipeline, features: np.ndarray) -> float:
    """The mean accuracy over 4 times 5 folds."""
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    return float(cross_val_score(pipeline, features, POSITIVE, cv=folds).mean())


def test_the_datasheet_tells_the_count_the_lengths_and_examples() -> None:
    assert len(ROWS) == 400
    assert f"{len(ROWS)} short English remarks" in SHEET
    assert lengths_told(TEXTS) in SHEET
    examples = re.findall(r'"([^"]+)" \((positive|negative)\)', SHEET)
    assert len(examples) >= 6
    assert set(examples) <= {(row["text"], row["label"]) for row in ROWS}


def test_both_classes_are_written_alike() -> None:
    small = np.array([text[0].islower() for text in TEXTS])
    negated = np.array([bool(NEGATIONS.search(text.lower())) for text in TEXTS])
    lengths = np.array([len(text.split()) for text in TEXTS])
    assert 0.3 < small.mean() < 0.5  # fragments
    assert negated.mean() > 0.15
    for share in (small, negated):
        assert abs(share[POSITIVE].mean() - share[~POSITIVE].mean()) < 0.05
    assert abs(lengths[POSITIVE].mean() - lengths[~POSITIVE].mean()) < 0.5


@pytest.mark.slow
def test_neither_the_surface_nor_single_words_give_the_label_away() -> None:
    regression = LogisticRegression(max_iter=1_000)
    marks = cross_validated(
        make_pipeline(StandardScaler(), regression), np.array([surface(text) for text in TEXTS], dtype=float)
    )
    bag = cross_validated(make_pipeline(TfidfVectorizer(), regression), np.array(TEXTS, dtype=object))
    assert marks < 0.6
    assert bag < 0.65
    assert f"it gets {marks:.2f}, cross-validated, and over TF-IDF weights of words {bag:.2f}" in SHEET


@pytest.mark.slow
def test_a_model_learns_them_better_than_guessing(bundled: LoadedModel) -> None:
    mean = accuracy(LogisticRegression(max_iter=1_000), vectors_of(bundled, "films.tsv"), ROWS)
    data = own_reviews(only_films=True)
    split = split_rows(data, "0")
    layer = Choice("cls", bundled.model.config.num_hidden_layers)
    features = next(iter(VectorCache().get(bundled, data.texts, [layer])))
    walk, guess = fit_plain(features, data, split), fit_guess(data, split)
    assert len(split.test) == 100
    assert walk.interval[0] > guess.scores.accuracy == 0.5
    assert f"(train to test) gets {mean:.2f}" in SHEET
    assert f'that "Tensors" holds out, {walk.scores.accuracy:.2f}; guessing gets 0.50' in SHEET
