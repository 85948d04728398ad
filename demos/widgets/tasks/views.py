"""The five tasks as the page offers them: their words, their views, their try-it boxes, what is watched of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.training.sources import SOURCES
from demos.training.tasks.classification import task as classification
from demos.training.tasks.entities import task as entities
from demos.training.tasks.multiple_choice import task as multiple_choice
from demos.training.tasks.questions import task as spans
from demos.widgets.live_curve.live_curve import Watcher
from demos.widgets.tasks import figure_choices as lab_choices
from demos.widgets.tasks import figure_entities as lab_entities
from demos.widgets.tasks import figure_questions as lab_questions
from demos.widgets.tasks import figure_sentences as lab_sentences
from demos.widgets.tasks.figure import TaskView
from demos.widgets.tasks.watched import watch_answers, watch_classes, watch_endings, watch_names

BOXES = 3  # try-it boxes on the page, of which a task uses as many as it needs


@dataclass(frozen=True)
class Bench:
    """One task on the page."""

    kind: str
    word: str
    scheme: str  # what it asks of BERT, in a few words
    view: TaskView
    example_of: Callable[[Sequence[str]], Any]  # the try-it boxes as an example; raises UserError
    watcher: Callable[[Any], Watcher]  # of a data set


_ALL = (
    Bench(
        "sentence", "Sentence", "a class for a sentence",
        lab_sentences.VIEW, classification.example_of, watch_classes,
    ),
    Bench(
        "pair", "Two sentences", "a class for the two",
        lab_sentences.PAIR_VIEW, classification.example_of, watch_classes,
    ),
    Bench("entities", "Names", "a label for each word", lab_entities.VIEW, entities.example_of, watch_names),
    Bench("question", "Question", "an answer in a text", lab_questions.VIEW, spans.example_of, watch_answers),
    Bench("choice", "Choice", "the right ending", lab_choices.VIEW, multiple_choice.example_of, watch_endings),
)  # fmt: skip
BENCHES: Mapping[str, Bench] = {bench.kind: bench for bench in _ALL}


def bench_of(kind: str) -> Bench:
    """The task of this kind. Raises UserError for one that is not offered."""
    if kind not in BENCHES:
        raise UserError(f"There is no task called {str(kind)[:40]!r} here.")
    return BENCHES[kind]


@cache
def own_tokenizer() -> Any:
    """The bundled model's tokenizer, BERT's own word pieces: what cuts examples where no other is at hand."""
    return ModelStore().tokenizer(BUNDLED)


def bundled(kind: str) -> list[tuple[str, str]]:
    """Our own data sets for a kind of task: (title, key), as a menu takes them."""
    return [(source.title, key) for key, source in SOURCES.items() if source.kind == kind]
