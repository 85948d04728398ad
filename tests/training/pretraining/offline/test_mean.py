"""The mean of trainings' weights: numbers by themselves, the low-rank change of the word embeddings as a product."""

from pathlib import Path

import numpy as np
import pytest
import torch

from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import our_heads
from demos.training.pretraining.offline import mean as command
from demos.training.pretraining.offline.making import RANK, Heads
from demos.training.pretraining.offline.mean import mean

DENSE = "bert.encoder.layer.2.output.dense.weight"


def test_the_mean_of_products_is_the_nearest_one_of_the_same_rank() -> None:
    torch.manual_seed(4)
    states = [{"left": torch.randn(20, 3), "right": torch.randn(3, 9), "bias": torch.randn(5)} for _ in range(2)]
    found = mean(states)
    assert found["left"].shape == (20, 3)
    assert found["right"].shape == (3, 9)
    torch.testing.assert_close(found["bias"], (states[0]["bias"] + states[1]["bias"]) / 2)
    whole = np.mean([(one["left"] @ one["right"]).numpy() for one in states], axis=0)
    outer, values, inner = np.linalg.svd(whole)  # of the whole matrix
    nearest = outer[:, :3] * values[:3] @ inner[:3]
    np.testing.assert_allclose((found["left"] @ found["right"]).numpy(), nearest, atol=1e-5)
    once = mean(states[:1])
    torch.testing.assert_close(once["left"] @ once["right"], states[0]["left"] @ states[0]["right"])


@pytest.mark.slow
def test_the_command_writes_the_mean_as_heads(bundled: LoadedModel, tmp_path: Path) -> None:
    heads = Heads(bundled, np.ones(len(bundled.tokenizer)))
    own = bundled.model.state_dict()[DENSE.removeprefix("bert.")]
    files = [tmp_path / "one.pt", tmp_path / "two.pt"]
    steps = torch.randn(own.shape, generator=torch.Generator().manual_seed(5)) / 50
    for number, file in enumerate(files):
        weights = {name: one.detach().clone() for name, one in heads.trained().items()}
        weights[DENSE] = own + steps * (number * 2)
        weights["left"] = torch.full_like(weights["left"], 0.1 * number)
        weights["right"] = torch.ones_like(weights["right"])
        progress = {"step": 10 - number, "tokens": 1_000 - number, "seconds": 1.0}
        torch.save({"average": weights, "progress": progress}, file)
    command.main([str(tmp_path / "mean"), *map(str, files)])
    kept = torch.load(tmp_path / "mean" / "state.pt")  # with which a training goes on
    torch.testing.assert_close(kept["weights"][DENSE], own + steps)
    assert kept["progress"]["step"] == 10
    found = our_heads(bundled, tmp_path / "mean" / "heads.safetensors")
    assert (found.about["steps"], found.about["tokens"]) == ("10", "1000")  # of the one that went farthest
    state = found.encoder.model.state_dict()
    step = steps.abs().max().item() / 7 / 2  # 4 bits: half of a step
    torch.testing.assert_close(state[DENSE.removeprefix("bert.")] - own, steps, atol=step * 1.01, rtol=0)
    words = "embeddings.word_embeddings.weight"
    added = state[words] - bundled.model.state_dict()[words]
    torch.testing.assert_close(added, torch.full_like(added, 0.05 * RANK), rtol=0.05, atol=0)  # 8 bits each
