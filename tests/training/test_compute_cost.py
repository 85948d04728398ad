"""The cost told before a run is what the run then tells."""

import dataclasses
import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from demos.bert.model import linear
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training import example_lengths as lengths
from demos.training.compute_cost import cost_of
from demos.training.data.tables import Row
from demos.training.events import Started
from demos.training.learning import learner as module
from demos.training.learning.learner import Learner
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, build_dataset
from demos.training.tasks.heads import head_parameters
from demos.training.tasks.registry import task_of

COUNT = lengths.count


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"hidden": (16, 8), "frozen_embeddings": True},
        {"trains": "top", "top_layers": 1},
        {"trains": "lora", "lora_rank": 3},
        {"trains": "head", "hidden": (16,)},
    ],
)
def test_the_cost_is_what_the_run_tells_and_holds(
    chosen: dict[str, Any], dataset: Dataset, base: Path, quick: Settings, tiny: LoadedModel, tmp_path: Path
) -> None:
    """Bytes too: of the weights, the gradients and the optimizer's state exactly, as torch holds them in a step."""
    settings = dataclasses.replace(quick, **chosen)
    cost = cost_of(dataset, tiny.tokenizer, tiny.model, settings)
    events = train(dataset, base, settings, tmp_path / "run")
    started = next(events)
    events.close()  # type: ignore[attr-defined]
    assert isinstance(started, Started)
    assert cost.steps == started.total_steps
    assert cost.parameters == started.parameters
    assert cost.trainable_parameters == started.trainable_parameters < cost.parameters
    assert cost.examples == settings.epochs * started.train

    learner = Learner(task_of(dataset, settings), base, settings)
    splits = (dataset.train, dataset.validation, dataset.test)
    train_, *others = (learner.task.features(learner.model.tokenizer, split, learner.limit) for split in splits)
    learner.prepare([*train_, *others[0], *others[1]])
    list(learner.cache([*train_, *others[0]]))
    held: dict[int, int] = {}
    own = {p.untyped_storage().data_ptr() for p in learner.model.modules().parameters()}
    gradients: list[torch.Tensor] = []

    def note(values: torch.Tensor) -> torch.Tensor:
        storage = values.untyped_storage()
        if storage.data_ptr() not in own:
            held[storage.data_ptr()] = storage.nbytes()
        return values

    longest = sorted(train_, key=lambda feature: -feature.size)[: settings.batch_size]
    with torch.autograd.graph.saved_tensors_hooks(note, lambda values: values):
        logits, batch = learner.logits(longest)
        learner.task.loss(logits, batch.targets).backward()
    gradients = [p.grad for p in learner.model.modules().parameters() if p.grad is not None]
    learner.optimizer.step()
    states = [value for state in learner.optimizer.state.values() for value in state.values() if value.numel() > 1]
    full = learner.compact.full.numel()
    weights = list(learner.model.modules().parameters())
    assert cost.memory.gradients == sum(4 * one.numel() for one in gradients)
    assert cost.memory.optimizer == pytest.approx(sum(4 * one.numel() for one in states), rel=1e-3)
    assert cost.memory.weights == 4 * (full + sum(one.numel() for one in weights))
    assert cost.memory.caches == pytest.approx(learner.states.nbytes, rel=0.3)  # the sentences' own lengths, unpadded
    assert sum(held.values()) / 2 < cost.memory.activations + 20_000 < 2 * sum(held.values()) + 40_000


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"frozen_embeddings": True},
        {"trains": "top", "top_layers": 1},
        {"trains": "lora", "lora_rank": 3},
        {"trains": "head"},
    ],
)
def test_a_steps_products_are_those_that_torch_counts(
    chosen: dict[str, Any],
    dataset: Dataset,
    base: Path,
    quick: Settings,
    tiny: LoadedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To the last one, in a step on all the sentences at once; the head's and the pooler's few the cost leaves out."""
    monkeypatch.setattr(linear, "onednn_is_quicker", lambda: False)  # torch's counter knows its own products alone
    monkeypatch.setattr(module, "attention_of", lambda *_: "eager")
    settings = dataclasses.replace(quick, **chosen, epochs=1, batch_size=128)
    cost = cost_of(dataset, tiny.tokenizer, tiny.model, settings)
    assert cost.steps == 1
    learner = Learner(task_of(dataset, settings), base, settings)
    features = learner.task.features(learner.model.tokenizer, dataset.train, learner.limit)
    learner.prepare(features)
    list(learner.cache(features))
    learner.model.modules().train()
    with FlopCounterMode(display=False) as counter:
        logits, batch = learner.logits(features)
        learner.task.loss(logits, batch.targets).backward()
    passes = 2 if settings.trains == "head" else 3  # what it reads is kept and has no gradient
    head = passes * 2 * len(features) * 32 * 2
    pooler = 0 if learner.fixed else 2 * len(features) * 32 * 32  # in the encoder's own pass, read by nobody
    assert counter.get_total_flops() == cost.step_products + head + pooler


def test_a_run_s_bytes_are_those_of_its_parts_on_the_bundled_model(dataset: Dataset, bundled: LoadedModel) -> None:
    cost = {
        name: cost_of(dataset, bundled.tokenizer, bundled.model, Settings(**chosen)).memory
        for name, chosen in {
            "all": {}, "sgd": {"optimizer": "sgd"}, "lora": {"trains": "lora"}, "head": {"trains": "head"},
        }.items()
    }  # fmt: skip
    assert cost["all"].optimizer == 2 * cost["all"].gradients == 2 * cost["sgd"].optimizer
    assert cost["all"].total > cost["lora"].total > cost["head"].total
    assert cost["all"].caches == 0 < cost["head"].caches


def bert_parameters(vocabulary: int, width: int, layers: int, between: int) -> int:
    """A BERT encoder's weights and biases with its pooler, added up by hand (Devlin et al. 2019, section 3)."""
    norm = 2 * width
    embeddings = (vocabulary + 512 + 2) * width + norm  # words, positions, segments
    attention = 4 * (width * width + width) + norm  # query, key, value, output
    feed_forward = width * between + between + between * width + width + norm
    return embeddings + layers * (attention + feed_forward) + width * width + width


def test_parameters_are_those_of_the_architecture(dataset: Dataset, bundled: LoadedModel, tiny: LoadedModel) -> None:
    settings = Settings()
    for loaded, shape in ((tiny, (30_522, 32, 2, 64)), (bundled, (30_522, 384, 6, 1_536))):
        width = shape[1]
        cost = cost_of(dataset, loaded.tokenizer, loaded.model, settings)
        assert cost.parameters == bert_parameters(*shape) + 2 * width + 2  # two classes on top
        spared = (30_522 - cost.rows) * width + width * width + width  # words that never occur, the pooler
        assert cost.trainable_parameters == cost.parameters - spared
        assert cost.without_gradient == (30_522 - cost.rows) * width
    assert bert_parameters(30_522, 768, 12, 3_072) == 109_482_240  # BERT base: the paper's 110M
    assert head_parameters(384, (64,), 6) == 384 * 64 + 64 + 64 * 6 + 6


def test_settings_out_of_bounds_cost_a_sentence(dataset: Dataset, tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match="epochs must be a whole number from 1 to 20"):
        cost_of(dataset, tiny.tokenizer, tiny.model, Settings(epochs=0))


def test_counting_leaves_the_shared_tokenizer_alone(
    dataset: Dataset, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str] = set()
    original = type(tiny.tokenizer).set_truncation_and_padding

    def noted(self: Any, **options: Any) -> None:
        seen.add(options["truncation_strategy"].value)
        original(self, **options)

    monkeypatch.setattr(type(tiny.tokenizer), "set_truncation_and_padding", noted)
    cost_of(dataset, tiny.tokenizer, tiny.model, Settings(max_length=17))  # a length not counted yet
    assert seen == {"do_not_truncate"}


def test_counting_keeps_no_readers_upload_and_counts_equal_data_once(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upload(end: str) -> Dataset:
        pairs = [(f"the {word} bank number {number} {end}", word) for number, word in enumerate(["a", "b"] * 20)]
        return build_dataset("mine", [Row(number, *pair) for number, pair in enumerate(pairs, 1)])

    counted = []
    monkeypatch.setattr(lengths, "count", lambda *asked: counted.append(asked[2]) or COUNT(*asked))
    mine, settings = upload("once"), Settings()
    first = cost_of(mine, tiny.tokenizer, tiny.model, settings)
    gone = weakref.ref(mine)
    del mine
    gc.collect()
    assert gone() is None
    assert cost_of(upload("once"), tiny.tokenizer, tiny.model, dataclasses.replace(settings, epochs=9)) != first
    assert cost_of(upload("once"), tiny.tokenizer, tiny.model, settings) == first
    assert counted == [settings.max_length]
    assert cost_of(upload("twice over"), tiny.tokenizer, tiny.model, settings) != first
    cost_of(upload("once"), tiny.tokenizer, tiny.model, dataclasses.replace(settings, max_length=5))
    assert counted == [settings.max_length, settings.max_length, 5]
