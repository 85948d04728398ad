"""The examples for a trained model are what its task takes, and the piano is the item that the data show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from demos.files import read_json_beside
from demos.lessons.finetune.train.try_it import EXAMPLES
from demos.lessons.pretraining.cloze.part import EXAMPLES as BUTTONS
from demos.page.example_chips import example_chips
from demos.widgets.tasks import multiple_choice
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


def test_a_sentence_that_is_not_ours_has_its_source_on_its_label_wherever_it_is_offered() -> None:
    """Whose it is stands in parentheses: in these menus, in the page's examples and on the buttons of "Prompts"."""
    groups = read_json_beside(example_chips.__file__, "examples.json")
    chips = [(one["label"], one["text"]) for group in groups for one in group["examples"]]
    own = [(name, boxes[0]) for named in EXAMPLES.values() for name, boxes in named.items()]
    sources = {
        "I am looking forward for today! It's going to be a big day": "(a lecture)",
        "a visually stunning rumination on love": "(SST-2)",
        "I've been waiting for a HuggingFace course my whole life.": "(Hugging Face",
        "Jim Henson was a puppeteer": "(Devlin et al. 2019)",
    }
    offered = [*chips, *own, *((example.label, example.text) for example in BUTTONS)]
    assert {text for _, text in offered} >= sources.keys()
    assert not [label for label, text in offered if sources.get(text, "") not in label]


def test_the_piano_is_the_item_that_the_data_show() -> None:
    context, start, endings = EXAMPLES["choice"]["A woman at the piano (SWAG)"]
    shown = Path(multiple_choice.__file__).with_name("text.html").read_text(encoding="utf-8")
    assert f"“{context} {start} …”" in shown
    assert re.findall("<li>([^<{]+)</li>", shown) == endings.splitlines()


def test_one_question_is_not_answered_by_its_paragraph_which_another_example_asks_about() -> None:
    named = EXAMPLES["question"]
    question, context = named["A question without an answer"]
    assert question == "When was Edith Marlowe born?"
    assert "born" not in context
    assert context == named["A bakery in Hollin"][1]
