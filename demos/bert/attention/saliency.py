"""An output by words: gradient x input, integrated gradients and leave-one-out; and the attention beside them."""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.stats import kendalltau, spearmanr

from demos.bert.attention.queries_keys import check_layer
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import BATCH_TOKENS, Run
from demos.bert.pretraining.guesses import Logits
from demos.errors import UserError

Score = Callable[[torch.Tensor], torch.Tensor]  # last hidden states of one input [n, d] -> one number
ROWS = ("cls", "mean")
STEPS = 64  # of the path: with 32, the sum was wrong by up to 0.3 of a logit on MiniLM fine-tuned; with 64, by 0.004
PATH_TOKENS = 1_024  # of a pass with a gradient, which keeps all layers' states


@dataclass(frozen=True)
class Saliency:
    """One number a token, and the output that they are about."""

    values: np.ndarray  # float64 [n]
    output: float


@dataclass(frozen=True)
class Agreement:
    """Rank correlations of two rows of numbers, in -1..1; None where one of the rows is constant or too short."""

    spearman: float | None
    kendall: float | None
    count: int


def gradient_x_input(loaded: LoadedModel, encoding: Encoding, score: Score) -> Saliency:
    """For each token i: the gradient of the score with respect to its word embedding e_i, dotted with e_i.

    A first-order answer to "what if this embedding were zero?" (Denil et al. 2014; Shrikumar et al. 2016). The
    embedding is the word's alone: position and segment are added after it. No weight of the shared model is changed or
    given a gradient, so threads don't meet.
    """
    inputs = model_inputs(loaded, [encoding])
    input_ids = inputs.pop("input_ids")
    with torch.enable_grad():
        embedded = loaded.model.get_input_embeddings()(input_ids).detach().requires_grad_()
        output = score(loaded.model(inputs_embeds=embedded, **inputs).last_hidden_state[0])
        (gradient,) = torch.autograd.grad(output, embedded)  # [1, n, d]
    products = (gradient[0].double() * embedded[0].detach().double()).sum(dim=-1)
    return Saliency(products.numpy(), float(output.detach()))


