"""Heads for grammar as the page shows it: table and picture, and the program, which prints the same numbers."""

import re
from typing import Any

import numpy as np
import pytest

from demos.bert.attention.grammar import RELATIONS, measure_grammar
from demos.bert.model.generators import drained
from demos.lessons.attention.grammar.figure import PUBLISHED
from demos.lessons.attention.grammar.part import OWN, SENTENCES, Grammar, answer
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import called


def show(services: Services, sentence: Sentence, relation: str, direction: int) -> list[Any]:
    shown = Grammar().shown(services, sentence, relation=relation, direction=direction)
    return [called(value) for value in shown.values()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "direction"), [("object", OWN), ("coreference", 1)])
def test_picture_table_and_program_say_the_same(services: Services, name: str, direction: int) -> None:
    sentence = Sentence("", "", "minilm")
    figure, best, pairs, program = show(services, sentence, name, direction)
    relation = drained(measure_grammar(services.loaded("minilm"), SENTENCES))[name]
    way = relation.best.direction if direction == OWN else direction
    drawn = np.array(plotly(figure).data[0].z, dtype=float)
    np.testing.assert_allclose(drawn, relation.accuracy[way], atol=1e-4)
    numbers = np.array(
        [float(value) for value in "".join(printed(program)).replace("[", " ").replace("]", " ").split()]
    )
    np.testing.assert_allclose(numbers.reshape(drawn.shape), drawn, atol=1e-3)
    assert f"{drawn.max():.0%} of {len(relation.places)} cases" in one_line(best)
    assert str(best).count("<tr") == len(RELATIONS) + 1
    assert str(pairs).count("✓") == round(drawn.max() * len(relation.places))


# What Clark et al.'s Syntax_Analysis.ipynb prints: relation, cases, best head (from 0), best offset.
PRINTED = """
det      |  3337 | attn: 94.3 | offset= 1: 51.7 | 7-10 dep->head
nsubj    |  2804 | attn: 58.5 | offset= 1: 45.5 | 7-1 dep->head
dobj     |  1591 | attn: 86.8 | offset=-2: 40.0 | 7-9 dep->head
poss     |   708 | attn: 80.5 | offset= 1: 47.7 | 6-5 dep->head
"""
OURS = {"det": "determiner", "nsubj": "subject", "dobj": "object", "poss": "possessive"}


def test_the_published_figures_are_the_authors(services: Services) -> None:
    line = re.compile(r"(\w+) +\|.*attn: (.+) \| offset= ?(.+): (.+) \| (\d+)-(\d+)")
    found = {
        OURS[match[1]]: (int(match[5]) + 1, int(match[6]) + 1, float(match[2]), int(match[3]), float(match[4]))
        for match in line.finditer(PRINTED)
    }
    assert found == {name: PUBLISHED[name] for name in OURS.values()}
    shown = one_line(show(services, Sentence("", "", "minilm"), "subject", OWN)[1])  # counted from 1
    assert "<td>58.5% (8-2)</td><td>46% (+1)</td>" in shown
    assert "<td>65.1% (5-4)</td><td>–</td>" in shown


def test_the_question_has_the_offset_and_this_models_head(services: Services) -> None:
    found = answer(services, Sentence("", "", "minilm"))
    relation = drained(measure_grammar(services.loaded("minilm"), SENTENCES))["object"]
    assert found.keys == frozenset({"half"})
    assert abs(relation.baseline - 0.5) < 0.1  # of the offset, which no model changes
    assert found.facts["baseline"] == relation.baseline
    assert found.facts["share"] == relation.best.accuracy
