"""Task: named entities, a label for each word, read off its first piece (Devlin et al. 2019, section 5.3)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, ClassVar, Self

import torch

from demos.training.data.splits import Splits
from demos.training.settings import Settings
from demos.training.tasks.entities.data import OUTSIDE, EntityDataset, TaggedSentence
from demos.training.tasks.entities.events import FoundEntity, TagMistake, TagResult
from demos.training.tasks.entities.scores import score_entities, spans_of, types_of, ways_of
from demos.training.tasks.heads import HeadTask, head_fields
from demos.training.tasks.task import MAX_MISTAKES, NO_LABEL, Answers, Batch, Ended, Features, tokenized

MOST_SEARCHED = 300  # training sentences that are looked through for a few to show
TELLING, LONGEST = 3, 20  # sentences that show the rule, and their tokens at most
BASELINE = "each word's most frequent tag"

Answer = tuple[tuple[int, float], ...]  # of each word that was read: its likeliest label and that one's probability


@dataclass(frozen=True)
class Entities(HeadTask):
    """Dropout and a linear layer on each token's last hidden state; only words' first pieces are labelled and trained.

    The labels are taken word by word, the likeliest each: no rule makes the sequence valid BIO, and an I- after an O
    begins an entity. (Devlin et al. put no CRF on top either.)
    """

    kind: ClassVar[str] = "entities"
    data: ClassVar[type[Splits]] = EntityDataset
    metric: ClassVar[str] = "entity F1"
    batch_metric: ClassVar[str] = "accuracy over labeled words"  # entities are too few in one batch to score
    labels: tuple[str, ...]  # "O" first

    @classmethod
    def of(cls, dataset: EntityDataset, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""
        return cls(dataset.labels, **head_fields(settings, dataset.label_counts("train")))

    @property
    def types(self) -> tuple[str, ...]:
        """The entities' types, in the order of the labels."""
        return types_of(self.labels)

    def features(self, tokenizer: Any, examples: Sequence[TaggedSentence], max_length: int) -> list[Features]:
        """[CLS] the words' pieces [SEP], cut to `max_length` tokens; `extra` says where each word's first piece is."""
        pieces = pieces_of(tokenizer, [example.words for example in examples])
        features = []
        for example, words in zip(examples, pieces, strict=True):
            ids = [tokenizer.cls_token_id]
            first = []
            for word in words:
                first.append(len(ids))
                ids += word
            truncated = ids[: max_length - 1]
            sequence = (*truncated, tokenizer.sep_token_id)
            read = tuple(place for place in first if place < len(truncated))
            features.append(Features((sequence,), example.labels, len(truncated) < len(ids), extra=read))
        return features

    def as_text(self, example: TaggedSentence, name: str) -> tuple[str, str]:
        """Not in T5's paper: the entities, each behind its type; "none" where there are none."""
        tags = [self.labels[label] for label in example.labels]
        spans = [f"{kind}: {' '.join(example.words[start:end])}" for start, end, kind in spans_of(tags)]
        return f"{name} in: {' '.join(example.words)}", "; ".join(spans) or "none"

    def targets(self, features: Sequence[Features], longest: int) -> torch.Tensor:
        """The label of each word at its first piece, NO_LABEL at every other token: [batch, n]."""
        rows = torch.full((len(features), longest), NO_LABEL)
        for row, feature in zip(rows, features, strict=True):
            row[list(feature.extra)] = torch.tensor(feature.target[: len(feature.extra)])
        return rows

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[Answer]:
        """The likeliest label of each processed word, and that label's probability."""
        chances, labels = logits.softmax(dim=-1).max(dim=-1)  # [batch, n] each
        rows = zip(labels.tolist(), chances.tolist(), batch.features, strict=True)
        return [tuple((label[i], chance[i]) for i in feature.extra) for label, chance, feature in rows]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The share of the batch's words whose label is right."""
        labelled = targets != NO_LABEL
        return (logits.argmax(dim=-1) == targets)[labelled].float().mean()

    def baseline(self, dataset: EntityDataset) -> tuple[str, float]:
        """The entity F1, on the test's, of giving each word the label it has most often in the training sentences."""
        true = [self.tags(example.labels) for example in dataset.test]
        return BASELINE, score_entities(true, self._baseline_tags(dataset), self.types).total.f1

    def _baseline_tags(self, dataset: EntityDataset) -> list[list[str]]:
        counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for example in dataset.train:
            for word, label in zip(example.words, example.labels, strict=True):
                counts[word][label] += 1
        usual = {word: seen.most_common(1)[0][0] for word, seen in counts.items()}  # of equals the first seen
        return [self.tags([usual.get(word, OUTSIDE) for word in example.words]) for example in dataset.test]

    def tags(self, labels: Sequence[int], words: int = 0) -> list[str]:
        """The labels' names; a sentence of more `words` than were read goes on with O."""
        return [self.labels[label] for label in labels] + [self.labels[OUTSIDE]] * (words - len(labels))

    def score(self, answers: Answers, targets: Sequence[Any]) -> float:
        """The entity F1."""
        true = [self.tags(target) for target in targets]
        return score_entities(true, self._answered(answers, true), self.types).total.f1

    def _answered(self, answers: Answers, sentences: Sequence[Sequence[Any]]) -> list[list[str]]:
        """The labels that each of these sentences' words were given; a word that was not read is O."""
        return [
            self.tags([label for label, _ in row], len(words)) for row, words in zip(answers, sentences, strict=True)
        ]

    def entities_of(self, answer: Answer) -> tuple[FoundEntity, ...]:
        """The entities in one sentence's answer."""
        spans = spans_of(self.tags([label for label, _ in answer]))
        return tuple(
            FoundEntity(start, end, kind, sum(chance for _, chance in answer[start:end]) / (end - start))
            for start, end, kind in spans
        )

    def outcome(self, dataset: EntityDataset, answers: Answers, ended: Ended) -> TagResult:
        """With the scores, what became of each type's entities, and the sentences with a mistake."""
        true = [self.tags(example.labels) for example in dataset.test]
        predicted = self._answered(answers, true)
        words = sum(map(len, true))
        right = sum(
            a == b for truth, guess in zip(true, predicted, strict=True) for a, b in zip(truth, guess, strict=True)
        )
        wrong = [
            (
                _surest(truth, guess, row),
                TagMistake(example.words, tuple(spans_of(truth)), self.entities_of(row), len(row)),
            )
            for example, truth, guess, row in zip(dataset.test, true, predicted, answers, strict=True)
            if spans_of(truth) != spans_of(guess)
        ]
        wrong.sort(key=lambda scored: -scored[0])
        return TagResult(
            labels=self.labels,
            scores=score_entities(true, predicted, self.types),
            strict=score_entities(true, predicted, self.types, strict=True).total,
            word_accuracy=right / max(1, words),
            outside=sum(label == OUTSIDE for example in dataset.test for label in example.labels) / max(1, words),
            ways=ways_of(true, predicted, self.types),
            sentences=len(true),
            cut=sum(len(row) < len(tags) for row, tags in zip(answers, true, strict=True)),
            baseline=BASELINE,
            baseline_scores=score_entities(true, self._baseline_tags(dataset), self.types),
            mistakes=tuple(mistake for _, mistake in wrong[:MAX_MISTAKES]),
            wrong=len(wrong),
            **ended.run,
        )


