"""What a run leaves beside its model is its result; vectors, neighbours and gradients against other ways to them."""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.events import Finished, Result
from demos.training.learning.model import Trained
from demos.training.loop import train
from demos.training.results import answers as kept_module
from demos.training.results.answers import StoredAnswers, read_answers, stored_answers, write_answers
from demos.training.results.evidence import (
    METHODS,
    MOST_TOKENS,
    RANDOM,
    Evidence,
    chance_share,
    evidence_of,
    pooled_vectors,
    surest_errors,
    top_words,
)
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Example
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.data import TaggedSentence
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.question_answering.task import QuestionAnswering


@pytest.fixture(scope="module")
def finished(dataset: Dataset, base: Path, quick: Settings, tmp_path_factory: pytest.TempPathFactory) -> Result:
    *_, last = train(dataset, base, quick, tmp_path_factory.mktemp("runs") / "run")
    assert isinstance(last, Finished)
    assert isinstance(last.result, Result)
    return last.result


def tuned(result: Result, tiny: LoadedModel) -> tuple[Trained, LoadedModel]:
    trained = Trained.read(result.folder)
    return trained, LoadedModel(tiny.spec, trained.model.tokenizer, trained.model.encoder)


def explained(trained: Trained, loaded: LoadedModel, example: Example, other: int | None = None) -> Evidence:
    return drained(evidence_of(trained, loaded, example, other))


def test_a_run_leaves_its_answers_beside_its_model(finished: Result, dataset: Dataset) -> None:
    kept = read_answers(Path(finished.folder))
    assert kept.examples == dataset.test
    assert kept.chances == finished.answers
    assert sum(kept.right) / len(kept.right) == pytest.approx(finished.accuracy)
    assert kept.confidence == tuple(map(max, finished.answers))
    errors = surest_errors(kept, 100)
    told = [(one.text, one.predicted) for one in finished.mistakes]
    assert sorted((one.example.text, one.predicted) for one in errors) == sorted(told)
    assert [one.probability for one in errors] == sorted((one.probability for one in errors), reverse=True)


def test_the_margin_is_what_the_run_answered(finished: Result, tiny: LoadedModel) -> None:
    kept = read_answers(Path(finished.folder))
    trained, loaded = tuned(finished, tiny)
    row = kept.chances[0]
    answer = int(row[1] > row[0])
    found = explained(trained, loaded, kept.examples[0])
    assert (found.answer, found.other) == (answer, 1 - answer)
    assert found.probability == pytest.approx(row[answer], abs=1e-5)
    assert found.margin == pytest.approx(math.log(row[answer] / row[1 - answer]), abs=1e-4)


@pytest.mark.parametrize("pair", ["", "a slow green window under seven stones"])
def test_gradient_x_input_is_the_slope_of_the_margin(pair: str, finished: Result, tiny: LoadedModel) -> None:
    trained, loaded = tuned(finished, tiny)
    trained = replace(trained, task=replace(trained.task, pairs=bool(pair)))
    example = Example("good paper of the river bank", 0, pair)
    found = explained(trained, loaded, example)
    assert len(found.gradient) == len(found.integrated) == len(found.encoding)
    features = trained.task.features(trained.model.tokenizer, [example], trained.max_length)[0]
    assert found.encoding.input_ids == features.sequences[0]  # the very tokens that it was trained to read
    ids = torch.tensor([found.encoding.input_ids])
    segments = torch.tensor([found.encoding.token_type_ids])
    encoder, head = trained.model.encoder.double(), trained.model.head.double()
    words = encoder.get_input_embeddings()(ids)

    def margin(scale: torch.Tensor) -> float:
        with torch.no_grad():
            hidden = encoder(inputs_embeds=words * scale[None, :, None], token_type_ids=segments).last_hidden_state
            logits = head(hidden.mean(dim=1))[0]
        return float(logits[found.answer] - logits[1 - found.answer])

    whole, step = torch.ones(len(found.encoding), dtype=torch.float64), 1e-4
    for at in (0, 1, len(found.encoding) - 2):
        nudge = torch.zeros_like(whole)
        nudge[at] = step
        slope = (margin(whole + nudge) - margin(whole - nudge)) / (2 * step)
        assert found.gradient[at] == pytest.approx(slope, abs=2e-4)
    assert found.empty == pytest.approx(margin(0 * whole), abs=1e-4)


@pytest.mark.parametrize("max_length", [63, 64])
@pytest.mark.parametrize(("first", "second"), [(20, 70), (40, 70), (70, 40), (50, 50), (31, 70)])
def test_a_long_pair_is_explained_as_it_was_cut_when_it_was_answered(
    first: int, second: int, max_length: int, finished: Result, tiny: LoadedModel
) -> None:
    trained, loaded = tuned(finished, tiny)
    trained = replace(trained, task=replace(trained.task, pairs=True), max_length=max_length)
    words = ["river", "bank", "green", "window", "stone", "seven", "paper", "north"]
    example = Example(" ".join((words * 9)[:first]), 0, " ".join((words * 9)[-second:]))
    (answered,) = trained.task.features(trained.model.tokenizer, [example], max_length)
    found = explained(trained, loaded, example)
    encoding = found.encoding
    assert (encoding.input_ids, encoding.token_type_ids) == (answered.sequences[0], answered.segments[0])
    (row,) = trained.answers([example])
    assert found.margin == pytest.approx(abs(math.log(row[1] / row[0])), abs=1e-4)
    whole = loaded.tokenizer(example.text, example.pair)
    assert len(encoding) + len(encoding.dropped) == len(whole["input_ids"])


