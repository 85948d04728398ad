"""How much data: nested parts, equal steps, the words' classifier, and a whole measurement that is stopped or not."""

import itertools
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training import learning_curve
from demos.training.compute_cost import cost_of
from demos.training.learning.learner import Learner
from demos.training.learning.model import load_encoder
from demos.training.learning_curve import (
    LSTM,
    MAX_EPOCHS,
    PRETRAINED,
    SCRATCH,
    SCRATCH_SEEDS,
    SHARES,
    WORDS,
    Measurement,
    checked,
    empty,
    expected_seconds,
    jobs,
    measured_from,
    nested,
    recipe,
    words_score,
)
from demos.training.service import expected_time
from demos.training.service.runs import Runs
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.classification.data import Dataset, Example, load_emotion
from demos.training.tasks.registry import task_of


def test_parts_are_nested_and_keep_the_classes_shares() -> None:
    dataset = load_emotion()
    for seed in (0, 1):
        parts = [nested(dataset, share, seed) for share in SHARES]
        for smaller, larger in itertools.pairwise(parts):
            assert set(smaller) < set(larger)
        assert parts[-1] == dataset.train
        for share, part in zip(SHARES, parts, strict=True):
            whole, found = Counter(one.label for one in dataset.train), Counter(one.label for one in part)
            assert all(abs(found[label] - share * whole[label]) <= 0.5 for label in whole)
    assert nested(dataset, 0.05, 0) != nested(dataset, 0.05, 1)
    rare = replace(dataset, train=(*dataset.train[:50], Example("the only one", 5)))
    assert {one.label for one in nested(rare, 0.05, 0)} == {one.label for one in rare.train}


