"""The cost told before a run is what the run then tells."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from demos.bert.models import LoadedModel
from demos.errors import UserError
from demos.training.cost import cost_of
from demos.training.data import Dataset
from demos.training.events import Started
from demos.training.loop import train
from demos.training.settings import Settings


@pytest.mark.parametrize("hidden", [0, 16])
def test_the_cost_is_what_the_run_tells(
    hidden: int, dataset: Dataset, base: Path, quick: Settings, tiny: LoadedModel, tmp_path: Path
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


def test_settings_out_of_bounds_cost_a_sentence(dataset: Dataset, tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match="epochs must be a whole number from 1 to 20"):
        cost_of(dataset, tiny.tokenizer, tiny.model, Settings(epochs=0))
