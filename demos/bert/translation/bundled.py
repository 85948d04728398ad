"""The translators in assets/translation: a GRU with attention, one without, and a Transformer."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch

from demos.bert.model.weights import read_stored, save_half
from demos.bert.translation.decoding import Trained, translate
from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.translators import make
from demos.bert.translation.vocabulary import Vocabulary, words_in
from demos.errors import UserError
from demos.files import ASSETS

FOLDER = ASSETS / "translation"
MOST_WORDS = 24  # of a sentence that is typed


def save(trained: Trained, path: Path) -> None:
    """Weights in float16, and with them the two vocabularies."""
    words = {name: json.dumps(getattr(trained, name).words) for name in ("source", "target")}
    save_half(trained.model, path, score=trained.model.score, **words)


def load(path: Path) -> Trained:
    """The model that `save` wrote, in float32; gradients can go through it, also where the caller takes none."""
    with torch.inference_mode(False):
        weights, metadata = read_stored(path)
        source, target = (Vocabulary(tuple(json.loads(metadata[name]))) for name in ("source", "target"))
        model = make(metadata["score"], len(source), len(target))
        model.load_state_dict(weights)
    return Trained(model.eval().requires_grad_(False), source, target)


@cache
def bundled(score: str) -> Trained:
    """The translator of this kind: "additive", "none" or "transformer"."""
    return load(FOLDER / f"{score}.safetensors")


@cache
def right(score: str) -> tuple[bool, ...]:
    """Whether the translator renders each held-out sentence word by word as the grammar does."""
    return right_of(bundled(score), held_out())


def right_of(trained: Trained, pairs: Sequence[Pair]) -> tuple[bool, ...]:
    """Whether each translation is the very one of the grammar."""
    written = translate(trained, [pair.source for pair in pairs])
    return tuple(words == pair.target for words, pair in zip(written, pairs, strict=True))


def read_sentence(text: str) -> tuple[str, ...]:
    """The words of a typed sentence. Raises UserError where it is too long or has a word that no translator knows."""
    words = words_in(text, bundled("additive").source, MOST_WORDS, "translator")
    if not words:
        raise UserError("Type an English sentence, or choose one from the list.")
    return (*words, ".")
