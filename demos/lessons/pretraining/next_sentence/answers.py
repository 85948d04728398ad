"""The model's answers in "Next sentence": four inputs of A and B, the trials, and the making of instances."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from demos.bert.model.encoding import encode
from demos.bert.model.once_cache import Recent
from demos.bert.model.text import clean_text
from demos.bert.pretraining.corruption import corrupt
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.next_documents import (
    Trial,
    draw_trials,
    our_documents,
    random_sentence,
    score_trials,
)
from demos.bert.pretraining.next_sentence import (
    IS_NEXT,
    NOT_NEXT,
    Answers,
    Drawn,
    draw_pair,
    next_probabilities,
    next_steps,
)
from demos.errors import UserError
from demos.lessons.pretraining.next_sentence.figure import TEXT, Case, Instance, made_html, trials_html
from demos.page.progress import relayed
from demos.page.services import Services

FIRST, SECOND = "The man went to the store.", "He bought a gallon of milk."  # Devlin et al. 2019, section A.2
WAYS = {  # to put the input together
    "true": "B as written",
    "random": "a random sentence",
    "swapped": "swapped: B, then A",
    "same": "the same sentence twice",
}
MOST = 120  # tokens of one sentence: the longest input then has 243, and four of them are read at once
MAX_CACHED = 64  # pairs whose four answers are remembered, and draws of trials
TOSSES = 1_000


class Reader:
    """Runs a model on pairs. The last answers are remembered, so that another view of them costs no pass."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.documents = [document.sentences for document in our_documents()]
        self.kinds = [document.kind for document in our_documents()]
        self.four = lru_cache(maxsize=MAX_CACHED)(self._four)
        self.cached_trials: Recent[tuple[list[Trial], Answers]] = Recent(MAX_CACHED)  # by encoder and seed

    def _four(self, model: str, first: str, second: str, draw: int) -> tuple[Case, ...]:
        """Four pairs in one batched pass: B as typed, a random sentence as B, the sentences swapped, and A twice."""
        pretrained = self.services.pretrained(model)
        check_sentences(pretrained, first, second)
        other = random_sentence(self.documents, (first.strip(), second.strip()), np.random.default_rng(draw))
        pairs = [(first, second), (first, other), (second, first), (first, first)]
        answers = next_probabilities(pretrained, pairs)
        labels = [self.label_of(first, second), NOT_NEXT, self.label_of(second, first), NOT_NEXT]
        names = ["the next sentence" if labels[0] == IS_NEXT else WAYS["true"], *list(WAYS.values())[1:]]
        rows = zip(names, labels, pairs, answers.logits, answers.probabilities, answers.losses, strict=True)
        return tuple(
            Case(name, label, encode(pretrained.tokenizer, *pair), *numbers) for name, label, pair, *numbers in rows
        )

    def label_of(self, first: str, second: str) -> int | None:
        """IsNext where `second` follows `first` in a text that is known here, NotNext where it does not.

        None where one of the two is from no such text: there is no true next sentence for one that a reader typed.
        """
        texts = [*self.documents, (FIRST, SECOND)]
        pair = first.strip(), second.strip()
        if any(pair in pairwise(text) for text in texts):
            return IS_NEXT
        return NOT_NEXT if {*pair} <= {sentence for text in texts for sentence in text} else None

    def trials(self, model: str, seed: int) -> Iterator[dict[str, str]]:
        """The "status", a line of progress, and at the end the counted "results"; the last ones are remembered."""
        pretrained = self.services.pretrained(model)
        key = pretrained.encoder.spec.key, seed
        answered = self.cached_trials.get(key)
        if answered is None:
            trials = draw_trials(self.documents, np.random.default_rng(seed))
            steps = next_steps(pretrained, [(trial.first, trial.second) for trial in trials])
            yield {"status": TEXT.progress(0, len(trials)), "results": ""}
            answers = yield from relayed(steps, lambda step: {"status": TEXT.progress(*step), "results": ""})
            answered = trials, answers
            self.cached_trials.put(key, answered)
        yield {"status": "", "results": trials_html(score_trials(*answered))}


def check_sentences(pretrained: Pretrained, first: str, second: str) -> None:
    """Raises UserError if a sentence is missing or too long for four inputs at once."""
    for name, text in (("A", first), ("B", second)):
        if not clean_text(text, name).strip():
            raise UserError("Write both sentences, A and B.")
        encoding = encode(pretrained.tokenizer, text)
        count = encoding.uncut - 2  # [CLS] and [SEP]
        if count > MOST:
            raise UserError(f"{name} has {count:,} tokens; the limit is {MOST} for each sentence.")


def made(reader: Reader, model: str, seed: int) -> str:
    """One instance of each label, and how many of the pairs drawn with this seed are IsNext; needs no head."""
    tokenizer = reader.services.loaded(model).tokenizer
    rng = np.random.default_rng(seed)
    pairs = [draw_pair(reader.documents, rng) for _ in range(TOSSES)]
    labels = [pair.label for pair in pairs]
    instances = [_instance(tokenizer, pairs[labels.index(label)], rng) for label in (IS_NEXT, NOT_NEXT)]
    return made_html(instances, reader.documents, reader.kinds, TOSSES, labels.count(IS_NEXT))


def _instance(tokenizer: Any, pair: Drawn, rng: np.random.Generator) -> Instance:
    """The pair as the model gets it in pre-training: 15% of its tokens must be predicted."""
    encoding = encode(tokenizer, pair.first, pair.second)
    corruption = corrupt(tokenizer, encoding.input_ids, rng)
    ids = corruption.input_ids.tolist()
    corrupted = replace(encoding, input_ids=tuple(ids), tokens=tuple(tokenizer.convert_ids_to_tokens(ids)))
    return Instance(pair, corrupted, corruption.chosen.tolist())
