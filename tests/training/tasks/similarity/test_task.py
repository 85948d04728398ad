"""Similarity: its loss is PyTorch's MSELoss, its arithmetic transformers', its metrics are scipy's."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import mean_squared_error
from transformers import BertForSequenceClassification

from demos.bert.embeddings.agreement import Pair
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.events import Finished, PairLook, Started, as_json
from demos.training.learning.model import Trained, collate, last_states
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.similarity.data import SimilarityDataset
from demos.training.tasks.similarity.task import Similarity, SimilarityResult, example_of

RANGE = (0.0, 2.5, 5.0)
PAIRS = [
    Pair("It rains.", "Rain is falling.", 4.6),
    Pair("A dog runs.", "The bank is shut.", 0.2),
    Pair("a", "b c d", 3.8),
]


def test_loss_and_gradient_are_those_of_mseloss_and_of_transformers(tiny: LoadedModel) -> None:
    """The same encoder and head: the pooler of BertForSequenceClassification is made to pass its input on."""
    task = Similarity(trained_range=RANGE, pooling="cls", dropout=0.0)
    head = task.head(32, torch.Generator().manual_seed(1)).eval()
    batch = collate(task, task.features(tiny.tokenizer, PAIRS, 64), 0, torch.device("cpu"))
    assert batch.targets.tolist() == pytest.approx([4.6, 0.2, 3.8])
    config = type(tiny.model.config).from_dict(tiny.model.config.to_dict() | {"problem_type": "regression"})
    config.id2label = {0: "score"}
    theirs = BertForSequenceClassification(config).eval()
    theirs.bert.load_state_dict(tiny.model.state_dict(), strict=False)
    theirs.classifier.load_state_dict(head[-1].state_dict())
    theirs.bert.pooler.forward = lambda states: states[:, 0]
    inputs = tiny.tokenizer(
        [pair.first for pair in PAIRS], [pair.second for pair in PAIRS], padding=True, return_tensors="pt"
    )
    assert batch.input_ids.tolist() == inputs["input_ids"].tolist()
    assert batch.token_type_ids.tolist() == inputs["token_type_ids"].tolist()
    output = theirs(**inputs, labels=batch.targets)
    output.loss.backward()

    with torch.no_grad():
        states = last_states(tiny.model, batch)
    scores = task.logits(head, states, batch)
    loss = task.loss(scores, batch.targets)
    loss.backward()
    torch.testing.assert_close(scores, output.logits.squeeze(-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(loss, torch.nn.MSELoss()(scores, batch.targets))
    torch.testing.assert_close(loss, output.loss, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(head[-1].weight.grad, theirs.classifier.weight.grad, atol=1e-5, rtol=1e-4)
    assert head[-1].bias.grad.item() == pytest.approx(2 * (scores - batch.targets).mean().item(), rel=1e-4)
    assert task.answers(scores, batch) == [(pytest.approx(value),) for value in scores.tolist()]


def counted(count: int) -> SimilarityDataset:
    """The more often the second sentence has the first one's word, the higher the score."""
    words = ("green", "river", "paper", "window")
    pairs = [
        Pair(words[k % 4], " ".join([words[k % 4]] * (k % 6) + ["slow"] * (5 - k % 6) + [str(k)]), float(k % 6))
        for k in range(count)
    ]
    fifth = count // 5
    return SimilarityDataset(
        "counted", tuple(pairs[2 * fifth :]), tuple(pairs[:fifth]), tuple(pairs[fifth : 2 * fifth])
    )


def test_a_training_lowers_the_loss_and_ends_with_scipys_correlations(base: Path, tmp_path: Path) -> None:
    data = counted(150)
    settings = Settings(epochs=4, batch_size=8, learning_rate=3e-3, max_length=24, threads=1)
    events = list(train(data, base, settings, tmp_path / "run"))
    started, last = next(event for event in events if isinstance(event, Started)), events[-1]
    looks = [event for event in events if isinstance(event, PairLook)]
    assert isinstance(last, Finished)
    result = last.result
    assert isinstance(result, SimilarityResult)
    gold, predicted = [one.gold for one in result.answers], [one.predicted for one in result.answers]
    assert gold == [pair.score for pair in data.test]
    assert result.metrics == pytest.approx(
        {"Spearman's ρ": spearmanr(predicted, gold).statistic, "Pearson's r": pearsonr(predicted, gold).statistic}
    )
    assert result.loss == pytest.approx(np.mean(np.subtract(predicted, gold) ** 2), rel=1e-4)
    mean = np.mean([pair.score for pair in data.train])
    assert result.mean_loss == pytest.approx(np.mean([(pair.score - mean) ** 2 for pair in data.test]))
    assert started.mean_loss == pytest.approx(np.mean([(pair.score - mean) ** 2 for pair in data.validation]))
    assert looks[0].validation_loss == pytest.approx(started.mean_loss, rel=0.1)  # it begins at the mean score
    assert looks[-1].validation_loss < 0.5 * looks[0].validation_loss
    assert result.loss < result.mean_loss / 2
    assert result.metrics["Spearman's ρ"] > 0.7  # words are counted
    errors = [abs(one.error) for one in result.mistakes]
    assert errors == sorted((abs(p - g) for p, g in zip(predicted, gold, strict=True)), reverse=True)
    trained = Trained.read(tmp_path / "run")
    assert trained.task == Similarity(trained_range=data.trained_range)
    assert [row[0] for row in trained.answers(data.test)] == pytest.approx(predicted, abs=1e-3)
    told = as_json(last)["result"]
    assert told["metrics"] == result.metrics
    assert "answers" not in told
    json.dumps(told, allow_nan=False)


