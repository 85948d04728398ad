"""The examples for a trained model are what its task takes, and the piano is the item that the data show."""

import json
import re
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.files import DATA, read_json_beside
from demos.lessons.finetune.train.try_it import EXAMPLES, FIRST, WRONG, correct_answer
from demos.lessons.pretraining.cloze.part import EXAMPLES as BUTTONS
from demos.page.example_chips import example_chips
from demos.training.data.splits import MAX_TRAIN
from demos.training.events import Finished
from demos.training.learning.model import Trained
from demos.training.loop import train
from demos.training.presets import recipe_for
from demos.training.sources import SOURCES
from demos.widgets.tasks.multiple_choice import view
from demos.widgets.tasks.registry import VIEWS


def test_every_data_set_has_examples_that_the_menu_finds_by_their_names() -> None:
    assert EXAMPLES.keys() == SOURCES.keys()
    named = [(name, one.texts) for examples in EXAMPLES.values() for name, one in examples.items()]
    assert len(dict(named)) == len(set(named))  # one text for each name


def read_stored() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((DATA / "first_examples.json").read_text(encoding="utf-8"))
    return stored


def right_answers(data: str, said: dict[str, list[str]]) -> dict[str, list[bool]]:
    """Of each example's answers, whether each is the correct one."""
    view = VIEWS[SOURCES[data].kind]
    return {
        name: [view.agrees(one, EXAMPLES[data][name].correct) for one in answers]
        for name, answers in said.items()
        if EXAMPLES[data][name].correct
    }


def bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@cache
def known_texts(data: str) -> list[str]:
    """What the examples of one of our data sets consist of: their texts, words and endings."""
    dataset = SOURCES[data].load(0, MAX_TRAIN)
    examples = [*dataset.train, *dataset.validation, *dataset.test]
    values = [value for example in examples for value in astuple(example) if isinstance(value, str | tuple)]
    return [bare(value if isinstance(value, str) else " ".join(map(str, value))) for value in values]


@pytest.mark.parametrize(("data", "name"), [(data, name) for data, named in EXAMPLES.items() for name in named])
def test_an_example_is_one_of_its_task_and_not_in_the_data(data: str, name: str) -> None:
    view, one = VIEWS[SOURCES[data].kind], EXAMPLES[data][name]
    assert len(one.texts) == len(view.boxes)
    assert view.example_of(one.texts)
    known = known_texts(data)
    assert len(known) > 100
    assert not [text for text in one.texts if len(text) > 20 and any(bare(text) in other for other in known)]


@pytest.mark.parametrize("data", sorted(SOURCES))
def test_the_default_recipe_gets_the_first_right_and_what_is_said_to_be_wrong_wrong(data: str) -> None:
    """As `python tests/benchmarks first_examples` measured it, with three seeds, for the examples as they are now."""
    measured = read_stored()[data]["examples"]
    assert {name: (tuple(one["texts"]), one["correct"]) for name, one in measured.items()} == {
        name: (one.texts, one.correct) for name, one in EXAMPLES[data].items()
    }
    right = right_answers(data, {name: one["seeds"] for name, one in measured.items()})
    assert all(len(seeds) == 3 for seeds in right.values())
    assert all(next(iter(right.values())))
    wrong = [name for name in right if name.startswith(WRONG)]
    assert wrong
    assert not any(any(right[name]) for name in wrong)


@pytest.mark.slow
def test_one_of_the_measured_models_is_trained_again(tmp_path: Path) -> None:
    base = ModelStore().folder(BUNDLED)
    *_, ended = train(SOURCES["films"].load(0, MAX_TRAIN), base, recipe_for("quick", "sentence"), tmp_path / "run")
    assert isinstance(ended, Finished)
    trained, view, named = Trained.read(tmp_path / "run"), VIEWS["sentence"], EXAMPLES["films"]
    answers = trained.answers([view.example_of(one.texts) for one in named.values()])
    said = {name: [view.in_words(trained.task, answer, ())] for name, answer in zip(named, answers, strict=True)}
    right = right_answers("films", said)
    assert next(iter(right.values())) == [True]
    assert [right[name] for name in right if name.startswith(WRONG)] == [[False]]


def test_a_model_that_never_saw_a_question_without_an_answer_gives_one() -> None:
    """So with `questions` it must be wrong; with `unanswerable` it could be right."""
    wrong = {
        data: one for data in ("questions", "unanswerable") for name, one in EXAMPLES[data].items() if WRONG in name
    }
    assert [one.correct for one in wrong.values()] == ["no answer", "no answer"]
    none = {data: [not example.answers for example in SOURCES[data].load(0, MAX_TRAIN).train] for data in wrong}
    assert not any(none["questions"])
    assert any(none["unanswerable"])


@pytest.mark.parametrize("kind", VIEWS)
def test_the_first_example_is_what_the_boxes_open_with(kind: str) -> None:
    first = next(iter(EXAMPLES[FIRST[kind]].values()))
    assert [*first.texts] == [sample for _, sample in VIEWS[kind].boxes]


def test_a_sentence_that_is_not_ours_has_its_source_on_its_label_wherever_it_is_offered() -> None:
    """Whose it is stands in parentheses: in these menus, in the page's examples and on the buttons of "Prompts"."""
    groups = read_json_beside(example_chips.__file__, "examples.json")
    chips = [(one["label"], one["text"]) for group in groups for one in group["examples"]]
    own = [(name, one.texts[0]) for named in EXAMPLES.values() for name, one in named.items()]
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
    context, start, endings = EXAMPLES["endings"]["A woman at the piano (SWAG)"].texts
    shown = Path(view.__file__).with_name("text.html").read_text(encoding="utf-8")
    assert f"“{context} {start} …”" in shown
    assert re.findall("<li>([^<{]+)</li>", shown) == endings.splitlines()


def test_one_question_is_not_answered_by_its_paragraph_which_another_example_asks_about() -> None:
    first, wrong, *_ = EXAMPLES["questions"].values()
    question, context = wrong.texts
    assert question == "When was Edith Marlowe born?"
    assert "born" not in context
    assert context == first.texts[1]


def test_the_correct_answer_is_shown_of_our_examples_where_the_labels_fit() -> None:
    (first, *_), sentence = EXAMPLES["films"].values(), ("negative", "positive")
    assert correct_answer("sentence", sentence, [*first.texts]) == "positive"
    assert correct_answer("sentence", ("joy", "fear"), [*first.texts]) == ""
    assert correct_answer("sentence", sentence, ["a sentence of one's own"]) == ""
