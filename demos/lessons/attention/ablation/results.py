"""The computations of "Switch heads off": a sentence with and without some heads, and token effects on an output."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from demos.bert.attention.ablation import Head, read_heads, run_without, switched_off
from demos.bert.attention.saliency import Saliency, Score, gradient_x_input, similarity_to, word_logit
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import Encoding, encode, encode_lately
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import BATCH_TOKENS, Run, run_model
from demos.bert.model.text import clean_text
from demos.bert.pretraining.guesses import Guess, guesses, masked, place_to_guess
from demos.errors import UserError
from demos.page.services import Sentence, Services
from demos.training.learning.model import Trained
from demos.training.results.classifier_on_states import class_probabilities, class_score

MAX_COMPARED = 8  # sentences in the list; the bar's second one comes on top
MAX_COMPARED_TOKENS = 1_024
MAX_CLASSES = 50
MAX_CACHED = 64  # lists whose vectors are remembered, some ten kilobytes each
NONE: frozenset[Head] = frozenset()
NO_TARGET = (
    "There is no output to explain yet. Write a second sentence at the top of the page, or a sentence to compare with."
)


@dataclass(frozen=True)
class Guesses:
    """The masked-word head's predictions at one position, with all heads on and without some."""

    place: int
    word: str  # the token at this position of the sentence
    before: list[Guess]
    after: list[Guess]


@dataclass(frozen=True)
class Effects:
    """The results of the whole model for a sentence (`before`), and those of the same model without the heads `off`."""

    before: Run
    off: frozenset[Head]
    missing: frozenset[Head]  # chosen, but this model has no such heads
    cosines: np.ndarray  # [L + 1, n], of each token's states before and after
    compared: list[str]
    similarities: np.ndarray  # [2, m]: before, after
    guesses: Guesses | None
    classes: list[dict[str, float]] | None  # before, after


Input = tuple[Encoding, frozenset[Head]]  # the input, and the heads that are off
Explained = tuple[LoadedModel, Run, Score, str]  # model, run, the score that is explained; its name where that is new


@dataclass(frozen=True)
class Target:
    """An output that gradient x input can explain; `key` is how the menu and the link name it."""

    key: str
    title: str
    prepare: Callable[[], Explained]


def _read(loaded: LoadedModel, inputs: Iterable[Input]) -> dict[Input, Run]:
    """Each input without its heads, those of about one length in one pass."""
    listed = list(inputs)
    read: dict[Input, Run] = {}
    for rows in padded_batches([len(encoding) for encoding, _ in listed], BATCH_TOKENS):
        encodings, off = zip(*(listed[row] for row in rows), strict=True)
        runs = run_model(replace(loaded, model=switched_off(loaded, off)), encodings)
        read |= {listed[row]: run for row, run in zip(rows, runs, strict=True)}
    return read


def _vectors(runs: Sequence[Run]) -> np.ndarray:
    """Each sentence's mean-pooled vector, [CLS] and [SEP] included: <float32>[m, d]."""
    return np.array([run.hidden_states[-1].mean(axis=0) for run in runs])