def test_equal_predictions_have_no_correlation() -> None:
    task = Similarity(trained_range=RANGE)
    look = task.look(0, 0.0, math.nan, 1.0, [(2.5,)] * 6, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert math.isnan(look.spearman)
    assert math.isnan(look.validation_score)


@pytest.mark.parametrize("boxes", [[], [" "], ["", "b"]])
def test_an_empty_first_box_is_told(boxes: list[str]) -> None:
    with pytest.raises(UserError, match="Write a sentence in the first box"):
        example_of(boxes)


def marked(count: int) -> SimilarityDataset:
    """Single texts: the more often one has the word green, the higher its mark, from 1 to 10."""
    texts = [
        Pair(" ".join(["green"] * (k % 10) + ["slow"] * (9 - k % 10) + [str(k)]), "", k % 10 + 1.0)
        for k in range(count)
    ]
    fifth = count // 5
    return SimilarityDataset("marked", tuple(texts[2 * fifth :]), tuple(texts[:fifth]), tuple(texts[fifth : 2 * fifth]))


def test_single_texts_end_with_scipys_and_sklearns_numbers_on_their_own_scale(base: Path, tmp_path: Path) -> None:
    data = marked(150)
    assert data.points == tuple(range(1, 11))
    settings = Settings(epochs=4, batch_size=8, learning_rate=3e-3, max_length=24, threads=1)
    last = list(train(data, base, settings, tmp_path / "run"))[-1]
    assert isinstance(last, Finished)
    result = last.result
    assert isinstance(result, SimilarityResult)
    assert (result.noun, result.points) == ("text", data.points)
    gold, predicted = [one.gold for one in result.answers], [one.predicted for one in result.answers]
    assert result.metrics == pytest.approx(
        {"Spearman's ρ": spearmanr(predicted, gold).statistic, "Pearson's r": pearsonr(predicted, gold).statistic}
    )
    assert result.loss == pytest.approx(mean_squared_error(gold, predicted), rel=1e-4)
    assert result.mean_loss == pytest.approx(mean_squared_error(gold, [data.trained_range[1]] * len(gold)))
    assert result.loss < result.mean_loss / 2
    trained = Trained.read(tmp_path / "run")
    assert trained.task == Similarity(trained_range=data.trained_range, points=data.points, single=True)
    assert [row[0] for row in trained.answers(data.test)] == pytest.approx(predicted, abs=1e-3)
    ((of_pair,),) = trained.answers([Pair(data.test[0].first, "Something else.", 0.0)])
    assert of_pair == pytest.approx(predicted[0], abs=1e-3)  # a second text has no effect


def test_a_single_text_is_one_sequence(tiny: LoadedModel) -> None:
    task = Similarity(trained_range=(1.0, 5.5, 10.0), points=(1, 10), single=True)
    (feature,) = task.features(tiny.tokenizer, [Pair("It rains.", "", 7.0)], 64)
    assert feature.sequences == (tuple(tiny.tokenizer("It rains.")["input_ids"]),)
    assert (feature.segments, feature.target) == ((), 7.0)


def test_a_fresh_head_is_as_large_as_its_scale_is_wide() -> None:
    usual, wide = (
        Similarity(trained_range=(0.0, 40.0, 100.0), points=points).head(8, torch.Generator().manual_seed(1))
        for points in (tuple(range(6)), tuple(range(0, 101, 10)))
    )
    torch.testing.assert_close(wide[-1].weight, 20 * usual[-1].weight)
    assert wide[-1].bias.item() == usual[-1].bias.item() == 40.0
