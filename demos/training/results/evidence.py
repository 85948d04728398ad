"""The changes made by a training and the evidence for its answers: sentence vectors, the surest errors, the words."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from demos.bert.attention.saliency import (
    Score,
    by_word,
    count_words,
    gradient_x_input,
    integrated_gradients,
    leave_one_out,
    only,
    outputs,
    without,
)
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.learning.model import Trained, in_batches, last_states
from demos.training.results.answers import StoredAnswers
from demos.training.results.classifier_on_states import class_logits
from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.one_of_several import likeliest
from demos.training.tasks.task import pool

METHODS = ("gradient × input", "integrated gradients", "leave-one-out")
MOST_TOKENS = 128  # 64 steps of so many take MiniLM some 6 s of one core
RANDOM = 20  # draws of random words, to compare the methods' top words with


@dataclass(frozen=True)
class Error:
    """A test example that the trained model gets wrong."""

    number: int  # its place among the kept test examples
    example: Example
    predicted: int
    probability: float  # of what it answered


@dataclass(frozen=True)
class Rationale:
    """The prediction without a method's top words, and with them alone (DeYoung et al. 2020, section 4.2).

    Comprehensiveness is the probability of the prediction for the whole input less `without`; sufficiency is that
    probability less `alone`.
    """

    words: tuple[int, ...]  # running numbers; none for the mean over random words
    without: float  # the probability of the class predicted for the whole input
    alone: float
    class_without: int  # the most probable class
    class_alone: int


@dataclass(frozen=True)
class Evidence:
    """Each word's contribution to the logit of the prediction less another class's, by three methods.

    Above 0: the word speaks for the prediction. Each method's values are in the order of METHODS.
    """

    encoding: Encoding
    answer: int  # the class predicted
    other: int  # the true class of an error; of a sentence without a label, the second most probable
    probability: float  # of the prediction
    gradient: np.ndarray  # float64 [n]: gradient x input of each token
    integrated: np.ndarray  # float64 [n]: integrated gradients of each token
    left_out: np.ndarray  # float64 [words]: leave-one-out
    margin: float  # the answer's logit less the other's
    empty: float  # the same where every word embedding is zero
    masked: float  # the same where [MASK] replaces each word
    rationales: tuple[Rationale, ...]  # of each method, then the mean of RANDOM draws

    @property
    def by_word(self) -> np.ndarray:
        """float64 [methods, words]"""
        return np.array([*(by_word(self.encoding, row) for row in (self.gradient, self.integrated)), self.left_out])


def pooled_vectors(
    encoder: Any, tokenizer: Any, task: Classification, examples: Sequence[Example], max_length: int
) -> Generator[Encoded, None, np.ndarray]:
    """The vector that the layers on top read, for each example: float32 [m, d]; yields after each batch.

    Where they read all tokens' vectors, it is the mean of these.
    """
    pooling = "mean" if task.pooling == "none" else task.pooling
    features = task.features(tokenizer, examples, max_length)
    vectors = np.zeros((len(features), encoder.config.hidden_size), dtype=np.float32)
    done = 0
    for places, batch in in_batches(task, features, tokenizer.pad_token_id or 0):
        with torch.inference_mode():
            vectors[places] = pool(last_states(encoder, batch), batch.attention_mask, pooling).numpy()
        done += len(places)
        yield Encoded(done, len(features))
    return vectors


def chance_share(classes: Sequence[int] | np.ndarray) -> float:
    """The share of a point's neighbours that are of its class where neighbours are drawn at random."""
    counts, m = np.bincount(np.asarray(classes, dtype=np.int64)), len(classes)
    return float((counts * (counts - 1)).sum() / (m * (m - 1))) if m > 1 else 1.0


def surest_errors(answers: StoredAnswers, most: int) -> list[Error]:
    """The wrong answers to test examples, the surest first; `most` at the most."""
    errors = []
    for number, (example, row, right) in enumerate(zip(answers.examples, answers.chances, answers.right, strict=True)):
        if not right:
            best = likeliest(row)
            errors.append(Error(number, example, best, row[best]))
    return sorted(errors, key=lambda error: -error.probability)[:most]


