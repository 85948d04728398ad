"""A BiLSTM over a frozen BERT's vectors that finds names: the feature-based way of Devlin et al. (2019), section 5.3.

Theirs has two layers of 768 numbers a direction and reads CoNLL-2003; this one is small, as the sentences here are few.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from demos.bert.model.models import LoadedModel
from demos.training.layer_mix import Reading, chosen_layers, score_tagger, word_states
from demos.training.tasks.entities.data import EntityDataset
from demos.training.tasks.entities.scores import EntityScore
from demos.training.tasks.task import NO_LABEL

LAYERS, UNITS, DROPOUT = 2, 64, 0.5  # numbers a direction; of the BiLSTM's input and of its output
# AdamW's; sentences. The validation sentences chose these and DROPOUT: four settings, 5 to 20 epochs, three seeds
RATE, BATCH, EPOCHS = 4e-3, 32, 10


@dataclass(frozen=True)
class Epoch:
    """The training sentences were read once more; the mean loss on the way, in nats a word."""

    number: int  # from 1
    loss: float


@dataclass(frozen=True)
class Tagged:
    """The result of a BiLSTM over one choice of layers on the test sentences."""

    score: EntityScore
    parameters: int
    epochs: tuple[Epoch, ...]


class BiLstmTagger(nn.Module):
    """LAYERS bidirectional LSTM layers over the words' vectors, and a linear layer on each word's two states."""

    def __init__(self, width: int, classes: int, seed: int = 0) -> None:
        """All weights are drawn as PyTorch draws an LSTM's, evenly from -1/sqrt(UNITS) to 1/sqrt(UNITS)."""
        super().__init__()
        with torch.device("meta"):  # drawn below: PyTorch's own generator is shared with other threads
            self.lstm = nn.LSTM(width, UNITS, LAYERS, batch_first=True, bidirectional=True)
            self.output = nn.Linear(2 * UNITS, classes)
        self.to_empty(device="cpu")
        self.drawn = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(UNITS**-0.5), UNITS**-0.5, generator=self.drawn)

    def forward(self, sentences: Sequence[Tensor]) -> Tensor:
        """Sentences of [n_i, d] -> logits [b, n, classes] with n the longest's; past a sentence's end they are void.

        The sentences are packed: the backward LSTM begins at each one's last word, not at the padding.
        """
        lengths = torch.tensor([len(sentence) for sentence in sentences])
        padded = self._drop(pad_sequence(list(sentences), batch_first=True))
        packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.output(self._drop(states))

    def _drop(self, values: Tensor) -> Tensor:
        if not self.training:
            return values
        return values * torch.empty_like(values).bernoulli_(1 - DROPOUT, generator=self.drawn) / (1 - DROPOUT)


def fit_bilstm(
    sentences: Sequence[Tensor], labels: Sequence[Sequence[int]], classes: int, seed: int = 0
) -> Generator[Epoch, None, tuple[BiLstmTagger, tuple[Epoch, ...]]]:
    """Train a BiLSTM on sentences of [n_i, d] and each word's label: EPOCHS passes, the same for the same seed."""
    epochs = []
    tagger = BiLstmTagger(sentences[0].shape[-1], classes, seed)
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=RATE)
    words = sum(map(len, labels))
    for number in range(1, EPOCHS + 1):
        total = 0.0
        for rows in torch.randperm(len(sentences), generator=tagger.drawn).split(BATCH):
            some = [torch.tensor(labels[row]) for row in rows]
            with torch.enable_grad():
                logits = tagger([sentences[row] for row in rows])
                targets = pad_sequence(some, batch_first=True, padding_value=NO_LABEL)
                loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=NO_LABEL)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * sum(map(len, some))
        epochs.append(Epoch(number, total / words))
        yield epochs[-1]
    return tagger.eval(), tuple(epochs)


def tag_names(
    loaded: LoadedModel, dataset: EntityDataset, choice: str, seed: int = 0
) -> Generator[Reading | Epoch, None, Tagged]:
    """Train a BiLSTM on the frozen vectors of a choice of layers (FIXED); the test sentences are scored once."""
    examples = [*dataset.train, *dataset.test]
    states = yield from word_states(loaded, examples)
    lengths = [len(example.words) for example in examples]
    vectors = chosen_layers(choice, states).split(lengths)
    known = len(dataset.train)
    labels = [example.labels for example in dataset.train]
    tagger, epochs = yield from fit_bilstm(vectors[:known], labels, len(dataset.labels), seed)
    with torch.no_grad():
        logits = tagger(vectors[known:])
    rows = [row[:length] for row, length in zip(logits, lengths[known:], strict=True)]
    parameters = sum(parameter.numel() for parameter in tagger.parameters())
    return Tagged(score_tagger(torch.cat(rows), dataset), parameters, epochs)
