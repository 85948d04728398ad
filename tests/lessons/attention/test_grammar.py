"""Heads for grammar as the page shows it: table and picture, and the program, which prints the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from demos.bert.attention.grammar import RELATIONS, measure_grammar
from demos.bert.model.generators import drained
from demos.bert.model.models import ModelStore
from demos.lessons.attention.grammar.part import OWN, show
from demos.lessons.attention.grammar.question import answer
from demos.lessons.attention.grammar.scores import SENTENCES
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.programs import printed


@pytest.fixture(scope="module")
def services(store: ModelStore) -> Services:
    return Services(store, "minilm")


@pytest.mark.parametrize(("name", "direction"), [("object", OWN), ("coreference", 1)])
def test_picture_table_and_program_say_the_same(services: Services, name: str, direction: int) -> None:
    sentence = Sentence("", "", "minilm")
    figure, best, pairs, program = show(services, sentence, name, direction)
    relation = drained(measure_grammar(services.loaded("minilm"), SENTENCES))[name]
    way = relation.best.direction if direction == OWN else direction
    drawn = np.array(figure.data[0].z, dtype=float)
    np.testing.assert_allclose(drawn, relation.accuracy[way], atol=1e-4)
    numbers = np.array(
        [float(value) for value in "".join(printed(program)).replace("[", " ").replace("]", " ").split()]
    )
    np.testing.assert_allclose(numbers.reshape(drawn.shape), drawn, atol=1e-3)
    assert f"{drawn.max():.0%} of {len(relation.places)} cases" in one_line(best)
    assert str(best).count("<tr") == len(RELATIONS) + 1
    assert str(pairs).count("✓") == round(drawn.max() * len(relation.places))


def test_the_question_knows_this_models_head(services: Services) -> None:
    found = answer(services, Sentence("", "", "minilm"))
    relation = drained(measure_grammar(services.loaded("minilm"), SENTENCES))["object"]
    assert found.keys == frozenset({"some"})
    assert found.facts["share"] == relation.best.accuracy
