"""Another last word: which states it changes in an encoder, which reads both sides, and in a decoder."""

from dataclasses import dataclass, replace

import numpy as np

from demos.bert.embeddings.similarity import cosine
from demos.bert.encoder.masks import MOST, run_masked, with_last_word
from demos.bert.model.encoding import Encoding, check_length, encode_lately
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model

# The rounding error of float32 in 1 - cosine: a text of another length is added up in another order.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Changes:
    """The changes of one model's states, token by token."""

    encoding: Encoding  # with the old word
    replaced: tuple[int, ...]  # the tokens of that word
    moved: np.ndarray  # <float64>[L + 1, n]: 1 - cosine of the states before and after; nan without a partner

    def changed(self, before: int) -> int:
        """The number of the first `before` tokens whose state in the last layer differs by more than rounding."""
        return int((self.moved[-1, :before] > ROUNDING).sum())


def changes(loaded: LoadedModel, text: str, word: str, *, decoder: bool = False) -> Changes:
    """Put `word` in the place of the text's last word, and see what moves in every layer.

    A `decoder` computes under a causal mask and without [SEP], as it was trained. Where the two words have different
    numbers of pieces, the tokens after them are compared from the end, and the words not at all.
    Raises UserError as `with_last_word`, and for more than MOST tokens.
    """
    before, after = (encode_lately(loaded.tokenizer, sentence) for sentence in (text, with_last_word(text, word)))
    for encoding in (before, after):
        check_length(encoding, MOST)
    if decoder:
        before, after = _without_end(before), _without_end(after)
        runs = run_masked(loaded, [(before, True), (after, True)])
    else:
        runs = run_model(loaded, [before, after])
    old, new = (run.hidden_states for run in runs)
    n, m = len(before), len(after)
    same = [a == b for a, b in zip(before.input_ids, after.input_ids, strict=False)]
    first = next((at for at, equal in enumerate(same) if not equal), min(n, m))
    ending = [a == b for a, b in zip(before.input_ids[::-1], after.input_ids[::-1], strict=False)]
    last = next((at for at, equal in enumerate(ending) if not equal), min(n, m))
    last = min(last, min(n, m) - first)
    places = np.arange(n)
    partners = np.where(places < first, places, places + m - n)
    moved = np.full(old.shape[:2], np.nan)
    paired = (places < first) | (places >= n - last) | (n == m)
    for layer in range(len(old)):
        moved[layer, paired] = 1 - cosine(old[layer, paired], new[layer, partners[paired]])
    return Changes(before, tuple(range(first, n - last)), moved)


def _without_end(encoding: Encoding) -> Encoding:
    """The encoding without its last token, [SEP]."""
    tuples = {
        name: getattr(encoding, name)[:-1]
        for name in (
            "tokens",
            "input_ids",
            "token_type_ids",
            "word_ids",
            "sequence_ids",
            "offsets",
            "special_tokens_mask",
        )
    }
    return replace(encoding, **tuples)