@pytest.mark.parametrize("pair", ["", "seven windows under the north paper"])
def test_a_rationale_is_the_answer_to_the_text_without_its_words_and_to_these_alone(
    pair: str, finished: Result, tiny: LoadedModel
) -> None:
    trained, loaded = tuned(finished, tiny)
    trained = replace(trained, task=replace(trained.task, pairs=bool(pair)))
    sides = ["good paper of the river bank under stone", pair]
    words = [(side, word) for side, text in enumerate(sides) for word in text.split()]
    found = explained(trained, loaded, Example(sides[0], 0, pair))
    assert top_words(len(words)) == math.ceil(len(words) / 5)

    def answered(kept: list[int]) -> tuple[float, ...]:
        texts = [" ".join(words[at][1] for at in kept if words[at][0] == side) for side in (0, 1)]
        return trained.answers([Example(texts[0], 0, texts[1] or " " * bool(pair))])[0]

    assert len(found.rationales) == len(METHODS) + 1
    for method, rationale in enumerate(found.rationales[: len(METHODS)]):
        values = found.by_word[method]
        assert len(rationale.words) == top_words(len(words))
        assert values[list(rationale.words)].min() >= np.delete(values, rationale.words).max()
        rest = [at for at in range(len(words)) if at not in rationale.words]
        for kept, chance, label in (
            (rest, rationale.without, rationale.class_without),
            (sorted(rationale.words), rationale.alone, rationale.class_alone),
        ):
            row = answered(kept)
            assert chance == pytest.approx(row[found.answer], abs=1e-5)
            assert label == max((0, 1), key=row.__getitem__)


def test_the_rationale_by_chance_is_the_mean_over_random_words(finished: Result, tiny: LoadedModel) -> None:
    trained, loaded = tuned(finished, tiny)
    words = ["good", "river", "bank", "seven"]
    assert top_words(len(words)) == 1
    found = explained(trained, loaded, Example(" ".join(words), 0))
    by_chance, chances = found.rationales[-1], [row[found.answer] for row in trained.predict(words)]
    draws = np.random.default_rng(0)
    drawn = [int(draws.choice(len(words), 1, replace=False)[0]) for _ in range(RANDOM)]
    assert set(drawn) == {0, 1, 2, 3}
    assert by_chance.words == ()
    assert by_chance.alone == pytest.approx(np.mean([chances[word] for word in drawn]), abs=1e-5)


def test_the_class_that_an_answer_is_compared_with(finished: Result, tiny: LoadedModel) -> None:
    trained, loaded = tuned(finished, tiny)
    example = Example("good paper of the river bank", 0)
    answer = explained(trained, loaded, example).answer
    assert explained(trained, loaded, example, other=answer).other == 1 - answer
    with pytest.raises(UserError, match="no word"):
        explained(trained, loaded, Example("[SEP]", 0))
    long = replace(trained, max_length=MOST_TOKENS + 1)
    with pytest.raises(UserError, match=f"{MOST_TOKENS + 1} tokens"):
        explained(long, loaded, Example("river " * 200, 0))


def test_the_vectors_are_what_the_layers_on_top_read(tiny: LoadedModel) -> None:
    task = Classification(("a", "b"), pooling="max", pairs=True)
    examples = [Example("a river bank", 0, "green"), Example("stone", 1, "seven windows of the north under paper")]
    vectors = drained(pooled_vectors(tiny.model, tiny.tokenizer, task, examples, 32))
    for vector, example in zip(vectors, examples, strict=True):
        with torch.inference_mode():
            alone = tiny.model(**tiny.tokenizer(example.text, example.pair, return_tensors="pt")).last_hidden_state[0]
        assert vector == pytest.approx(alone.amax(dim=0).numpy(), abs=1e-5)


def test_chance_is_the_share_of_pairs_of_one_class() -> None:
    classes = [0, 0, 0, 1, 1, 2]
    pairs = list(itertools.permutations(classes, 2))
    assert chance_share(classes) == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert chance_share([3]) == 1


def test_what_is_kept_is_bounded(dataset: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [(0.25, 0.75)] * len(dataset.test)
    monkeypatch.setattr(kept_module, "MAX_EXAMPLES", 5)
    assert len(stored_answers(Classification(dataset.labels), dataset, rows).examples) == 5
    monkeypatch.setattr(kept_module, "MAX_CHARACTERS", sum(len(one.text) for one in dataset.test[:3]) + 1)
    found = stored_answers(Classification(dataset.labels), dataset, rows)
    assert [len(one) for one in (found.examples, found.chances, found.right, found.confidence)] == [3] * 4
    assert found.total == len(dataset.test)
    write_answers(found, tmp_path)
    assert read_answers(tmp_path) == found


class Split:
    """A data set's test split, which is all that is asked for here."""

    def __init__(self, *test: Any) -> None:
        self.test = test


def test_names_leave_a_probability_a_word_and_questions_none() -> None:
    data = Split(TaggedSentence(("Ann", "ran", "far"), (1, 0, 0)))
    task = Entities(("O", "B-PER", "I-PER"))
    found = stored_answers(task, data, [((1, 0.9), (2, 0.6))])  # the third word was not read
    assert found == StoredAnswers(1, (0.9, 0.6), (True, False))
    assert stored_answers(QuestionAnswering(), Split("a question"), [None]) == StoredAnswers(1, (), ())
