"""A frozen BERT's layers under a linear tagger of names: layers chosen by hand, and weighed with learned weights.

Matthew Peters et al. (2018), Deep contextualized word representations, NAACL, equation 1: gamma sum_l s_l h^(l) with
s = softmax(w). The layers chosen by hand are those of Devlin et al. (2019), section 5.3 and table 7.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import nn

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.data.splits import MAX_TRAIN
from demos.training.tasks.entities.data import SOURCES, EntityDataset, TaggedSentence
from demos.training.tasks.entities.scores import EntityScore, score_entities
from demos.training.tasks.entities.task import pieces_of

STEPS = 60  # of AdamW, each over all training words at once; the validation sentences chose it (60, 200)
RATE, MIX_RATE, DECAY = 0.01, 0.05, 0.01  # the linear layer's, that of w and gamma; of the linear layer alone
SENTENCES_AT_ONCE = 16
MOST_BYTES = 256 * 2**20  # of all words' states: those of BERT base fit
EPSILON = 1e-12
MIX = "mix"
FIXED = ("embeddings", "second_to_last", "last", "sum_all", "sum_last_four", "concat_last_four")


@dataclass(frozen=True)
class Step:
    """The mix after one step: s_0 ... s_L, gamma, and the loss before the step, in nats a word."""

    step: int  # from 0, before any
    shares: tuple[float, ...]
    gamma: float
    loss: float


@dataclass(frozen=True)
class Reading:
    """So many sentences have gone through BERT."""

    done: int
    total: int


@dataclass(frozen=True)
class Comparison:
    """Every choice's scores on the test sentences, and the steps of the mix; the model's layers are never changed."""

    scores: Mapping[str, EntityScore]  # by the names in FIXED, and MIX
    widths: Mapping[str, int]  # numbers a word
    steps: tuple[Step, ...]


class ScalarMix(nn.Module):
    """gamma sum_j softmax(w)_j h_j over S layers; it begins with equal shares and gamma 1."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    @property
    def shares(self) -> torch.Tensor:
        """s: [S], above 0, their sum 1."""
        return self.weights.softmax(dim=0)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[n, S, d] -> [n, d]"""
        return self.gamma * torch.einsum("s,nsd->nd", self.shares, states)


def names_dataset() -> EntityDataset:
    """The project's own sentences with names."""
    data = SOURCES[0].load(0, MAX_TRAIN)
    assert isinstance(data, EntityDataset)
    return data


@torch.inference_mode()
def _states(loaded: LoadedModel, sentences: Sequence[TaggedSentence]) -> torch.Tensor:
    """The states of each word's first piece, each with mean 0 and variance 1: <float32>[words, L + 1, d]."""
    tokenizer = loaded.tokenizer
    pieces = pieces_of(tokenizer, [sentence.words for sentence in sentences])
    rows = [[tokenizer.cls_token_id, *chain(*words), tokenizer.sep_token_id] for words in pieces]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [tokenizer.pad_token_id] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    hidden = loaded.model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
    stacked = torch.stack(hidden, dim=2)  # [b, n, L + 1, d]
    first_piece_states = []
    for number, words in enumerate(pieces):
        first = torch.tensor([1 + sum(map(len, words[:at])) for at in range(len(words))])
        first_piece_states.append(stacked[number, first])
    states = torch.cat(first_piece_states)
    return nn.functional.layer_norm(states, states.shape[-1:], eps=EPSILON)


