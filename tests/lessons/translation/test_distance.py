"""The part on distance: its drawing, its numbers and its program are those of the paths and of the gradients."""

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.translation.bundled import MOST_WORDS, bundled
from demos.bert.translation.gradients import factor_per_word, gradient_norms
from demos.bert.translation.grammar import held_out
from demos.bert.translation.paths import NETWORKS, path
from demos.errors import UserError
from demos.lessons.translation.distance.figure import ways
from demos.lessons.translation.distance.part import KINDS, Distance
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.shown_values import shown_values

EMPTY, SERVICES = Sentence("", "", ""), Services(ModelStore(), BUNDLED)
SOURCE = held_out()[0].source
TYPED = " ".join(SOURCE[:-1])


def drawn(sentence: Sentence, typed: str, word: int) -> dict[str, Any]:
    return shown_values(Distance().shown(SERVICES, sentence, distance_english=typed, distance_word=word))


@pytest.mark.parametrize("word", [1, 8, 12])
def test_what_is_shown_is_computed(word: int) -> None:
    shown = drawn(EMPTY, TYPED, word)
    distance = len(SOURCE) - word
    norms = {name: gradient_norms(bundled(kind), SOURCE) for kind, name in KINDS.items()}
    for line, (name, expected) in zip(shown["plot"].data, norms.items(), strict=True):
        assert line.name == name
        assert list(line.y) == pytest.approx(expected, rel=1e-3)
    assert shown["plot"].layout.shapes[0].x0 == word
    assert list(shown["plot"].layout.xaxis.ticktext) == list(SOURCE)
    rows = re.findall(
        r'<th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>× (.*?)</td>', one_line(shown["said"])
    )
    assert rows == [
        (name, f"{of[-2]:.3f}", f"{of[word - 1]:.3f}", f"{factor_per_word(of):.2f}") for name, of in norms.items()
    ]
    picture = one_line(shown["picture"])
    steps = [path(network, word - 1, len(SOURCE) - 1).steps for network in NETWORKS]
    assert [int(number) for number in re.findall(r"</tspan> (\d+) (?:step|layer)", picture)] == steps
    assert steps[0] == distance
    cells = re.findall(r"<td>([^<]+)</td>", one_line(shown["table"]))
    assert [int(cell) for cell in cells[::4]] == steps
    assert cells[1::4] == ["12, O(n)", "6, O(n/k)", "3, O(logₖ n)", "1, O(1)"]
    assert cells[2::4] == [str(len(SOURCE)), "1", "1", "1"]


def test_the_longest_sentence_is_reached_to_its_end() -> None:
    shown = drawn(EMPTY, "the cat " * (MOST_WORDS // 2), MOST_WORDS)
    assert shown["distance_word"] == {"maximum": MOST_WORDS, "value": MOST_WORDS}


def test_the_drawing_stays_within_its_width_and_ends_where_both_words_meet() -> None:
    for n in (2, 13, 25):
        for first in (0, n - 2):
            drawing = ways(n, first, n - 1)
            for panel in drawing.panels:
                assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in panel.points)
                of_first, of_second = panel.ways
                assert of_first[-1] == of_second[-1]
                assert {*of_first, *of_second} <= {*panel.points}
                assert (of_first[0][0], of_second[0][0]) == (drawing.words[first], drawing.words[-1])


def test_two_words_have_no_slope_and_the_slider_ends_before_the_last() -> None:
    short = drawn(EMPTY, "agreement", 9)
    assert "per word" not in one_line(short["said"]).partition("</table>")[0]
    explained = "“Per word” is the factor by which the norm changes with each word of distance"
    assert explained not in one_line(short["said"])
    assert explained in one_line(drawn(EMPTY, TYPED, 1)["said"])
    assert short["distance_word"]["value"] == 1
    assert drawn(EMPTY, TYPED, 99)["distance_word"] == {"maximum": 12, "value": 12}
    with pytest.raises(UserError):
        drawn(EMPTY, "<b>", 1)


def test_the_program_prints_the_pages_norms() -> None:
    printed = StringIO()
    program = drawn(EMPTY, TYPED, 1)["program"]
    assert "demos." not in program.replace("python -m demos.", "")
    with redirect_stdout(printed):
        exec(program, {})
    lines = [line.split() for line in printed.getvalue().splitlines()]
    assert [line[0] for line in lines] == list(SOURCE)
    for column, kind in ((2, "additive"), (4, "transformer")):
        assert [float(line[column]) for line in lines] == pytest.approx(gradient_norms(bundled(kind), SOURCE), abs=1e-4)
