"""Zero, one, few examples: the ranks on the page are the decoder's, and the program prints them."""

from __future__ import annotations

import numpy as np
import pytest

from demos.bert.causal.prompts import SHOTS, TASKS, answered
from demos.bert.model.models import ModelStore
from demos.lessons.family.prompts.part import of_all, of_one, task_of
from demos.lessons.family.prompts.question import answer
from demos.page.services import Sentence, Services
from tests.programs import printed

EMPTY = Sentence("", "", "")


@pytest.fixture(scope="module")
def services(store: ModelStore) -> Services:
    return Services(store, "minilm")


def test_the_ranks_are_the_decoders(services: Services) -> None:
    task = TASKS[2]
    plot = of_all(services, EMPTY, task.name)["plot"]
    for column, shots in enumerate(SHOTS):
        found = [answered(services.decoder(), task.prompt(at, shots), pair[1]) for at, pair in enumerate(task.pairs)]
        assert list(plot.data[column].y) == [one.rank for one in found]
        assert plot.data[-1].y[column] == np.median([one.rank for one in found])
    facts = answer(services, EMPTY, task.name).facts
    assert (facts["zero"], facts["few"]) == (plot.data[-1].y[0], plot.data[-1].y[2])


def test_one_question_is_told_and_the_program_prints_it(services: Services) -> None:
    values = of_one(services, EMPTY, TASKS[1].name, 3)
    found = [answered(services.decoder(), TASKS[1].prompt(2, shots), TASKS[1].pairs[2][1]) for shots in SHOTS]
    for one, line in zip(found, printed(values["program"]), strict=True):
        assert f"rank <b>{one.rank:,}</b>" in values["one"]
        rank, probability = line.split()
        assert int(rank) == one.rank
        assert float(probability) == pytest.approx(one.probability, rel=1e-3)


def test_what_is_no_task_is_the_first_one(services: Services) -> None:
    assert task_of("<b>") is TASKS[0]
    assert of_one(services, EMPTY, "<b>", 99)["one"] == of_one(services, EMPTY, TASKS[0].name, 12)["one"]
