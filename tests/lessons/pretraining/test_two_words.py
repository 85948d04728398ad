"""Part "Two words": what it shows on the bundled model against its program, which needs transformers alone."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cityblock

from demos.bert.model.catalogue import BUNDLED
from demos.bert.pretraining.two_words import compare
from demos.errors import UserError
from demos.lessons.pretraining.two_words.figure import LISTED, NAMED, scatter_figure
from demos.lessons.pretraining.two_words.part import EXAMPLES, TwoWords
from demos.page.services import Sentence, Services
from tests.plotly_figure import plotly
from tests.programs import printed
from tests.shown_values import with_values

shown = with_values(TwoWords().shown)

ROOT = Path(__file__).resolve().parents[3]
BAR = Sentence("", "", BUNDLED)


def test_the_program_prints_what_the_page_shows(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, frame, first, second = EXAMPLES[2]
    page = shown(services, BAR, frame=frame, first=first, second=second)
    distance, *lines = printed(page["program"])
    words = [unescape(re.sub("<[^>]+>", "", word)) for word in re.findall(r'<th scope="row">(.*?)</th>', page["lists"])]
    assert [line.split()[0] for line in lines] == words
    both = compare(services.pretrained(BUNDLED), frame, (first, second))
    for line in lines:
        word, *chances = line.split()
        expected = both.probabilities[:, both.tokens.index(word)]
        assert [float(chance) for chance in chances] == pytest.approx(list(expected), abs=2e-6)
    assert float(distance.split()[1]) == pytest.approx(both.distance, abs=2e-6)
    assert both.distance == pytest.approx(cityblock(*both.probabilities) / 2)
    assert both.probabilities.sum(axis=1) == pytest.approx([1, 1])


def test_the_order_is_that_of_the_differences_and_swapped_words_swap_the_sides(services: Services) -> None:
    _, frame, first, second = EXAMPLES[0]
    both = compare(services.pretrained(BUNDLED), frame, (first, second))
    swapped = compare(services.pretrained(BUNDLED), frame, (second, first))
    for side in (0, 1):
        ids = both.most(side, 20)
        gains = both.probabilities[side] - both.probabilities[1 - side]
        assert ids == [int(index) for index in np.argsort(-gains, kind="stable")[:20]]
        assert swapped.most(1 - side, 20) == ids
    assert both.tokens[both.most(0, 1)[0]] == "she"
    assert both.tokens[both.most(1, 1)[0]] == "he"


def test_the_picture_holds_the_probabilities(services: Services) -> None:
    _, frame, first, second = EXAMPLES[1]
    both = compare(services.pretrained(BUNDLED), frame, (first, second))
    figure = plotly(scatter_figure(both))
    line, others, left, right = figure.data
    assert list(line.x) == list(line.y)
    for side, trace in ((0, left), (1, right)):
        ids = both.most(side, NAMED)
        assert list(trace.x) == pytest.approx(list(both.probabilities[0, ids]))
        assert list(trace.y) == pytest.approx(list(both.probabilities[1, ids]))
        assert trace.text[0] == both.tokens[ids[0]]
        assert all((x > y) == (side == 0) for x, y in zip(trace.x, trace.y, strict=True))
    assert len(others.x) + 2 * NAMED >= 400
    low, high = 10 ** figure.layout.xaxis.range[0], 10 ** figure.layout.xaxis.range[1]
    assert all(low < value < high for trace in (others, left, right) for value in (*trace.x, *trace.y))


def test_hostile_words_are_text(services: Services) -> None:
    page = shown(services, BAR, frame="A ___ is a [MASK].", first="<b>cat</b>", second="<i>dog</i>")
    assert "&lt;b&gt;cat" in page["lists"]
    assert "<b>cat</b>" not in page["lists"] + page["numbers"] + str(page["plot"])
    assert page["lists"].count("<tr>") == 2 * LISTED


@pytest.mark.parametrize(
    ("frame", "words", "said"),
    [
        ("The man worked as a [MASK].", ("a", "b"), "needs ___ where"),
        ("The ___ worked.", ("a", "b"), r"exactly one \[MASK\]"),
        ("The ___ [MASK] as a [MASK].", ("a", "b"), r"exactly one \[MASK\]"),
        ("The ___ is a [MASK].", ("a", "[MASK]"), r"exactly one \[MASK\]"),
        ("The ___ is a [MASK].", ("a", " "), "Write both words"),
        ("The ___ is a [MASK].", ("a", "a "), "are the same"),
        ("The ___ is a [MASK]." + " more" * 80, ("a", "b"), "limit is 300"),
        ("The ___ is a [MASK].", ("a" * 31, "b"), "30 for a word"),
        ("", ("", ""), "needs ___ where"),
    ],
)
def test_what_can_not_be_compared_is_one_sentence(
    services: Services, frame: str, words: tuple[str, str], said: str
) -> None:
    with pytest.raises(UserError, match=said) as refused:
        shown(services, BAR, frame=frame, first=words[0], second=words[1])
    assert "\n" not in str(refused.value)


def test_every_example_can_be_compared(services: Services) -> None:
    for _, frame, first, second in EXAMPLES:
        both = compare(services.pretrained(BUNDLED), frame, (first, second))
        assert both.distance > 0.05
