"""One arithmetic, three masks: what a token may look at in BERT, in GPT, and in the original Transformer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import softmax

from demos.bert.attention.queries_keys import scaled_dot_products, split_heads
from demos.bert.embeddings.similarity import cosine
from demos.bert.encoder.size import Shape, work_per_token
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import Encoding, check_length, encode_lately
from demos.bert.model.layer_weights import layer_weights
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.errors import UserError

MOST = 128  # tokens; a mask of more can't be seen


def causal(n: int) -> np.ndarray:
    """bool [n, n]: a query sees itself and what came before it, as in GPT and in the Transformer's decoder."""
    return np.tri(n, dtype=bool)


def cross_weights(loaded: LoadedModel, read: Run, written: Run, layer: int) -> np.ndarray:
    """Cross-attention's weights [A, m, n]: queries from the m tokens `written`, keys from the n tokens `read`.

    As in Vaswani et al. 2017, 3.2.3, but with the projections of BERT's own head: BERT has none for this, so the
    arithmetic is real and the weights are nobody's.
    """
    linear = layer_weights(loaded.model, layer)
    queries = split_heads(linear.query(written.hidden_states[layer]), written.num_heads)
    keys = split_heads(linear.key(read.hidden_states[layer]), read.num_heads)
    return softmax(scaled_dot_products(queries, keys), axis=-1)


def run_causal(loaded: LoadedModel, encoding: Encoding) -> Run:
    """The same weights under a causal mask in every layer: as a decoder computes them (Vaswani et al. 2017, 3.2.3).

    Its attentions are zero above the diagonal, and no token's states depend on later tokens.
    """
    return run_masked(loaded, [(encoding, True)])[0]


def run_masked(loaded: LoadedModel, inputs: Sequence[tuple[Encoding, bool]]) -> list[Run]:
    """Each input with a causal mask or without, in one padded forward pass."""
    batch = model_inputs(loaded, [encoding for encoding, _ in inputs])
    real = batch["attention_mask"].bool()
    left = torch.from_numpy(causal(real.shape[1])) | ~torch.tensor([[[is_causal]] for _, is_causal in inputs])
    allowed = (left & real[:, None])[:, None]  # [b, 1, n, n]: with four dimensions, the model uses it unchanged
    batch["attention_mask"] = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
    with torch.inference_mode():
        output = loaded.model(**batch, output_hidden_states=True, output_attentions=True)
    states, weights = (torch.stack(layers, 1).numpy() for layers in (output.hidden_states, output.attentions))
    return [
        Run(loaded.spec.key, encoding, states[row, :, :n], weights[row, :, :, :n, :n])
        for row, (encoding, _) in enumerate(inputs)
        for n in [len(encoding)]
    ]


@dataclass(frozen=True)
class Change:
    """The effect of another last word on the tokens before it: attention to both sides (BERT), or to the left alone."""

    before: Encoding
    after: Encoding
    tokens: int  # how many tokens, from the first, both inputs share
    both_sides: np.ndarray  # <float64>[tokens]: 1 - cosine of the last layer's states before and after
    left_only: np.ndarray  # <float64>[tokens]: the same under the causal mask: 0, since nothing on their left changed


def with_last_word(text: str, word: str) -> str:
    """`text` with another last word. Raises UserError where it has none, or `word` is none."""
    ends = [end for end in range(len(text)) if text[end].isalnum()]
    if not word or not word.strip():
        raise UserError("Write a word to replace the last one.")
    if not ends:
        raise UserError("The sentence has no word to replace.")
    start = end = ends[-1]
    while start and not text[start - 1].isspace():
        start -= 1
    return f"{text[:start]}{word.strip()[:60]}{text[end + 1 :]}"


def change_last_word(loaded: LoadedModel, before: Encoding, word: str) -> tuple[Run, Run, Change]:
    """Put `word` in the place of the sentence's last word and see which tokens before it notice.

    The sentence's own run and its run under a causal mask come with it: all of it is one forward pass. Raises UserError
    where there is no word to replace, `word` is none, or the input is longer than 128 tokens.
    """
    after = encode_lately(loaded.tokenizer, with_last_word(before.text, word))
    for encoding in (before, after):
        check_length(encoding, MOST)
    pairs = zip(before.input_ids, after.input_ids, strict=False)
    shared = next((at for at, (old, new) in enumerate(pairs) if old != new), min(len(before), len(after)))
    wanted = [(before, True), (after, False), (after, True), (before, False)]
    decoder, both_sides, left_only, run = run_masked(loaded, wanted)
    if after.input_ids == before.input_ids:
        both_sides = run  # another row of a batch may be rounded otherwise

    def moved(old: Run, new: Run) -> np.ndarray:
        return 1 - cosine(old.hidden_states[-1, :shared], new.hidden_states[-1, :shared])

    return run, decoder, Change(before, after, shared, moved(run, both_sides), moved(decoder, left_only))


def writing_cost(shape: Shape, read: int, new: int) -> tuple[int, int]:
    """(operations with a causal mask, operations without) for reading `read` tokens and writing `new` more.

    Under a causal mask nothing behind a token changes it: each token is computed once, its keys and values kept. Where
    every token sees every token, one more token changes all of them, so each step computes all again.
    """
    cached = sum(work_per_token(shape, length).total for length in range(1, read + new + 1))
    recomputed = sum(length * work_per_token(shape, length).total for length in range(read + 1, read + new + 1))
    return cached, recomputed