def test_every_size_takes_the_whole_datas_steps_or_twenty_epochs() -> None:
    def steps(settings: Settings, examples: int) -> int:
        return settings.epochs * -(-examples // settings.batch_size)

    whole = steps(recipe(504, 504, 0, "trained"), 504)
    assert whole == 96
    for examples in (252, 126):
        assert steps(recipe(examples, 504, 0, "trained"), examples) == whole
    assert recipe(24, 504, 0, "trained").epochs == MAX_EPOCHS
    assert steps(recipe(1_500, 1_500, 0, "trained"), 1_500) == 188  # twice through, not three times
    for job in jobs(load_emotion(), 2):
        job.settings.check()
        assert job.settings.start == {PRETRAINED: "trained", SCRATCH: "scratch"}[job.series]
    assert Counter(job.series for job in jobs(load_emotion(), 2)) == {PRETRAINED: 2 * 5, SCRATCH: 3 * 5}


def test_random_weights_have_a_recipe_and_seeds_of_their_own() -> None:
    for seeds in (1, 3):
        found = [job for job in jobs(load_emotion(), seeds) if job.series == SCRATCH]
        assert Counter(job.settings.seed for job in found) == {seed: len(SHARES) for seed in range(3)}
    whole = recipe(504, 504, 0, "scratch")
    assert (whole.learning_rate, whole.epochs) == (5e-4, 8)  # 256 steps
    assert recipe(24, 504, 0, "scratch").epochs == MAX_EPOCHS
    assert recipe(504, 504, 0, "trained").learning_rate == Settings().learning_rate


def test_what_a_measurement_will_take_counts_each_start_with_its_own_seeds(
    tiny: LoadedModel, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expected_time, "products_per_second", lambda *_: 1e10)  # this machine's is measured anew
    trainings = TrainingService()

    def told(seeds: int) -> float:
        return expected_seconds(trainings, tiny, dataset, seeds)

    one, three = told(1), told(3)
    trained = [job for job in jobs(dataset, 1) if job.series == PRETRAINED]
    each = [cost_of(job.dataset, tiny.tokenizer, tiny.model, job.settings) for job in trained]
    seconds = sum(
        trainings.expected("tiny", job.dataset, job.settings, cost).seconds + learning_curve.LOAD_SECONDS
        for job, cost in zip(trained, each, strict=True)
    )
    assert three - one == pytest.approx(2 * seconds)
    assert one > 3 * seconds  # of which three times the longer recipe


def test_the_words_score_is_scikit_learns() -> None:
    dataset = load_emotion()
    train = nested(dataset, 0.25, 0)
    vectorizer = TfidfVectorizer(token_pattern=r"(?u)\w+|[^\w\s]", sublinear_tf=True)
    vectors = vectorizer.fit_transform([one.text for one in train])
    held = vectorizer.transform([one.text for one in dataset.test])
    truth = [one.label for one in dataset.test]
    reference = {
        LogisticRegression(max_iter=2_000, C=c).fit(vectors, [one.label for one in train]).score(held, truth)
        for c in (1.0, 10.0)
    }
    assert any(words_score(dataset, train) == pytest.approx(score) for score in reference)
    assert words_score(dataset, train[:1]) == pytest.approx(empty(dataset, "", 1).majority)  # one class is all it knows
    pairs = SOURCES["paraphrase"].load(0, 1_500)
    assert words_score(pairs, pairs.train) > empty(pairs, "", 1).majority  # shared words do tell something


def test_scratch_draws_every_weight_anew_and_leaves_the_files_alone(base: Path, dataset: Dataset) -> None:
    before = load_encoder(base).state_dict()
    settings = Settings(start="scratch", threads=1)
    drawn = Learner(task_of(dataset, settings), base, settings).model.encoder.state_dict()
    words = drawn["embeddings.word_embeddings.weight"]
    assert float(words.std()) == pytest.approx(0.02, rel=0.02)
    for name, value in before.items():
        if value.is_floating_point() and value.ndim > 1 and "pooler" not in name:
            correlation = np.corrcoef(value.flatten().numpy()[:5_000], drawn[name].flatten().numpy()[:5_000])[0, 1]
            assert abs(correlation) < 0.5, name  # of the 64 numbers of the segments' embeddings, say, by chance
    again = Learner(task_of(dataset, settings), base, settings).model.encoder.state_dict()
    assert torch.equal(words, again["embeddings.word_embeddings.weight"])
    layers_only = Settings(start="random", threads=1)
    kept = Learner(task_of(dataset, layers_only), base, layers_only).model.encoder.state_dict()
    assert torch.equal(kept["embeddings.word_embeddings.weight"], before["embeddings.word_embeddings.weight"])


@pytest.mark.slow
def test_a_measurement_grows_point_by_point_and_leaves_nothing(
    base: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning_curve, "SHARES", (0.1, 1.0))
    monkeypatch.setattr(learning_curve, "MAX_STEPS", 3)
    monkeypatch.setattr(learning_curve, "SCRATCH_STEPS", 3)
    monkeypatch.setattr(learning_curve, "SCRATCH_SEEDS", 1)
    trainings = TrainingService()
    seen = list(Measurement(trainings, "tiny", "Tiny", base, 40.0).of(dataset, 1))
    last = seen[-1].measured
    small, whole = (len(nested(dataset, share, 0)) for share in (0.1, 1.0))
    assert last.sizes == (small, whole)
    assert [(point.series, point.examples) for point in last.points] == [
        (series, size) for size in (small, whole) for series in (WORDS, LSTM, PRETRAINED, SCRATCH)
    ]
    assert all(0 <= point.score <= 1 for point in last.points)
    assert all((point.learned is None) == (point.series == WORDS) for point in last.points)
    assert all(0 <= point.learned <= 1 for point in last.points if point.learned is not None)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].seconds_left) == (4, 4, 0)
    assert seen[0].seconds_left == pytest.approx(40)
    assert measured_from(asdict(last)) == last
    home = trainings.runs.folder("any").parent
    assert list(home.iterdir()) == []

    asked = iter([False] * 3)
    stopped = list(Measurement(trainings, "tiny", "Tiny", base, 40.0, lambda: next(asked, True)).of(dataset, 1))
    assert len(stopped[-1].measured.points) == 2  # the words and the LSTM; the first training was under way
    assert (stopped[-1].status, stopped[-1].seconds_left) == ("stopped", 0)
    assert list(home.iterdir()) == []
    assert len(trainings.queue) == 0


@pytest.mark.slow
def test_its_models_put_nobody_elses_out(base: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_curve, "SHARES", (0.1,))
    monkeypatch.setattr(learning_curve, "MAX_STEPS", 1)
    trainings = TrainingService()
    trainings.runs = Runs(max_runs=1)
    a_students = trainings.runs.new()
    trainings.runs.folder(a_students).mkdir()
    trainings.runs.keep(a_students, "tiny")
    *_, last = Measurement(trainings, "tiny", "Tiny", base, 40.0).of(dataset, 1)
    counted = Counter(point.series for point in last.measured.points)
    assert counted == {WORDS: SCRATCH_SEEDS, LSTM: SCRATCH_SEEDS, PRETRAINED: 1, SCRATCH: SCRATCH_SEEDS}
    assert trainings.runs.has(a_students)
    assert list(trainings.runs.folder("any").parent.iterdir()) == [trainings.runs.folder(a_students)]


def test_what_cannot_be_measured_is_said(dataset: Dataset) -> None:
    with pytest.raises(UserError, match="classes of sentences and of sentence pairs"):
        checked(SOURCES["entities"].load(0, 1_500), 1)
    with pytest.raises(UserError, match="1 to 3"):
        checked(dataset, 9)
    with pytest.raises(UserError, match="too few"):
        checked(replace(dataset, train=dataset.train[:2]), 1)
    assert checked(dataset, 1) is dataset
