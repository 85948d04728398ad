"""The small ELMo that comes along: `python -m demos.training.elmo` made it."""

import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from demos.bert.elmo.model import TwoWay
from demos.bert.model.weights import read_stored, save_half
from demos.files import ASSETS

FILE = ASSETS / "elmo" / "elmo.safetensors"


@dataclass(frozen=True)
class Trained:
    """A model, the words that it predicts, and what was measured on text that it was not trained on."""

    model: TwoWay
    vocabulary: tuple[str, ...]  # words.SPECIAL come first
    measured: dict[str, float]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each word's id in the output layer."""
        return {word: place for place, word in enumerate(self.vocabulary)}


def save(trained: Trained, path: Path) -> None:
    """Weights in float16, and with them the words and the measurements."""
    vocabulary, measured = json.dumps(trained.vocabulary), json.dumps(trained.measured)
    save_half(trained.model, path, vocabulary=vocabulary, measured=measured)


def load(path: Path) -> Trained:
    """The model that `save` wrote, in float32."""
    weights, metadata = read_stored(path)
    vocabulary = tuple(json.loads(metadata["vocabulary"]))
    model = TwoWay(len(vocabulary), weights["output.weight"].shape[1])
    model.load_state_dict(weights)
    return Trained(model.eval().requires_grad_(False), vocabulary, json.loads(metadata["measured"]))


@cache
def bundled() -> Trained:
    """The model in assets/elmo."""
    return load(FILE)
