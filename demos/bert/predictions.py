"""The masked-word head: which words the model would put at a place, where its files hold such a head."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import AutoModelForMaskedLM

from demos.bert.encoding import Encoding
from demos.bert.models import LoadedModel
from demos.errors import UserError

MAX_HEADS = 2  # in memory; each holds a matrix of d x d and a bias, its decoder is the encoder's word embeddings


@dataclass(frozen=True)
class Guess:
    """One word that could stand at the place."""

    token: str
    token_id: int
    probability: float
    logit: float


@dataclass(frozen=True)
class PredictionHead:
    """From last hidden states to a logit for each word of the vocabulary (Devlin et al. 2019, section 3.1, task 1)."""

    module: nn.Module

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[..., d] -> [..., V]; differentiable."""
        result: torch.Tensor = self.module(hidden)
        return result

    def guesses(self, tokenizer: Any, hidden: np.ndarray, count: int = 5) -> list[Guess]:
        """The likeliest words for one place's last hidden state [d], the likeliest first."""
        with torch.inference_mode():
            logits = self.logits(torch.from_numpy(np.array(hidden)))  # [V]
            probabilities = logits.softmax(dim=-1)
        found = logits.topk(count).indices.tolist()
        tokens = tokenizer.convert_ids_to_tokens(found)
        return [
            Guess(token, index, float(probabilities[index]), float(logits[index]))
            for token, index in zip(tokens, found, strict=True)
        ]


def read_prediction_head(loaded: LoadedModel, folder: Path) -> PredictionHead:
    """The head in a model's local files, its decoder tied to the word embeddings of `loaded`.

    Raises UserError where the files hold none: transformers would make one up at random.
    """
    whole, info = AutoModelForMaskedLM.from_pretrained(
        folder,
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
        local_files_only=True,
        output_loading_info=True,
    )
    if info["missing_keys"]:
        raise UserError(f"{loaded.spec.title} has no masked-word head in its files.")
    if hasattr(whole, "cls"):  # BERT
        module, decoder = whole.cls, whole.cls.predictions.decoder
    else:  # DistilBERT keeps its parts loose
        decoder = whole.vocab_projector
        module = nn.Sequential(whole.vocab_transform, whole.activation, whole.vocab_layer_norm, decoder)
    if whole.config.tie_word_embeddings:
        decoder.weight = loaded.model.get_input_embeddings().weight  # the other copy goes with `whole`
    return PredictionHead(module.eval().requires_grad_(False))


class PredictionHeads:
    """Masked-word heads by catalogue key, least recently used out first; safe for many threads."""

    def __init__(self, folder: Callable[[str], Path], max_heads: int = MAX_HEADS) -> None:
        self._folder = folder  # where a catalogue key's files are
        self._max = max_heads
        self._heads: OrderedDict[str, PredictionHead] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, loaded: LoadedModel) -> PredictionHead | None:
        """The model's head; None where the catalogue says that it has none. Raises UserError where it can't be read."""
        key = loaded.spec.key
        if not loaded.spec.mlm:
            return None
        with self._lock:
            if key not in self._heads:
                self._heads[key] = read_prediction_head(loaded, self._folder(key))
            self._heads.move_to_end(key)
            while len(self._heads) > self._max:
                self._heads.popitem(last=False)
            return self._heads[key]


def place_to_guess(encoding: Encoding, mask_token: str) -> int | None:
    """Where to guess if nobody says: at the sentence's own first [MASK], else at its last word that is one token.

    None for a sentence without such a word.
    """
    if mask_token in encoding.tokens:
        return encoding.tokens.index(mask_token)
    words = encoding.word_index
    whole = [
        index
        for index, token in enumerate(encoding.tokens)
        if words[index] is not None and words.count(words[index]) == 1 and token.isalpha()
    ]
    return whole[-1] if whole else None


def masked(tokenizer: Any, encoding: Encoding, index: int) -> Encoding:
    """The same input with [MASK] for the token at `index`. Raises UserError where there is no such token."""
    if index not in range(len(encoding)) or encoding.special_tokens_mask[index]:
        raise UserError(f"There is no word at token {index} to hide; choose another one.")
    tokens, ids = list(encoding.tokens), list(encoding.input_ids)
    tokens[index], ids[index] = tokenizer.mask_token, tokenizer.mask_token_id
    return replace(encoding, tokens=tuple(tokens), input_ids=tuple(ids))
