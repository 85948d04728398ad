"""How long a training will take: the machine's speed at its best moment, and what LoRA costs beside its products."""

import dataclasses

import pytest

from demos.bert.model.models import LoadedModel
from demos.training.compute_cost import cost_of
from demos.training.service import expected_time as module
from demos.training.service.expected_time import TIMES, expected, products_per_second
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


def test_a_busy_moment_does_not_stay_the_machines_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = [30.0, 120.0, 10.0, *[50.0] * (TIMES - 3), 1e9]
    monkeypatch.setattr(module, "_seen", {})
    monkeypatch.setattr(module, "_timed", lambda *_: speeds.pop(0))
    told = [products_per_second(False, "cpu", 1) for _ in range(TIMES + 5)]
    assert told == [30.0, *[120.0] * (TIMES + 4)]  # the best so far; after some times it stands
    assert products_per_second(False, "cpu", 2) == 1e9  # with other threads it is another


def test_what_is_beside_the_products_takes_its_time(
    dataset: Dataset, bundled: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "products_per_second", lambda *_: 1e30)  # products take none
    seconds = {}
    for trains in ("all", "top", "lora", "head"):
        cost = cost_of(dataset, bundled.tokenizer, bundled.model, Settings(trains=trains))
        seconds[trains] = expected(cost, 0.0, False, "cpu", 1).seconds / cost.steps
    assert seconds["head"] < seconds["top"] < min(seconds["all"], seconds["lora"])
    assert cost_of(dataset, bundled.tokenizer, bundled.model, Settings(trains="lora")).adapters == 12
    assert seconds["lora"] > 0.01  # few of its parameters train, and yet it is not a head


def test_a_lora_step_has_two_thirds_of_the_products_and_not_less(dataset: Dataset, bundled: LoadedModel) -> None:
    def products(**chosen: object) -> float:
        settings = dataclasses.replace(Settings(), **chosen)  # type: ignore[arg-type]
        return cost_of(dataset, bundled.tokenizer, bundled.model, settings).step_products

    assert 2 / 3 * 0.97 < products(trains="lora", lora_rank=1) / products() < 2 / 3 * 1.03
    assert products(trains="lora", lora_rank=64) > 1.05 * products(trains="lora", lora_rank=1)