TASK = Entities


def _surest(true: Sequence[str], predicted: Sequence[str], answer: Answer) -> float:
    """The highest probability that a wrong label got; 0 where only unread words are wrong."""
    chances = (chance for a, b, (_, chance) in zip(true, predicted, answer, strict=False) if a != b)
    return max(chances, default=0.0)


def pieces_of(tokenizer: Any, sentences: Sequence[Sequence[str]]) -> list[list[list[int]]]:
    """The ids of each word's pieces, no special tokens: what `is_split_into_words=True` cuts.

    A word of which the tokenizer keeps nothing (a control character, say) is read as the unknown token, so that
    every word has an answer.
    """
    words = list(dict.fromkeys(word for sentence in sentences for word in sentence))
    rows = tokenized(tokenizer, words, add_special_tokens=False)["input_ids"]
    pieces = {word: list(ids) or [tokenizer.unk_token_id] for word, ids in zip(words, rows, strict=True)}
    return [[pieces[word] for word in sentence] for sentence in sentences]


@dataclass(frozen=True)
class CutSentence:
    """A sentence as the model is trained on it: its tokens, the word of each, and the label to predict there."""

    tokens: tuple[str, ...]  # [CLS] … [SEP]
    word: tuple[int | None, ...]  # each token's word; None for [CLS] and [SEP]
    labels: tuple[str, ...]  # of a word's first piece; "" at every other token, where no loss is taken


def cut_sentences(tokenizer: Any, labels: Sequence[str], examples: Sequence[TaggedSentence]) -> list[CutSentence]:
    """The lecture's table ("Jim He ##nson" over B-PER I-PER X) of each sentence."""
    sentences = []
    for example, words in zip(examples, pieces_of(tokenizer, [example.words for example in examples]), strict=True):
        ids = [tokenizer.cls_token_id, *chain(*words), tokenizer.sep_token_id]
        numbers = [number for number, pieces in enumerate(words) for _ in pieces]
        piece_labels = [
            labels[label] if first else ""
            for label, pieces in zip(example.labels, words, strict=True)
            for first in [True, *[False] * (len(pieces) - 1)]
        ]
        tokens = tuple(tokenizer.convert_ids_to_tokens(ids))
        sentences.append(CutSentence(tokens, (None, *numbers, None), ("", *piece_labels, "")))
    return sentences


def telling_sentences(tokenizer: Any, dataset: EntityDataset) -> list[CutSentence]:
    """TELLING training sentences of at most LONGEST tokens that show the rule best under this tokenizer.

    First those where a word of a name is cut into pieces, then those with more types that the earlier ones lack, with
    a name of several words, and the shorter.
    """
    examples = dataset.train[:MOST_SEARCHED]
    rows = [
        sentence for sentence in cut_sentences(tokenizer, dataset.labels, examples) if len(sentence.tokens) <= LONGEST
    ]
    seen: set[str] = set()
    chosen: list[CutSentence] = []

    def worth(row: CutSentence) -> tuple[bool, int, bool, int]:
        named = [label for label in row.labels if label not in ("", dataset.labels[OUTSIDE])]
        kinds = {label[2:] for label in named}
        cut = any(a[2:] and not b for a, b in pairwise(row.labels[:-1]))
        return cut, len(kinds - seen), any(label.startswith("I-") for label in named), -len(row.tokens)

    while rows and len(chosen) < TELLING:
        best = max(rows, key=worth)
        rows.remove(best)
        chosen.append(best)
        seen |= {label[2:] for label in best.labels if label[1:2] == "-"}
    return chosen