def word_states(loaded: LoadedModel, sentences: Sequence[TaggedSentence]) -> Generator[Reading, None, torch.Tensor]:
    """`_states` of all sentences, in small batches. Raises UserError where they would take more than MOST_BYTES."""
    config, words = loaded.model.config, sum(len(sentence.words) for sentence in sentences)
    needed = words * (config.num_hidden_layers + 1) * config.hidden_size * 4
    if needed > MOST_BYTES:
        raise UserError(
            f"All layers of {words:,} words take {needed / 2**20:,.0f} MB in this model; the limit is "
            f"{MOST_BYTES // 2**20} MB. Choose a smaller model."
        )
    parts = []
    for start in range(0, len(sentences), SENTENCES_AT_ONCE):
        yield Reading(start, len(sentences))
        parts.append(_states(loaded, sentences[start : start + SENTENCES_AT_ONCE]))
    return torch.cat(parts).clone()


def chosen_layers(name: str, states: torch.Tensor) -> torch.Tensor:
    """A word's vector by a choice of FIXED: [n, L + 1, d] -> [n, d], or [n, 4 d]. Sums are divided by their number."""
    if name == "concat_last_four":
        return states[:, -4:].flatten(1)
    picked = {
        "embeddings": slice(0, 1),
        "second_to_last": slice(-2, -1),
        "last": slice(-1, None),
        "sum_all": slice(1, None),
        "sum_last_four": slice(-4, None),
    }
    return states[:, picked[name]].mean(dim=1)


def fit_tagger(
    vectors: torch.Tensor, targets: torch.Tensor, classes: int, mix: ScalarMix | None = None
) -> Generator[Step, None, nn.Linear]:
    """A linear layer from zeros by STEPS steps of AdamW over all words (`mix`: its weights too), yielded each step."""
    linear = nn.Linear(vectors.shape[-1], classes)
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
    groups = [{"params": linear.parameters(), "lr": RATE, "weight_decay": DECAY}]
    if mix is not None:
        groups.append({"params": mix.parameters(), "lr": MIX_RATE, "weight_decay": 0.0})
    optimizer = torch.optim.AdamW(groups)
    for step in range(STEPS + 1):
        with torch.enable_grad():
            inputs = vectors if mix is None else mix(vectors)
            loss = nn.functional.cross_entropy(linear(inputs), targets)
        if mix is not None:
            yield Step(step, tuple(mix.shares.tolist()), mix.gamma.item(), loss.item())
        if step < STEPS:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return linear


def compare(loaded: LoadedModel, dataset: EntityDataset) -> Generator[Reading | Step, None, Comparison]:
    """Train the mix, then every fixed choice in the same way; the test sentences are only scored, once each."""
    states = yield from word_states(loaded, [*dataset.train, *dataset.test])
    known = sum(len(sentence.words) for sentence in dataset.train)
    targets = torch.tensor([label for sentence in dataset.train for label in sentence.labels])
    mix, steps = ScalarMix(states.shape[1]), []
    fitting = fit_tagger(states[:known], targets, len(dataset.labels), mix)
    while True:
        try:
            steps.append(next(fitting))
        except StopIteration as end:
            tagger: nn.Linear = end.value
            break
        yield steps[-1]
    with torch.no_grad():
        scores = {MIX: score_tagger(tagger(mix(states[known:])), dataset)}
    widths = {MIX: states.shape[-1]}
    for name in FIXED:
        vectors = chosen_layers(name, states)
        tagger = yield from fit_tagger(vectors[:known], targets, len(dataset.labels))
        yield steps[-1]
        with torch.no_grad():
            scores[name] = score_tagger(tagger(vectors[known:]), dataset)
        widths[name] = vectors.shape[-1]
    return Comparison(scores, widths, tuple(steps))


def score_tagger(logits: torch.Tensor, dataset: EntityDataset) -> EntityScore:
    """The likeliest label of each test word, from logits [test words, labels], scored as whole entities."""
    predicted, at = [], 0
    answers = [dataset.labels[label] for label in logits.argmax(dim=-1).tolist()]
    for sentence in dataset.test:
        predicted.append(answers[at : at + len(sentence.words)])
        at += len(sentence.words)
    true = [[dataset.labels[label] for label in sentence.labels] for sentence in dataset.test]
    return score_entities(true, predicted, dataset.types).total
