"""What the part "Maps" maps: sentences of a list with their topics, or the tokens of a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import sentences_of
from demos.bert.embeddings.token_maps import MAX_LINES, token_points
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosines import short
from demos.figures.maps import MAX_CLASSES, Points
from demos.files import ASSETS
from demos.page.services import Sentence, Services
from demos.training.data.lists import Listed, read_list

LIBRARY, EMOTION, FILE = "library", "emotion", "file"  # where sentences come from
SENTENCE, TOKEN, LAYERS = "sentence", "token", "layers"  # what a point is
TOKEN_LINES = """The bank has raised its interest rates.
She opened an account at the bank.
We had a picnic on the bank of the river.
The bank of the stream was muddy.
He threw a stick for the dog.
Stick the stamp on the letter."""


@dataclass(frozen=True)
class Selection:
    """What the controls say is to be mapped."""

    kind: str
    source: str
    file: str | None
    own: str
    bar: bool
    lines: str


@dataclass(frozen=True, eq=False)
class Mapped:
    """Vectors [m, d], what is known of each, and the texts behind them."""

    vectors: np.ndarray
    points: Points
    texts: tuple[str, ...]  # the sentences; of tokens, the lines they stand in
    own: tuple[str, ...]  # of these, the reader's


@cache
def bundled(source: str) -> Listed:
    """One of the project's own lists (assets/data/*.md say what they are)."""
    return read_list((ASSETS / "data" / f"{source}.tsv").read_bytes(), f"{source}.tsv")


def listed_by(selection: Selection) -> Listed | None:
    """The list to map; None before a file was chosen. Raises UserError as `read_list` does."""
    if selection.source in (LIBRARY, EMOTION):
        return bundled(selection.source)
    if selection.source != FILE:
        raise UserError(f"There is no list called {str(selection.source)[:20]!r} here.")
    if not selection.file:
        return None
    try:
        return read_list(Path(selection.file).read_bytes(), Path(selection.file).name)
    except OSError as error:
        raise UserError("The file could not be read; choose it again.") from error


def own_sentences(sentence: Sentence, selection: Selection) -> tuple[str, ...]:
    """The reader's: the bar's, where asked for, and the lines of the box, each once."""
    bar = " ".join(clean_text(sentence.text, "The sentence").split()) if selection.bar else ""
    return tuple(dict.fromkeys([*([bar] if bar else []), *sentences_of(selection.own)]))


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
    services: Services, loaded: LoadedModel, sentence: Sentence, selection: Selection, choice: Choice
) -> Generator[Encoded, None, Mapped | None]:
    """The vectors and their points; None where a file is awaited. Raises UserError for what can't be mapped."""
    if selection.kind in (TOKEN, LAYERS):
        return tokens_mapped(
            services, loaded, sentences_of(selection.lines), None if selection.kind == LAYERS else choice.layer
        )
    listed = listed_by(selection)
    if listed is None:
        return None
    own = own_sentences(sentence, selection)
    points = sentence_points(listed, own, "topic" if selection.source == LIBRARY else "class")
    (vectors,) = yield from services.vectors.steps(loaded, points.names, [choice])
    return Mapped(vectors, points, points.names, points.names[len(listed.sentences) :])


def tokens_mapped(services: Services, loaded: LoadedModel, lines: list[str], layer: int | str | None) -> Mapped:
    """The lines' tokens, coloured by line, or, where `layer` is None, at every layer, coloured by layer."""
    if not lines:
        raise UserError("There is no sentence in the box; write one a line.")
    if len(lines) > MAX_LINES:
        raise UserError(f"The box has {len(lines)} sentences; the limit for a map of tokens is {MAX_LINES}.")
    runs = services.runs.get_many(loaded, [(line, "") for line in lines])
    found = token_points(runs, layer)
    more: dict[str, Any] = (
        {
            "classes": found.layer,
            "labels": tuple(f"layer {number}" for number in range(found.layer.max() + 1)),
            "ordered": True,
            "step": found.step,
            "what": "layer",
        }
        if layer is None
        else {
            "classes": np.where(found.special, -1, found.sentence),
            "labels": tuple(f"{number + 1} {short(line, 26)}" for number, line in enumerate(lines)),
            "written": True,
            "what": "sentence",
            "others": "[CLS] and [SEP]",
        }
    )
    points = Points(names=found.tokens, own=np.zeros(len(found.tokens), dtype=bool), kind="token", **more)
    return Mapped(found.vectors, points, tuple(lines), ())