def evidence_of(
    trained: Trained, loaded: LoadedModel, example: Example, other: int | None = None
) -> Generator[int, None, Evidence]:
    """The evidence for the trained model's answer to one example; yields each step of the integrated gradients.

    `other` is the class that the answer is compared with; None, or the answer itself: the second most probable.
    Raises UserError for an input of no word or more than MOST_TOKENS tokens.
    """
    encoding, tokenizer = encoding_of(trained, loaded.tokenizer, example), loaded.tokenizer
    if len(encoding) > MOST_TOKENS:
        raise UserError(f"This text has {len(encoding)} tokens; this view is limited to {MOST_TOKENS}.")
    if not (count := count_words(encoding)):
        raise UserError("This text has no word.")

    def chances_of(inputs: Sequence[Encoding]) -> np.ndarray:  # [inputs, C]
        logits = outputs(loaded, inputs, lambda hidden: class_logits(trained, hidden))
        return logits.softmax(dim=-1).double().numpy()

    (chances,) = chances_of([encoding])
    answer, second = np.argsort(-chances, kind="stable")[:2].tolist()
    other = second if other in (None, answer) else other

    def margin(hidden: torch.Tensor) -> torch.Tensor:
        logits = class_logits(trained, hidden)
        return logits[answer] - logits[other]

    integrated = yield from integrated_gradients(loaded, encoding, margin)
    gradient = gradient_x_input(loaded, encoding, margin)
    left_out = leave_one_out(loaded, encoding, margin)
    masked = float(outputs(loaded, [without(tokenizer, encoding)], margin)[0])
    evidence = Evidence(encoding, answer, other, float(chances[answer]), gradient.values, integrated.values, left_out,
                        gradient.output, _zeroed(loaded, encoding, margin), masked, ())  # fmt: skip
    top = top_words(count)
    picks = [np.argsort(-values, kind="stable")[:top] for values in evidence.by_word]
    draws = np.random.default_rng(0)
    picks += [draws.choice(count, top, replace=False) for _ in range(RANDOM)]
    everything = set(range(count))
    parts = [only(encoding, words) for pick in picks for words in (everything - set(pick), set(pick))]
    rows = chances_of(parts).reshape(len(picks), 2, -1)
    rationales = [_rationale(tuple(pick.tolist()), both, answer) for pick, both in zip(picks, rows, strict=True)]
    by_chance = _rationale((), rows[len(METHODS) :].mean(axis=0), answer)
    return replace(evidence, rationales=(*rationales[: len(METHODS)], by_chance))


def top_words(count: int) -> int:
    """The number of words that are removed, or stay: a fifth, rounded up (one of DeYoung et al.'s five shares)."""
    return -(-count // 5)


def _rationale(words: tuple[int, ...], chances: np.ndarray, answer: int) -> Rationale:
    """Of the probabilities [without, alone] x [C]."""
    return Rationale(words, *chances[:, answer].tolist(), *chances.argmax(axis=1).tolist())


def encoding_of(trained: Trained, tokenizer: Any, example: Example) -> Encoding:
    """The example as the trained model gets it: a task cuts a long pair by its rule."""
    (features,) = trained.task.features(tokenizer, [example], trained.max_length)
    if not features.segments:
        return encode(tokenizer, example.text, max_length=trained.max_length)
    (segments,) = features.segments  # [CLS] first [SEP], then second [SEP]
    return encode(tokenizer, example.text, example.pair, lengths=(segments.count(0) - 2, segments.count(1) - 1))


def _zeroed(loaded: LoadedModel, encoding: Encoding, score: Score) -> float:
    """The score where each token's word embedding is zero; positions and segments stay."""
    n, width = len(encoding), loaded.model.get_input_embeddings().weight.shape[1]
    inputs = {"attention_mask": torch.ones(1, n, dtype=torch.long)}
    if loaded.spec.segments:
        inputs["token_type_ids"] = torch.tensor([encoding.token_type_ids])
    with torch.inference_mode():
        hidden = loaded.model(inputs_embeds=torch.zeros(1, n, width), **inputs).last_hidden_state[0]
        return float(score(hidden))
