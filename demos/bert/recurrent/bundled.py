"""The recurrent network that comes along: `python -m demos.training.recurrent` made it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from demos.bert.recurrent.network import RecurrentNetwork
from demos.bert.translation.vocabulary import Vocabulary
from demos.files import ASSETS

FILE = ASSETS / "recurrent" / "rnn.safetensors"


@dataclass(frozen=True)
class Trained:
    """A network, its words, and what was measured on sentences that it was not trained on."""

    network: RecurrentNetwork
    vocabulary: Vocabulary
    measured: dict[str, float]


def save(trained: Trained, path: Path) -> None:
    """Weights in float16, and with them the words and the measurements."""
    tensors = {name: tensor.half().contiguous() for name, tensor in trained.network.state_dict().items()}
    metadata = {"words": json.dumps(trained.vocabulary.words), "measured": json.dumps(trained.measured)}
    save_file(tensors, path, metadata=metadata)


def load(path: Path) -> Trained:
    """The network that `save` wrote, in float32."""
    with torch.inference_mode(False), safe_open(path, "pt") as file:
        metadata = file.metadata()
        vocabulary = Vocabulary(tuple(json.loads(metadata["words"])))
        network = RecurrentNetwork(len(vocabulary))
        network.load_state_dict({name: file.get_tensor(name).float() for name in file.keys()})  # noqa: SIM118  (no dict)
    return Trained(network.eval().requires_grad_(False), vocabulary, json.loads(metadata["measured"]))


@cache
def bundled() -> Trained:
    """The network in assets/recurrent."""
    return load(FILE)
