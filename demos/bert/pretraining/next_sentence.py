"""Next sentences: how the paper makes its pairs, and what a model with that head says of a pair."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.lens import states

IS_NEXT, NOT_NEXT = 0, 1  # the labels, in transformers' order
LABELS = ("IsNext", "NotNext")
BATCH_TOKENS = 1_024  # of a padded batch


@dataclass(frozen=True)
class Drawn:
    """One pair for pre-training, and where its sentences came from: (document, place in it), both from 0."""

    first: str
    second: str
    label: int  # IS_NEXT or NOT_NEXT
    first_at: tuple[int, int]
    second_at: tuple[int, int]


@dataclass(frozen=True)
class Answers:
    """A model's outputs for B pairs; the columns are IsNext and NotNext."""

    logits: np.ndarray  # <float32>[B, 2]

    @property
    def probabilities(self) -> np.ndarray:
        """<float64>[B, 2]: the softmax of the logits, each row's sum 1."""
        return np.exp(-self.losses)

    @property
    def losses(self) -> np.ndarray:
        """<float64>[B, 2], in nats: what each label would cost, -ln of its probability."""
        logits = self.logits.astype(np.float64)
        return np.asarray(np.logaddexp(logits[:, :1], logits[:, 1:]) - logits)

    @property
    def is_next(self) -> np.ndarray:
        """<bool>[B]: whether IsNext is the likelier answer."""
        return np.asarray(self.logits[:, IS_NEXT] > self.logits[:, NOT_NEXT])


def draw_pair(documents: Sequence[Sequence[str]], rng: np.random.Generator) -> Drawn:
    """A sentence and, by the toss of a coin, the one behind it or any sentence of another document.

    Devlin et al. 2019, section 3.1, task 2: 50% IsNext, 50% NotNext. At least two documents of at least two sentences.
    """
    document = int(rng.integers(len(documents)))
    place = int(rng.integers(len(documents[document]) - 1))
    if rng.random() < 0.5:
        label, second_at = IS_NEXT, (document, place + 1)
    else:
        others = [number for number in range(len(documents)) if number != document]
        other = others[rng.integers(len(others))]
        label, second_at = NOT_NEXT, (other, int(rng.integers(len(documents[other]))))
    second = documents[second_at[0]][second_at[1]]
    return Drawn(documents[document][place], second, label, (document, place), second_at)


def next_steps(pretrained: Pretrained, pairs: Sequence[tuple[str, str]]) -> Generator[tuple[int, int], None, Answers]:
    """`next_probabilities`, which yields (pairs done, pairs in all) after each batch."""
    encodings = [encode(pretrained.tokenizer, first, second) for first, second in pairs]
    logits = np.zeros((len(pairs), 2), dtype=np.float32)
    done = 0
    for rows in padded_batches([len(encoding) for encoding in encodings], BATCH_TOKENS):
        hidden = states(pretrained.encoder, [encodings[row] for row in rows])[0]  # [b, n, d]
        with torch.inference_mode():
            logits[rows] = pretrained.next_logits(hidden).numpy()
        done += len(rows)
        yield done, len(pairs)
    return Answers(logits)


def next_probabilities(pretrained: Pretrained, pairs: Sequence[tuple[str, str]]) -> Answers:
    """The output of the model's next-sentence head for each pair (A, B): logits, probabilities, the loss of each label.

    Raises UserError where a sentence is too long, and for a model without that head.
    """
    return drained(next_steps(pretrained, pairs))
