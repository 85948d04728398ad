"""The search's lists: places, lines, marked words, what is empty, and no markup of the learner's."""

import re

import numpy as np

from demos.bert.embeddings.search import Precision
from demos.figures import palette
from demos.figures.ranked_lists import topic_hues
from demos.lessons.embeddings.search.figure import Searched, hits_html, numbers_html, results_html
from tests.one_line import plain

HOSTILE = "<img src=x onerror=alert(1)> ${x} rain"
SENTENCES = [f"sentence {k}" for k in range(14)] + [HOSTILE]
TOPICS = ["<b>"] * 7 + ["b"] * 8
SHARED = [frozenset[tuple[int, int]]()] * 14 + [frozenset({(len(HOSTILE) - 4, len(HOSTILE))})]


def lists(words: np.ndarray) -> list[Searched]:
    up = np.linspace(-0.2, 0.9, 15)
    precision = Precision(10, 0.39, 10, 0.1)
    return [
        Searched("A", "[CLS]", up, precision=precision),
        Searched("B", "mean", np.roll(up, 1), precision=precision),
        Searched("words", "Words", words, 0.0, Precision(10, 0.05, 3.9, 0.1)),
    ]


def test_places_lines_and_marks() -> None:
    words = np.zeros(15)
    words[14] = 0.25
    shown = hits_html(lists(words), SENTENCES, TOPICS, SHARED)
    a, b, c = shown.split("</section>")[:3]
    assert re.findall(r"sentence (\d+)<", a) == [str(k) for k in range(13, 4, -1)]
    assert re.findall(r"<small>(.*?)</small>", a)[:2] == ["B 2", "B 3"]
    assert a.count("<mark>rain</mark>") == 1
    assert "<b>3.9</b> of 10 correct" in a
    assert "(3.9 found)" in c
    assert "No other sentence shares a word" in c
    assert b.count("<line") == 9  # all of A's first ten but its tenth
    assert c.count("<line") == 1
    assert "<img" not in shown
    assert "<b>b" not in shown
    told = plain(results_html(HOSTILE, lists(words), SENTENCES, SHARED))
    assert "9 of the top 10 of A are also in the top 10 of B" in told
    assert "which shares no word with the query" in told
    assert "<img" not in told + numbers_html(lists(words), SENTENCES, TOPICS)


def test_nothing_found_and_no_topics() -> None:
    bare = [Searched(one.letter, one.name, one.scores, one.above) for one in lists(np.zeros(15))]
    shown = hits_html(bare, SENTENCES, [], SHARED)
    assert "a word search finds nothing" in shown
    assert "correct" not in shown
    assert 'class="tag"' not in shown
    assert "topic" not in numbers_html(bare, SENTENCES, [])


def test_topics_keep_their_colours_apart() -> None:
    hues = topic_hues([f"t{k:02}" for k in range(10)])
    assert len(set(hues.values())) == 10
    assert hues["t08"] == palette.TOPICS[8]
