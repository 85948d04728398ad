"""The choices of the part "Maps" and the data it maps: sentences with their topics, or the tokens of a few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from demos.bert.embeddings.maps import MAX_POINTS, Recipe
from demos.bert.embeddings.pooling import Choice, run_states
from demos.bert.embeddings.similarity import sentences_of
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import clean_text
from demos.counting import state_names
from demos.errors import UserError
from demos.figures.cosine_heatmap import short
from demos.figures.maps import MAX_CLASSES, Points
from demos.files import DATA
from demos.page.services import Sentence, Services
from demos.training.data.lists import Listed, load_list, read_list

MAX_LINES = 12  # sentences with mapped tokens
LIBRARY, EMOTION, FILE = "library", "emotion", "file"  # sources of sentences
SENTENCE, TOKEN, LAYERS = "sentence", "token", "layers"  # kinds of point
TOKEN_LINES = """The bank has raised its interest rates.
She opened an account at the bank.
We had a picnic on the bank of the river.
The bank of the stream was muddy.
He threw a stick for the dog.
Stick the stamp on the letter."""


@dataclass(frozen=True)
class Answers:
    """The values of the controls, in the order in which they are read."""

    kind: str
    source: str
    file: str | None
    own: str
    bar: bool
    lines: str
    method: str
    axes: int
    nearby: float | None
    seed: float | None
    pooling: str
    layer: str
    picked: float | None
    picked_token: float | None
    find: str

    @property
    def recipe(self) -> Recipe:
        """The settings of the map; an empty box means its default."""
        nearby = min(max(int(self.nearby or 30), 2), 100)
        return Recipe(self.method, 3 if self.axes == 3 else 2, nearby, min(max(int(self.seed or 0), 0), 9_999))


@dataclass(frozen=True, eq=False)
class Mapped:
    """Vectors [m, d], the name and class of each, and the reader's own sentences among them."""

    vectors: np.ndarray
    points: Points
    own: tuple[str, ...] = ()
    read_as: str = ""  # what a file was read as, one sentence


@cache
def bundled(source: str) -> Listed:
    """One of the project's own lists (assets/data/*.md say what they are)."""
    return read_list((DATA / f"{source}.tsv").read_bytes(), f"{source}.tsv")


def listed_by(answers: Answers) -> Listed | None:
    """The list to map; None before a file was chosen. Raises UserError as `load_list` does."""
    if answers.source in (LIBRARY, EMOTION):
        return bundled(answers.source)
    if answers.source != FILE:
        raise UserError(f"There is no list called {str(answers.source)[:20]!r} here.")
    if not answers.file:
        return None
    return load_list(answers.file)


def own_sentences(sentence: Sentence, answers: Answers) -> tuple[str, ...]:
    """The reader's sentences: the bar's, if chosen, and the lines of the box, each once."""
    bar = " ".join(clean_text(sentence.text, "The sentence").split()) if answers.bar else ""
    return tuple(dict.fromkeys([*([bar] if bar else []), *sentences_of(answers.own)]))


def sentence_points(listed: Listed, own: tuple[str, ...], what: str = "topic") -> Points:
    """The list's sentences, then the reader's that are not among them; of many topics the largest MAX_CLASSES count."""
    most = [topic for topic, _ in Counter(listed.topics).most_common(MAX_CLASSES)]
    labels = tuple(sorted(most))
    numbers = {topic: number for number, topic in enumerate(labels)}
    known = set(listed.sentences)
    names = listed.sentences + tuple(text for text in own if text not in known)
    topics = listed.topics + ("",) * (len(names) - len(listed.topics))
    return Points(
        names=names,
        classes=np.array([numbers.get(topic, -1) if topic else -1 for topic in topics]),
        labels=labels,
        own=np.array([name in own for name in names]),
        what=what,
    )


def mapped_steps(
    services: Services, loaded: LoadedModel, sentence: Sentence, answers: Answers, choice: Choice
) -> Generator[Encoded, None, Mapped | None]:
    """The vectors and their points; None where a file is awaited. Raises UserError for what can't be mapped."""
    if answers.kind in (TOKEN, LAYERS):
        lines = sentences_of(answers.lines)
        return tokens_mapped(services, loaded, lines, None if answers.kind == LAYERS else choice.layer)
    listed = listed_by(answers)
    if listed is None:
        return None
    own = own_sentences(sentence, answers)
    points = sentence_points(listed, own, "topic" if answers.source == LIBRARY else "class")
    (vectors,) = yield from services.vectors.steps(loaded, points.names, [choice])
    read_as = listed.read_as.note if listed.read_as and answers.source == FILE else ""
    return Mapped(vectors, points, points.names[len(listed.sentences) :], read_as)


def tokens_mapped(services: Services, loaded: LoadedModel, lines: list[str], layer: int | str | None) -> Mapped:
    """The lines' tokens at one layer, coloured by line, or, where `layer` is None, at every layer, coloured by layer.

    Layers follow each other, 0 (the embedding output) first. Raises UserError for no line, too many or too long ones.
    """
    if not lines:
        raise UserError("The box contains no sentence; write one sentence per line.")
    if len(lines) > MAX_LINES:
        raise UserError(f"The box has {len(lines)} sentences; the limit for a map of tokens is {MAX_LINES}.")
    runs = services.runs.get_many(loaded, [(line, "") for line in lines])
    tokens = tuple(token for run in runs for token in run.encoding.tokens)
    n, states = len(tokens), loaded.model.config.num_hidden_layers + 1 if layer is None else 1
    if n * states > MAX_POINTS:
        raise UserError(
            f"These sentences make {n * states:,} points; the limit is {MAX_POINTS:,}. Use fewer or shorter sentences."
        )
    shown: dict[str, Any] = {"names": tokens * states, "own": np.zeros(n * states, dtype=bool), "kind": "token"}
    if layer is None:
        vectors = np.concatenate([run.hidden_states for run in runs], axis=1).reshape(n * states, -1)
        labels = tuple(state_names(states - 1))
        classes = np.repeat(np.arange(states), n)
        return Mapped(vectors, Points(classes=classes, labels=labels, ordered=True, step=n, what="layer", **shown))
    vectors = np.concatenate([run_states(run, layer) for run in runs])
    special = np.concatenate([run.encoding.special_tokens_mask for run in runs])
    number_of_line = np.repeat(np.arange(len(runs)), [len(run.encoding) for run in runs])
    classes = np.where(special, -1, number_of_line)
    labels = tuple(f"{number} {short(line, 26)}" for number, line in enumerate(lines, start=1))
    shown |= {"written": True, "what": "sentence", "others": "[CLS] and [SEP]"}
    return Mapped(vectors, Points(classes=classes, labels=labels, **shown))