class Ablation:
    """Both halves of the part, for all readers. The last lists that were compared with are remembered as vectors."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._listed_vectors = lru_cache(maxsize=MAX_CACHED)(self._read_listed)

    def effects(self, sentence: Sentence, off: str, listed: str, place: int, trained: str) -> Effects:
        """Everything that switching these heads off changes.

        `listed` has the sentences to compare with, one a line; `place` is the token to hide for the masked-word head,
        -1 for one that is picked; `trained` the reader's fine-tuned run or "". The sentence is encoded without the
        bar's second one. Raises UserError for an invalid list of heads or too much to compare.
        """
        loaded = self.services.loaded(sentence.model)
        chosen = read_heads(off)
        there = frozenset((a, b) for a, b in chosen if a < loaded.spec.num_layers and b < loaded.spec.num_heads)
        compared = self.compared(sentence, listed)
        self._check_length(loaded, compared)
        encoding = encode_lately(loaded.tokenizer, sentence.text)
        where = self._place(loaded, encoding, place)
        hidden = encoding if where is None else masked(loaded.tokenizer, encoding, where)
        known = self.services.runs.known(loaded, encoding)
        runs = {} if known is None else {(encoding, NONE): known}
        wanted = {(read, heads) for read in (encoding, hidden) for heads in (NONE, there)}
        runs |= _read(loaded, sorted(wanted - runs.keys(), key=lambda pair: len(pair[1])))
        before, after = (runs[encoding, heads] for heads in (NONE, there))
        self.services.runs.keep(before)
        similarities: list[Any] = [
            cosine(self._listed_vectors(sentence.model, tuple(compared), heads), _vectors([run])) if compared else []
            for run, heads in ((before, NONE), (after, there))
        ]
        cosines = cosine(before.hidden_states, after.hidden_states)
        first = min((layer for layer, _ in there), default=0)
        cosines[: first + 1] = 1  # nothing changes before that layer but, in a batch, the last bits
        return Effects(
            before,
            there,
            chosen - there,
            cosines,
            compared,
            np.array(similarities),
            None
            if where is None
            else self._guesses(loaded, encoding.tokens[where], where, [runs[hidden, heads] for heads in (NONE, there)]),
            self._classes(sentence, there, trained),
        )

    def _read_listed(self, model: str, texts: tuple[str, ...], off: frozenset[Head]) -> np.ndarray:
        """The vectors of the sentences to compare with, read without these heads: <float32>[m, d], read-only."""
        loaded = self.services.loaded(model)
        runs = self.services.runs.get_many(loaded, [(text, "") for text in texts])
        if off:
            inputs = [(run.encoding, off) for run in runs]
            without = _read(loaded, inputs)
            runs = [without[read] for read in inputs]
        vectors = _vectors(runs)
        vectors.flags.writeable = False
        return vectors

    def compared(self, sentence: Sentence, listed: str) -> list[str]:
        """The bar's second sentence, where there is one, then the list's. Raises UserError for too many."""
        lines = [line.strip() for line in clean_text(listed, "The list of sentences").splitlines() if line.strip()]
        if len(lines) > MAX_COMPARED:
            raise UserError(f"The list of sentences has {len(lines):,} entries; the limit is {MAX_COMPARED}.")
        second = " ".join(clean_text(sentence.text_pair, "The second sentence").split())
        return list(dict.fromkeys([second, *lines] if second else lines))

    def _check_length(self, loaded: LoadedModel, texts: Sequence[str]) -> None:
        """Raises UserError if the sentences to compare with are too long together."""
        count = sum(len(encode_lately(loaded.tokenizer, text)) for text in texts)
        if count > MAX_COMPARED_TOKENS:
            raise UserError(
                f"The sentences to compare with have {count:,} tokens; the limit is {MAX_COMPARED_TOKENS:,}."
            )

    def _place(self, loaded: LoadedModel, encoding: Encoding, place: int) -> int | None:
        """The token to hide: the one chosen where it is a word of this sentence, else one that is picked.

        None without a masked-word head, or a word.
        """
        if not loaded.spec.mlm:
            return None
        if place in range(len(encoding)) and not encoding.special_tokens_mask[place]:
            return place
        return place_to_guess(encoding, loaded.tokenizer.mask_token)

    def _guesses(self, loaded: LoadedModel, word: str, where: int, runs: Sequence[Run]) -> Guesses:
        """The predictions at the masked position by the runs of the whole model and of the one without the heads."""
        word_logits = self.services.pretrained(loaded.spec.key).word_logits
        both = [guesses(word_logits, loaded.tokenizer, run.hidden_states[-1, where]) for run in runs]
        return Guesses(where, word, *both)

    def _own_classifier(self, sentence: Sentence, trained: str) -> tuple[LoadedModel, Trained, Encoding] | None:
        """The reader's classifier of one sentence, fine-tuned from the bar's very model, where it is still kept.

        With its own encoder, and the sentence as it reads it.
        """
        runs = self.services.trainings.runs
        trained = self.services.own_run(sentence.model) or trained
        if not trained or not runs.has(trained) or runs.base(trained) != self.services.pretrained_key(sentence.model):
            return None
        classifier, tuned = self.services.classifier(trained), self.services.tuned(trained)
        if classifier is None:
            return None
        return tuned, classifier, encode(tuned.tokenizer, sentence.text, max_length=classifier.max_length)

    def _classes(self, sentence: Sentence, off: frozenset[Head], trained: str) -> list[dict[str, float]] | None:
        """The classifier's answer by its own encoder, whole and with the same heads off."""
        own = self._own_classifier(sentence, trained)
        if own is None:
            return None
        tuned, classifier, encoding = own
        return [
            class_probabilities(classifier, run_without(tuned, [encoding], heads)[0].hidden_states[-1])
            for heads in (NONE, off)
        ]

    def targets(self, sentence: Sentence, listed: str, place: int, trained: str) -> list[Target]:
        """The outputs that can be explained here: similarities, then the classifier's classes, then a masked word.

        Raises UserError if there is none.
        """
        loaded = self.services.loaded(sentence.model)
        run = self.services.runs.get(loaded, sentence.text)
        targets = [
            Target(f"s{number}", f"similarity to “{text}”", partial(self._similarity, loaded, run, text))
            for number, text in enumerate(self.compared(sentence, listed))
        ]
        if own := self._own_classifier(sentence, trained):
            targets += [
                Target(f"c{number}", f"logit of class “{label}”", partial(self._class_logit, *own, number))
                for number, label in enumerate(own[1].task.labels[:MAX_CLASSES])
            ]
        where = self._place(loaded, run.encoding, place)
        if where is not None:
            word = partial(self._word_logit, loaded, run.encoding, where)
            targets.append(Target("w", f"logit of the most likely word at token {where}, masked", word))
        if not targets:
            raise UserError(NO_TARGET)
        return targets

    def explained(self, target: Target) -> tuple[Run, Saliency, str]:
        """(the run whose attention is shown beside it, gradient x input, the output's name)."""
        loaded, run, score, title = target.prepare()
        return run, gradient_x_input(loaded, run.encoding, score), title or target.title

    def _similarity(self, loaded: LoadedModel, run: Run, text: str) -> Explained:
        self._check_length(loaded, [text])
        return loaded, run, similarity_to(self.services.runs.get(loaded, text).hidden_states[-1].mean(axis=0)), ""

    def _class_logit(self, tuned: LoadedModel, classifier: Trained, encoding: Encoding, number: int) -> Explained:
        return tuned, run_model(tuned, [encoding])[0], class_score(classifier, number), ""

    def _word_logit(self, loaded: LoadedModel, encoding: Encoding, where: int) -> Explained:
        """The logit of the likeliest word at the masked position."""
        word_logits = self.services.pretrained(loaded.spec.key).word_logits
        (run,) = run_model(loaded, [masked(loaded.tokenizer, encoding, where)])
        best = guesses(word_logits, loaded.tokenizer, run.hidden_states[-1, where], 1)[0]
        score = word_logit(word_logits, where, best.token_id)
        return loaded, run, score, f"logit of “{best.token}” at token {where}"
