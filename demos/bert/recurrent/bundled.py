"""The recurrent network that comes along: `python -m demos.training.recurrent` made it."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from demos.bert.model.weights import read_stored, save_half
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
    words, measured = json.dumps(trained.vocabulary.words), json.dumps(trained.measured)
    save_half(trained.network, path, words=words, measured=measured)


def load(path: Path) -> Trained:
    """The network that `save` wrote, in float32."""
    with torch.inference_mode(False):
        weights, metadata = read_stored(path)
        vocabulary = Vocabulary(tuple(json.loads(metadata["words"])))
        network = RecurrentNetwork(len(vocabulary))
        network.load_state_dict(weights)
    return Trained(network.eval().requires_grad_(False), vocabulary, json.loads(metadata["measured"]))


@cache
def bundled() -> Trained:
    """The network in assets/recurrent."""
    return load(FILE)
