"""The cost told before a run is what the run then tells."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from demos.bert.models import LoadedModel
from demos.errors import UserError
from demos.training.cost import cost_of, head_parameters
from demos.training.data import Dataset
from demos.training.events import Started
from demos.training.loop import train
from demos.training.settings import Settings


@pytest.mark.parametrize("hidden", [(), (16, 8)])
def test_the_cost_is_what_the_run_tells(
    hidden: tuple[int, ...], dataset: Dataset, base: Path, quick: Settings, tiny: LoadedModel, tmp_path: Path
) -> None:
    settings = dataclasses.replace(quick, hidden=hidden)
    cost = cost_of(dataset, tiny.tokenizer, tiny.model, settings)
    events = train(dataset, base, settings, tmp_path / "run")
    started = next(events)
    events.close()  # type: ignore[attr-defined]
    assert isinstance(started, Started)
    assert cost.steps == started.total_steps
    assert cost.parameters == started.parameters
    assert cost.trainable_parameters == started.trainable_parameters < cost.parameters
    assert cost.examples == settings.epochs * started.train


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
    cost_of(dataset, tiny.tokenizer, tiny.model, Settings())
    assert seen == {"do_not_truncate"}
