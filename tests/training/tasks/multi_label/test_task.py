"""Several labels: the loss is PyTorch's and transformers', the scores are scikit-learn's, a run learns and is kept."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from transformers import BertForSequenceClassification

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.events import Epoch, Finished, Started, as_json
from demos.training.learning.model import Trained, collate, last_states
from demos.training.loop import train
from demos.training.metrics import calibration
from demos.training.results.answers import read_answers
from demos.training.results.history import record_of
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.multi_label.data import LabelledSentence, LabelRow, MultiLabelDataset, build_labels
from demos.training.tasks.multi_label.scores import marks_of, score_labels
from demos.training.tasks.multi_label.task import (
    MultiLabel,
    MultiLabelResult,
    best_constant,
    decisions,
    example_of,
    given,
    positive_weights,
    surest,
)

LABELS = ("angry", "mild", "toxic")
EXAMPLES = [
    LabelledSentence("The river bank is green.", (0, 2)),
    LabelledSentence("slow", ()),
    LabelledSentence("A window of seven stones, yesterday.", (0, 1, 2)),
]


def test_the_loss_is_that_of_transformers(tiny: LoadedModel) -> None:
    """The same encoder and head; the pooler of BertForSequenceClassification is made to pass its input on."""
    task = MultiLabel(LABELS, pooling="cls", dropout=0.0)
    head = task.head(32, torch.Generator().manual_seed(1)).eval()
    batch = collate(task, task.features(tiny.tokenizer, EXAMPLES, 64), 0, torch.device("cpu"))
    assert batch.targets.tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    config = type(tiny.model.config).from_dict(
        tiny.model.config.to_dict() | {"problem_type": "multi_label_classification"}
    )
    config.id2label = dict(enumerate(LABELS))
    theirs = BertForSequenceClassification(config).eval()
    theirs.bert.load_state_dict(tiny.model.state_dict(), strict=False)
    theirs.classifier.load_state_dict(head[-1].state_dict())
    theirs.bert.pooler.forward = lambda states: states[:, 0]
    inputs = tiny.tokenizer([example.text for example in EXAMPLES], padding=True, return_tensors="pt")
    assert batch.input_ids.tolist() == inputs["input_ids"].tolist()
    output = theirs(**inputs, labels=batch.targets)
    output.loss.backward()

    with torch.no_grad():
        states = last_states(tiny.model, batch)
    logits = task.logits(head, states, batch)
    loss = task.loss(logits, batch.targets)
    loss.backward()
    torch.testing.assert_close(logits, output.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(loss, torch.nn.BCEWithLogitsLoss()(logits, batch.targets))
    torch.testing.assert_close(loss, output.loss, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(head[-1].weight.grad, theirs.classifier.weight.grad, atol=1e-5, rtol=1e-4)
    for answer, row in zip(task.answers(logits, batch), logits.tolist(), strict=True):
        assert answer == pytest.approx([1 / (1 + math.exp(-logit)) for logit in row])


def test_weights_are_pytorchs_pos_weight() -> None:
    data = SOURCES["restaurants"].load(0, 1_500)
    assert isinstance(data, MultiLabelDataset)
    task = MultiLabel.of(data, Settings(class_weights=True))
    marks = marks_of([example.labels for example in data.train], 4)
    expected = (marks == 0).sum(axis=0) / (marks == 1).sum(axis=0)
    assert task.weights == pytest.approx(expected.tolist())
    assert task.loss_name == "weighted binary cross-entropy"
    assert MultiLabel.of(data, Settings()).weights == ()
    logits, targets = torch.randn(5, 4, generator=torch.Generator().manual_seed(0)), torch.tensor(marks[:5]).float()
    loss = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(expected, dtype=torch.float32))(logits, targets)
    torch.testing.assert_close(task.loss(logits, targets), loss)
    assert task.units(targets) == 5  # a mean over sentences and labels, whatever the weights
    halves = [task.loss(logits[rows], targets[rows]) * len(targets[rows]) for rows in (slice(2), slice(2, 5))]
    torch.testing.assert_close(sum(halves) / 5, loss)
    assert positive_weights((0, 10), 10) == (10, 0.1)  # none and all: neither 0 nor infinite


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_scikit_learns(seed: int) -> None:
    random = np.random.default_rng(seed)
    true, predicted = (random.integers(0, 2, (30, 4)) for _ in range(2))
    predicted[:, 3] = 0  # a label that is never given
    scores = score_labels(true, predicted)
    precision, recall, f1, support = precision_recall_fscore_support(true, predicted, zero_division=0)
    assert (scores.precision, scores.recall, scores.f1) == (tuple(precision), tuple(recall), tuple(f1))
    assert scores.metrics == {
        "micro F1": f1_score(true, predicted, average="micro"),
        "macro F1": f1_score(true, predicted, average="macro", zero_division=0),
        "subset accuracy": accuracy_score(true, predicted),
    }
    assert [found + missed for found, missed in zip(scores.found, scores.missed, strict=True)] == support.tolist()
    assert scores.wrong == tuple(((true == 0) & (predicted == 1)).sum(axis=0))
    task = MultiLabel(("a", "b", "c", "d"))
    logits, targets = torch.tensor(predicted * 2.0 - 1), torch.tensor(true, dtype=torch.float32)
    assert task.batch_score(logits, targets).item() == pytest.approx(scores.micro_f1)
    answers = logits.sigmoid().tolist()
    assert task.score(answers, true.tolist()) == scores.micro_f1
    sure, right = decisions(answers, [np.flatnonzero(row).tolist() for row in true])
    assert right == (true == predicted).flatten().tolist()
    assert sure == pytest.approx([1 / (1 + math.exp(-1))] * 120)


def test_nothing_to_find_and_nothing_given() -> None:
    task, nothing = MultiLabel(LABELS), torch.zeros(4, 3)
    assert task.batch_score(nothing - 1, nothing).item() == 1
    assert task.batch_score(nothing + 1, nothing).item() == 0
    assert task.batch_score(nothing - 1, nothing + 1).item() == 0
    assert task.score([(0.1, 0.1, 0.1)], [(0, 0, 0)]) == 0.0
    assert given((0.5, 0.49, 0.9)) == (0, 2)


@pytest.mark.parametrize("seed", range(4))
def test_the_baseline_is_the_best_of_all_constant_answers(seed: int) -> None:
    random = np.random.default_rng(seed)
    true = (random.random((25, 5)) < random.random(5) ** 2).astype(int)
    true[0] = 1
    f1 = {
        labels: f1_score(true, marks_of([labels] * 25, 5), average="micro", zero_division=0)
        for size in range(1, 6)
        for labels in itertools.combinations(range(5), size)
    }
    assert f1[best_constant(true.sum(axis=0).tolist(), 25)] == pytest.approx(max(f1.values()))


def films(count: int = 120) -> MultiLabelDataset:
    """The words of a sentence are its labels: none, one or two of three."""
    sets = [(), (LABELS[0],), (LABELS[1],), (LABELS[0], LABELS[2]), (LABELS[1], LABELS[2])]
    rows = [
        LabelRow(k, " ".join([f"paper {k}", *sets[k % 5], "under the bank"]), sets[k % 5]) for k in range(1, count + 1)
    ]
    return build_labels("films", rows)


def test_a_training_learns_and_ends_with_scikit_learns_scores(base: Path, tmp_path: Path) -> None:
    data = films()
    settings = Settings(epochs=6, batch_size=4, learning_rate=5e-3, max_length=24, threads=1)
    events = list(train(data, base, settings, tmp_path / "run"))
    started, last = next(event for event in events if isinstance(event, Started)), events[-1]
    looks = [event for event in events if isinstance(event, Epoch)]
    assert isinstance(last, Finished)
    result = last.result
    assert isinstance(result, MultiLabelResult)
    assert (started.metric, started.loss_name, started.labels) == ("micro F1", "binary cross-entropy", LABELS)
    assert looks[0].validation_loss == pytest.approx(math.log(2), abs=0.1)  # a fresh head says 0.5
    assert looks[-1].validation_loss < looks[0].validation_loss / 2
    true, predicted = (
        marks_of(sets, 3) for sets in ([one.labels for one in data.test], [given(answer) for answer in result.answers])
    )
    assert result.metrics["micro F1"] == f1_score(true, predicted, average="micro") > 0.9  # words are labels
    assert result.metrics["macro F1"] == pytest.approx(f1_score(true, predicted, average="macro"))
    assert result.metrics["subset accuracy"] == accuracy_score(true, predicted)
    loss = torch.nn.BCEWithLogitsLoss()(torch.tensor(result.answers).logit(), torch.tensor(true, dtype=torch.float32))
    assert result.loss == pytest.approx(loss.item(), rel=1e-3)
    everything = np.ones_like(true)
    assert result.baseline == "all 3 labels"
    assert (started.baseline, started.baseline_score) == ("always all 3 labels", result.baseline_f1)
    assert result.baseline_f1 == pytest.approx(f1_score(true, everything, average="micro"))
    assert result.usual_accuracy == pytest.approx(np.mean([one.labels == data.train[0].labels for one in data.test]))
    assert result.unlabelled == sum(not one.labels for one in data.test)
    assert result.wrong == int((true != predicted).any(axis=1).sum()) == len(result.mistakes)
    assert result.calibration is not None
    reliable = calibration(*decisions(result.answers, [one.labels for one in data.test]))
    assert result.calibration.error == reliable.error
    assert sum(bar.count for bar in result.calibration.bins) == 3 * len(data.test)
    trained = Trained.read(tmp_path / "run")
    assert trained.task == MultiLabel(LABELS)
    for row, told in zip(trained.answers(data.test), result.answers, strict=True):
        assert row == pytest.approx(told, abs=1e-3)
    (own,) = trained.answers([example_of(["paper angry toxic under the bank"])])
    assert given(own) == (0, 2)
    kept = read_answers(tmp_path / "run")
    assert (kept.total, len(kept.confidence), kept.examples) == (len(data.test), 3 * len(data.test), ())
    assert kept.right == tuple((true == predicted).flatten().tolist())
    record = record_of("run", 1, "tiny", "labels", data, settings, started, result, [], [])
    assert record.right == "".join("01"[int(row.all())] for row in true == predicted)
    assert record.headline == ("micro F1", result.scores.micro_f1)
    assert "contrast" not in record.choices
    assert "class_weights" in record.choices
    told = as_json(last)["result"]
    assert told["metrics"] == result.metrics
    assert "answers" not in told
    json.dumps(told, allow_nan=False)


def test_a_run_goes_on_where_an_earlier_one_ended(base: Path, tmp_path: Path) -> None:
    data = films(60)
    settings = Settings(epochs=1, batch_size=8, learning_rate=1e-3, max_length=24, threads=1)
    *_, first = train(data, base, settings, tmp_path / "run")
    assert isinstance(first, Finished)
    again = next(
        event for event in train(data, tmp_path / "run", settings, tmp_path / "on") if isinstance(event, Started)
    )
    assert again.kept_head
    weighted = replace(settings, class_weights=True)
    *_, last = train(data, base, weighted, tmp_path / "weighted")
    assert isinstance(last, Finished)


def test_mistakes_begin_with_the_surest(base: Path, tmp_path: Path) -> None:
    settings = Settings(epochs=1, batch_size=8, learning_rate=1e-4, max_length=24, threads=1)
    *_, last = train(films(60), base, settings, tmp_path / "run")
    assert isinstance(last, Finished)
    assert isinstance(last.result, MultiLabelResult)
    sure = [surest(mistake) for mistake in last.result.mistakes]
    assert sure == sorted(sure, reverse=True)
    for mistake, value in zip(last.result.mistakes, sure, strict=True):
        wrong = set(mistake.labels) ^ set(mistake.predicted)
        assert value == max(abs(mistake.probabilities[label] - 0.5) + 0.5 for label in wrong)


@pytest.mark.parametrize("boxes", [[], [""], ["  "]])
def test_an_empty_box_is_told(boxes: list[str]) -> None:
    with pytest.raises(UserError, match="Write a sentence"):
        example_of(boxes)
