"""The examples for a trained model are what its task takes, and the piano is the question card's."""

from __future__ import annotations

import pytest

from demos.lessons.finetune.results.question import ENDINGS, FIRST
from demos.lessons.finetune.train.try_it import EXAMPLES
from demos.page.questions import questions
from demos.widgets.tasks.registry import VIEWS


def test_every_task_has_examples_of_its_own_names() -> None:
    assert EXAMPLES.keys() == VIEWS.keys()
    names = [name for named in EXAMPLES.values() for name in named]
    assert len(set(names)) == len(names)  # the menu finds the texts by name


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, named in EXAMPLES.items() for name in named])
def test_an_example_is_one_of_its_task(kind: str, name: str) -> None:
    boxes = EXAMPLES[kind][name]
    assert len(boxes) == len(VIEWS[kind].boxes)
    assert VIEWS[kind].example_of(boxes)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_first_example_is_what_the_boxes_open_with(kind: str) -> None:
    assert next(iter(EXAMPLES[kind].values())) == [sample for _, sample in VIEWS[kind].boxes]


def test_the_piano_is_told_once() -> None:
    context, start, endings = EXAMPLES["choice"]["A woman at the piano (SWAG)"]
    assert context == FIRST
    assert start == "She"
    assert endings.splitlines() == list(ENDINGS.values())
    asked = questions()[("finetune", "results")]
    assert f"{FIRST} She …" in asked.text


def test_one_question_is_not_answered_by_its_paragraph_which_another_example_asks_about() -> None:
    named = EXAMPLES["question"]
    question, context = named["A question without an answer"]
    assert question == "When was Edith Marlowe born?"
    assert "born" not in context
    assert context == named["A bakery in Hollin"][1]