def integrated_gradients(loaded: LoadedModel, encoding: Encoding, score: Score) -> Generator[int, None, Saliency]:
    """For each token i: (e_i - b_i) times the mean gradient on the straight path from b to e; yields its steps.

    Sundararajan et al. 2017, equation 1; the mean is over the middles of STEPS equal pieces. The baseline b has the
    embedding of [MASK] for each word; special tokens are the same at both ends, so their value is 0. The values add up
    to the score less the baseline's ("completeness"), but for the error of the finite sum.
    """
    inputs = model_inputs(loaded, [encoding])
    words = loaded.model.get_input_embeddings()
    end = words(inputs.pop("input_ids")).detach()  # [1, n, d]
    start = words(model_inputs(loaded, [without(loaded.tokenizer, encoding)])["input_ids"]).detach()
    middles = (torch.arange(STEPS, dtype=end.dtype) + 0.5) / STEPS
    total = torch.zeros(end.shape[1:], dtype=torch.float64)
    done = 0
    for along in middles.split(max(1, PATH_TOKENS // len(encoding))):
        with torch.enable_grad():
            embedded = (start + along[:, None, None] * (end - start)).requires_grad_()  # [steps, n, d]
            more = {name: values.expand(len(along), -1) for name, values in inputs.items()}
            states = loaded.model(inputs_embeds=embedded, **more).last_hidden_state
            (gradients,) = torch.autograd.grad(torch.stack([score(own) for own in states]).sum(), embedded)
        total += gradients.double().sum(dim=0)
        done += len(along)
        yield done
    values = ((end - start)[0].double() * total / STEPS).sum(dim=-1)
    return Saliency(values.numpy(), float(outputs(loaded, [encoding], score)[0]))


def leave_one_out(loaded: LoadedModel, encoding: Encoding, score: Score) -> np.ndarray:
    """For each word: the score less the score with [MASK] in place of that word's tokens: float64 [words].

    The simplest erasure (Li et al. 2016, "Understanding Neural Networks through Representation Erasure").
    """
    tokenizer, count = loaded.tokenizer, count_words(encoding)
    rows = [encoding, *(without(tokenizer, encoding, {word}) for word in range(count))]
    whole, *rest = outputs(loaded, rows, score).double().tolist()
    return whole - np.array(rest)


def outputs(loaded: LoadedModel, encodings: Sequence[Encoding], score: Score) -> torch.Tensor:
    """The score of each input, or what else is a function of its last states: [m, ...]; few passes, no gradient."""
    scores: dict[int, torch.Tensor] = {}
    for rows in padded_batches(list(map(len, encodings)), BATCH_TOKENS):
        with torch.inference_mode():
            states = loaded.model(**model_inputs(loaded, [encodings[row] for row in rows])).last_hidden_state
            scores |= {row: score(own[: len(encodings[row])]) for row, own in zip(rows, states, strict=True)}
    return torch.stack([scores[row] for row in range(len(encodings))])


def without(tokenizer: Any, encoding: Encoding, words: Collection[int] | None = None) -> Encoding:
    """The same input with [MASK] for each token of these words, by their running number; None: of all words."""
    hidden = [word is not None and (words is None or word in words) for word in encoding.word_index]
    ids = [tokenizer.mask_token_id if hide else own for hide, own in zip(hidden, encoding.input_ids, strict=True)]
    return replace(encoding, input_ids=tuple(ids))


def only(encoding: Encoding, words: Collection[int]) -> Encoding:
    """The same input with no other words than these, by their running number; the special tokens stay."""
    stay = [at for at, word in enumerate(encoding.word_index) if word is None or word in words]
    names = ("tokens", "input_ids", "token_type_ids", "word_ids", "sequence_ids", "offsets", "special_tokens_mask")
    rows: dict[str, Any] = {name: tuple(getattr(encoding, name)[at] for at in stay) for name in names}
    return replace(encoding, **rows)


def count_words(encoding: Encoding) -> int:
    """The number of words, punctuation marks included."""
    return 1 + max((word for word in encoding.word_index if word is not None), default=-1)


def by_word(encoding: Encoding, values: np.ndarray) -> np.ndarray:
    """The sum of each word's tokens: [n] -> [words]."""
    result = np.zeros(count_words(encoding))
    for word, value in zip(encoding.word_index, values, strict=True):
        if word is not None:
            result[word] += value
    return result


def similarity_to(vector: np.ndarray) -> Score:
    """The cosine of the sentence's mean-pooled vector with a fixed one [d]."""
    fixed = torch.from_numpy(np.array(vector))

    def score(hidden: torch.Tensor) -> torch.Tensor:
        return F.cosine_similarity(hidden.mean(dim=0), fixed.to(hidden.dtype), dim=0)

    return score


def word_logit(word_logits: Logits, index: int, token_id: int) -> Score:
    """The masked-word head's logit for one word at one place."""
    return lambda hidden: word_logits(hidden[index])[token_id]


def attention_received(run: Run, layer: int, rows: str = "cls") -> np.ndarray:
    """The attention that each token receives in a layer, averaged over its heads: [n], sums to 1.

    `rows` "cls": from [CLS] alone, the first row; "mean": on average from all tokens. Raises UserError for others.
    """
    weights = run.attentions[check_layer(layer, run.num_layers)].mean(axis=0)  # [n, n]
    if rows not in ROWS:
        raise UserError(f"There are no rows {str(rows)[:20]!r} here; choose one of {', '.join(ROWS)}.")
    return weights[0] if rows == "cls" else weights.mean(axis=0)


def agreement(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Whether two rows [n] put the tokens in the same order: Spearman's rho and Kendall's tau-b."""
    count = len(first)
    if count < 3 or len(set(first.tolist())) == 1 or len(set(second.tolist())) == 1:
        return Agreement(None, None, count)
    return Agreement(float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic), count)
