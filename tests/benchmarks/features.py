"""Frozen vectors into a logistic regression on SST-2, as in "A Visual Guide to Using BERT for the First Time".

`python tests/benchmarks features TRAIN.tsv [DEV.tsv]`: the first 2,000 different rows of the guide's file (sentence TAB
0 or 1), ten splits of 1,500 and 500, the bundled model. DEV.tsv is scored by the same classifiers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from demos.bert.embeddings.frozen_features import CONCAT_ALL, joined, parts_of
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.lessons.embeddings.frozen_features.figure import feature_name
from demos.training.data.labelled_sentences import SEEDS, from_bytes, split_rows
from demos.training.data.sst2 import PUBLISHED
from demos.training.data.tables import read_rows
from demos.training.frozen_classifier import Fit, chosen, fit_guess, fit_vectors, fit_words

LEAST_LAST, LEAST_BEST = 0.75, 0.79  # what the project promises of the last layer's mean, and of the best it finds


def main(files: list[Path], short: bool = False) -> None:
    """Print the table; SystemExit where the promise is not kept. Without a path, say so and do nothing."""
    if not files:
        print("  no file was named: python tests/benchmarks features TRAIN.tsv [DEV.tsv], with the guide's file")
        return
    data = from_bytes(files[0].read_bytes(), files[0].name)
    dev = len(files) > 1
    others = read_rows(files[1].read_bytes(), files[1].name) if dev else []
    truth = np.array([int(row.label) for row in others])
    loaded = ModelStore().get(BUNDLED)
    deepest = loaded.model.config.num_hidden_layers
    layers: list[int | str] = [*range(deepest + 1), SUM_LAST_FOUR, SUM_ALL, CONCAT_LAST_FOUR, CONCAT_ALL]
    if short:
        layers = [deepest]
    choices = [Choice("cls", deepest), Choice("max", deepest), *[Choice("mean", layer) for layer in layers]]
    parts = list(dict.fromkeys(part for choice in choices for part in parts_of(choice, deepest)))
    cache = VectorCache()
    vectors = dict(zip(parts, cache.get(loaded, data.texts, parts), strict=True))
    unseen = dict(zip(parts, cache.get(loaded, [row.text for row in others], parts), strict=True)) if dev else {}

    table: dict[str, list[tuple[float, ...]]] = {}

    def note(name: str, fit: Fit, on_dev: float) -> None:
        table.setdefault(name, []).append((fit.cross_validated, fit.scores.accuracy, on_dev))

    for seed in range(2 if short else SEEDS):
        split = split_rows(data, str(seed))
        note("guessing", guess := fit_guess(data, split), _share(guess, np.zeros((len(truth), 1)), truth))
        texts = np.array([row.text for row in others], dtype=object)
        note("words alone (TF-IDF)", words := fit_words(data, split), _share(words, texts, truth))
        fits: dict[Choice, Fit] = {}
        scores: dict[Choice, float] = {}
        for choice in choices:
            fits[choice] = fit_vectors(joined(choice, deepest, vectors), data, split)
            rows = joined(choice, deepest, unseen) if dev else np.zeros((0, 1))
            scores[choice] = _share(fits[choice], rows, truth)
            note(feature_name(choice, deepest), fits[choice], scores[choice])
        best = chosen(fits)
        note("the one cross-validation picks", fits[best], scores[best])
    print(f"{data.name}: {len(split.train):,} to learn from, {len(split.test):,} held out, {SEEDS} splits")
    print(f"{'accuracy, mean and sd':40}{'cross-validated':>18}{'held out':>18}{'dev' if dev else '':>18}")
    for name, found in table.items():
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        columns = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)][: 3 if dev else 2]
        print(f"{name:40}" + "".join(f"{column:>18}" for column in columns))
    print("The guide publishes: " + ", ".join(f"{name} {value:.3f}" for name, value in PUBLISHED))
    last = np.mean([found[1] for found in table[feature_name(Choice("mean", deepest), deepest)]])
    picked = np.mean([found[1] for found in table["the one cross-validation picks"]])
    if short:
        return
    if last < LEAST_LAST:
        raise SystemExit(f"the last layer's mean reaches {last:.3f}, promised {LEAST_LAST}")
    if picked < LEAST_BEST:
        raise SystemExit(f"the best found reaches {picked:.3f}, promised {LEAST_BEST}")


def _share(fit: Fit, rows: np.ndarray, truth: np.ndarray) -> float:
    """Accuracy on further rows; nan for none."""
    return float((fit.pipeline.predict_proba(rows).argmax(axis=1) == truth).mean()) if len(truth) else float("nan")
