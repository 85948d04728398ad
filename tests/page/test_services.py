"""What other lessons may ask of a reader's fine-tuned model: its classes only where it gives them to one sentence."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from demos.bert.embeddings.pooling import Choice
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel, ModelStore, nbytes_of
from demos.lessons.attention.ablation.results import Ablation
from demos.lessons.embeddings.frozen_features.classifiers import Frozen, Task
from demos.page.services import Sentence, Services
from demos.training.data.labelled_sentences import own_sentences, split_rows
from demos.training.learning.model import Model, keep
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.task import Task as Trainable
from tests.page.tiny_store import TinyStore

SINGLE = Classification(("joy", "sadness"))
SENTENCE = Sentence("The sea is calm.", "", "tiny")


@pytest.mark.parametrize(
    ("task", "asked"),
    [(SINGLE, True), (replace(SINGLE, pairs=True), False), (Entities(("joy", "sadness")), False)],
)
def test_only_a_classifier_of_single_sentences_is_asked_for_classes(
    tiny: LoadedModel, task: Trainable, asked: bool
) -> None:
    services = Services(TinyStore(tiny, Path()), "tiny")
    runs = services.trainings.runs
    run = runs.new()
    head = task.head(32, torch.Generator().manual_seed(0))
    keep(Model(tiny.model, head, tiny.tokenizer), task, 16, runs.folder(run))
    runs.keep(run, "tiny")
    assert (services.classifier(run) is not None) == asked
    assert services.tuned(run).spec.num_layers == 2  # what its encoder does can be looked at in any case
    ablation = Ablation(services)
    offered = [target.key for target in ablation.targets(SENTENCE, "Tea is ready.", -1, run)]
    assert offered == (["s0", "c0", "c1"] if asked else ["s0"])
    effects = ablation.effects(SENTENCE, "1.2", "", -1, run)
    assert (effects.classes is not None) == asked
    assert services.classifier("someone else's") is None
    sentences = own_sentences(True)  # of joy and sadness
    compared = Task(sentences, split_rows(sentences, "own"), tiny, True)
    assert Frozen(services).tuned_state(compared, run) == ("here" if asked else "other")


def test_all_that_is_held_is_within_one_budget(store: ModelStore, bundled: LoadedModel, tmp_path: Path) -> None:
    services = Services(store, BUNDLED)
    assert services.memory is store.memory is services.trainings.memory
    before = services.memory.usage()
    assert before["base models"] >= bundled.nbytes
    run = services.run(Sentence("One budget for all.", "", ""))
    (vectors,) = services.vectors.get(bundled, ["One.", "Two."], [Choice("mean", 6)])
    services.drawings.remembered(lambda sentence: sentence.text * 1_000)(Sentence("drawn", "", ""))
    heads = services.pretrained("")
    tuned = services.trainings.runs.new()
    keep(
        Model(bundled.model, SINGLE.head(384, None), bundled.tokenizer),
        SINGLE,
        16,
        services.trainings.runs.folder(tuned),
    )
    services.trainings.runs.keep(tuned, BUNDLED)
    classifier = services.classifier(tuned)
    assert classifier is not None
    now = Counter(services.memory.usage())
    now.subtract(before)
    assert now["forward passes"] == run.nbytes
    assert now["vectors"] == vectors.nbytes
    assert now["drawings"] > 1_000  # compressed
    assert now["tuned models"] == classifier.nbytes > bundled.nbytes
    assert now["pre-training heads"] > nbytes_of(heads.encoder.model)
    assert sum(services.memory.usage().values()) <= services.memory.most
