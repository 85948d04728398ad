"""A classifier that begins with nothing: a bidirectional LSTM over the words of its training examples."""

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from demos.training.frozen_classifier import WORD
from demos.training.tasks.classification.data import Dataset, Example

EMBEDDING, WIDTH, DROPOUT = 64, 64, 0.3
RATE, BATCH, STEPS, MAX_EPOCHS = 3e-3, 16, 250, 30
LONGEST = 128  # words of a text
PADDING, UNKNOWN = 0, 1  # ids that are no words
_WORD = re.compile(WORD)


class Classifier(nn.Module):
    """Embeddings, one LSTM a direction, each number's maximum over the words, one layer.

    Of a pair, one LSTM reads both sentences; the layer is given u, v, |u - v| and u * v (Conneau et al. 2017).
    """

    def __init__(self, words: int, classes: int, pairs: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, EMBEDDING, padding_idx=PADDING)
        self.lstm = nn.LSTM(EMBEDDING, WIDTH, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(DROPOUT)
        self.output = nn.Linear(2 * WIDTH * (4 if pairs else 1), classes)

    def sentence(self, ids: Tensor) -> Tensor:
        """[b, n] word ids -> [b, 2d]. The backward LSTM reads the padding first; maxima leave it out."""
        states, _ = self.lstm(self.dropout(self.embedding(ids)))
        return states.masked_fill((ids == PADDING)[..., None], -torch.inf).amax(1)

    def forward(self, first: Tensor, second: Tensor | None) -> Tensor:
        """Logits [b, classes]."""
        vector = self.sentence(first)
        if second is not None:
            other = self.sentence(second)
            vector = torch.cat([vector, other, (vector - other).abs(), vector * other], dim=-1)
        return self.output(self.dropout(vector))


@dataclass(frozen=True)
class Progress:
    """One more pass over the training examples is done."""

    step: int
    total_steps: int


@dataclass(frozen=True)
class Learned:
    """The result of such a classifier, and its cost."""

    predicted: tuple[int, ...]  # class numbers of the test examples
    accuracy: float  # on these
    train_accuracy: float  # on its own training examples, at the end
    parameters: int
    steps: int
    epochs: int
    seconds: float


def lstm_steps(
    train: Sequence[Example], test: Sequence[Example], classes: int, seed: int, pairs: bool = False
) -> Iterator[Progress | Learned]:
    """Train on `train` alone, about STEPS steps, at most MAX_EPOCHS epochs; the last that is yielded is `Learned`.

    The same for the same seed on the same machine.
    """
    began = time.perf_counter()
    known = {word for example in train for text in (example.text, example.pair) for word in words_of(text)}
    ids = {word: number for number, word in enumerate(sorted(known), start=UNKNOWN + 1)}
    rng = np.random.default_rng(seed)
    batches = math.ceil(len(train) / BATCH)
    epochs = min(MAX_EPOCHS, max(1, round(STEPS / batches)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Classifier(len(ids) + 2, classes, pairs)
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        for epoch in range(1, epochs + 1):
            order = rng.permutation(len(train))
            for start in range(0, len(order), BATCH):
                some = [train[at] for at in order[start : start + BATCH]]
                loss = cross_entropy(model(*tensors(some, ids, pairs)), targets(some))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            yield Progress(epoch * batches, epochs * batches)
    model.eval()
    predicted = _predicted(model, test, ids, pairs)
    yield Learned(
        predicted=predicted,
        accuracy=_accuracy(predicted, test),
        train_accuracy=_accuracy(_predicted(model, train, ids, pairs), train),
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        steps=epochs * batches,
        epochs=epochs,
        seconds=time.perf_counter() - began,
    )


def lstm_score(dataset: Dataset, train: Sequence[Example], seed: int) -> tuple[float, float]:
    """(accuracy on the test examples, accuracy on its own training examples at the end), trained on `train` alone."""
    *_, last = lstm_steps(train, dataset.test, len(dataset.labels), seed, dataset.kind == "pair")
    assert isinstance(last, Learned)
    return last.accuracy, last.train_accuracy


def words_of(text: str) -> list[str]:
    """Words in lower case, as the line "words only" splits a text, at most LONGEST."""
    return _WORD.findall(text.lower())[:LONGEST]


def tensors(examples: Sequence[Example], ids: dict[str, int], pairs: bool) -> tuple[Tensor, Tensor | None]:
    """The word ids [b, n] of the texts, and of the second texts of pairs; an empty text is one unknown word."""

    def of(texts: list[str]) -> Tensor:
        rows = [[ids.get(word, UNKNOWN) for word in words_of(text)] or [UNKNOWN] for text in texts]
        return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PADDING)

    second = of([example.pair for example in examples]) if pairs else None
    return of([example.text for example in examples]), second


def targets(examples: Sequence[Example]) -> Tensor:
    """[b] class numbers."""
    return torch.tensor([example.label for example in examples])


@torch.inference_mode()
def _predicted(model: Classifier, examples: Sequence[Example], ids: dict[str, int], pairs: bool) -> tuple[int, ...]:
    predicted: list[int] = []
    for start in range(0, len(examples), 8 * BATCH):
        predicted += model(*tensors(examples[start : start + 8 * BATCH], ids, pairs)).argmax(-1).tolist()
    return tuple(predicted)


def _accuracy(predicted: Sequence[int], examples: Sequence[Example]) -> float:
    return sum(guess == example.label for guess, example in zip(predicted, examples, strict=True)) / len(examples)
