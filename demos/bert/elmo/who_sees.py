"""The words that a state depends on, in BERT, under GPT's mask and in ELMo's two directions: measured, not assumed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.elmo.bundled import Trained
from demos.bert.elmo.words import BEGIN, END, SPECIAL, spelled, word_spans
from demos.bert.embeddings.similarity import cosine
from demos.bert.encoder.masks import causal
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel

NAMES = ("BERT", "GPT", "ELMo →", "ELMo ←")


@dataclass(frozen=True)
class Dependence:
    """The change of one word's last state when each of the n words is hidden: 1 - cosine, exactly 0 if none."""

    words: tuple[str, ...]
    at: int  # the word whose state is looked at
    change: np.ndarray  # <float64>[4, n], a row for each of NAMES


def word_tokens(encoding: Encoding) -> list[tuple[str, list[int]]]:
    """The words of sentence A, as ELMo splits it, each with BERT's tokens for it; words without one are left out."""
    marks = zip(encoding.sequence_ids, encoding.special_tokens_mask, strict=True)
    own = [place for place, (sequence, special) in enumerate(marks) if sequence == 0 and not special]
    words = []
    for word, start, end in word_spans(encoding.text):
        tokens = [
            place
            for place, (first, last) in enumerate(encoding.offsets)
            if place in own and first < end and last > start
        ]
        if tokens:
            words.append((word, tokens))
    return words


def dependence(loaded: LoadedModel, trained: Trained, encoding: Encoding, at: int) -> Dependence:
    """Hide each word in turn: [MASK] for its tokens in BERT and under the mask, a vector of zeros in ELMo.

    GPT here is the same BERT under a causal mask. A word's state is the mean of its tokens' last states; in ELMo, it is
    the last layer's, each direction by itself. `at` counts the words of `word_tokens`.
    """
    words = word_tokens(encoding)
    hidden = [tokens for _, tokens in words]
    rows = [
        _changes(_last_states(loaded, encoding, hidden, left_only)[:, hidden[at]].mean(1))
        for left_only in (False, True)
    ]
    names = [word for word, _ in words]
    rows += [_changes(states[:, at]) for states in _elmo_states(trained, names)]
    return Dependence(tuple(names), at, np.stack(rows))


def _changes(states: np.ndarray) -> np.ndarray:
    """[1 + n, d], the first with nothing hidden: how far each of the others is from it, [n]."""
    return 1 - cosine(states[1:], np.broadcast_to(states[0], states[1:].shape))


def _last_states(
    loaded: LoadedModel, encoding: Encoding, hidden: Sequence[Sequence[int]], left_only: bool
) -> np.ndarray:
    """[1 + len(hidden), tokens, d] of the last layer: as it is, then with each group of tokens masked."""
    inputs = model_inputs(loaded, [encoding])
    n = len(encoding)
    inputs = {name: value.repeat(len(hidden) + 1, 1) for name, value in inputs.items()}
    for row, tokens in enumerate(hidden, start=1):
        inputs["input_ids"][row, list(tokens)] = loaded.tokenizer.mask_token_id
    if left_only:
        lowest = torch.finfo(torch.float32).min
        inputs["attention_mask"] = torch.zeros(1, 1, n, n).masked_fill(~torch.from_numpy(causal(n)), lowest)
        inputs["attention_mask"] = inputs["attention_mask"].expand(len(hidden) + 1, 1, n, n)
    with torch.inference_mode():
        return loaded.model(**inputs).last_hidden_state.numpy()


@torch.inference_mode()
def _elmo_states(trained: Trained, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(forward, backward) last states of the words, [1 + n, n, d] each: as they are, then with each word hidden."""
    vectors = trained.model.word_vectors(spelled([SPECIAL[BEGIN], *words, SPECIAL[END]]))
    rows = vectors.repeat(len(words) + 1, 1, 1)
    for place in range(1, len(words) + 1):
        rows[place, place] = 0
    states = trained.model.read(rows)
    return states.forward[-1, :, 1:-1].numpy(), states.backward[-1, :, 1:-1].numpy()
