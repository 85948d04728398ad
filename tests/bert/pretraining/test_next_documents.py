"""Our little documents: their form, what the datasheet says of them, and the trials made from them."""

import itertools
from collections import Counter

import numpy as np
import pytest

from demos.bert.pretraining.next_documents import (
    FILE,
    KINDS,
    LATER,
    OTHER,
    SWAPPED,
    TRUE,
    Trial,
    draw_trials,
    our_documents,
    random_sentence,
    score_trials,
)
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT, Answers
from tests.training.hand_written_data import frames, near_copies, read_rows, stray_text, words

SENTENCES = [document.sentences for document in our_documents()]


def test_the_file_has_its_form() -> None:
    lines = FILE.read_bytes().decode("utf-8").split("\n")
    assert lines[0] == "document\tkind\tsentence"
    assert lines[-1] == ""
    assert all(line.count("\t") == 2 for line in lines[:-1])
    rows = read_rows(FILE)
    assert read_rows(FILE, honour_quotes=True) == rows
    assert [row["sentence"] for row in rows] == [text for one in SENTENCES for text in one]
    numbers = [int(row["document"]) for row in rows]
    assert numbers == sorted(numbers)
    assert len({(row["document"], row["kind"]) for row in rows}) == 60
    for row in rows:
        assert not stray_text(row["sentence"])
        assert row["sentence"][-1] in ".?!'"


def test_no_sentence_twice_and_no_templates() -> None:
    texts = [text for one in SENTENCES for text in one]
    assert len({" ".join(words(text)) for text in texts}) == len(texts)
    assert near_copies(texts, 0.5) == []
    assert frames([" ".join(one) for one in SENTENCES], 2) == {}


def test_the_datasheet_tells_what_the_file_holds() -> None:
    sheet = " ".join(FILE.with_suffix(".md").read_text(encoding="utf-8").split())
    texts = [text for one in SENTENCES for text in one]
    sizes, lengths = Counter(map(len, SENTENCES)), sorted(len(words(text)) for text in texts)
    kinds = Counter(document.kind for document in our_documents())
    assert f"{len(SENTENCES)} little English documents of 3 or 4 sentences each, {len(texts)} sentences" in sheet
    assert f"{sizes[4]} documents have four sentences, {sizes[3]} have three" in sheet
    assert f"have {lengths[0]} to {lengths[-1]} words, {lengths[len(lengths) // 2]} in the middle" in sheet
    assert f"| kind | {' | '.join(sorted(kinds))} | all |" in sheet
    assert f"| documents | {' | '.join(str(kinds[kind]) for kind in sorted(kinds))} | {len(SENTENCES)} |" in sheet

    long_words = {text: {word for word in words(text) if len(word) >= 5} for text in texts}

    def sharing(pairs: list[tuple[str, str]]) -> float:
        return float(np.mean([bool(long_words[first] & long_words[second]) for first, second in pairs]))

    near = sharing([pair for one in SENTENCES for pair in itertools.pairwise(one)])
    apart = sharing([(a, b) for one, other in itertools.combinations(SENTENCES, 2) for a in one for b in other])
    assert f"{near:.0%} of adjacent sentences share a word of five letters or more, and {apart:.0%} of" in sheet


def test_four_trials_a_document() -> None:
    trials = draw_trials(SENTENCES, np.random.default_rng(4))
    assert len(trials) == 240
    assert Counter(trial.kind for trial in trials) == dict.fromkeys(KINDS, 60)
    where = {text: (number, place) for number, one in enumerate(SENTENCES) for place, text in enumerate(one)}
    for number in range(60):
        of = {trial.kind: trial for trial in trials[4 * number : 4 * number + 4]}
        first = where[of[TRUE].first]
        assert first[0] == number
        assert where[of[TRUE].second] == (number, first[1] + 1)
        assert (of[SWAPPED].first, of[SWAPPED].second) == (of[TRUE].second, of[TRUE].first)
        assert of[OTHER].first == of[LATER].first == of[TRUE].first
        assert where[of[OTHER].second][0] != number
        assert where[of[LATER].second][0] == number
        assert where[of[LATER].second][1] >= first[1] + 2
    assert [trial.label for trial in trials[:4]] == [IS_NEXT, NOT_NEXT, NOT_NEXT, NOT_NEXT]
    assert draw_trials(SENTENCES, np.random.default_rng(4)) == trials
    assert draw_trials(SENTENCES, np.random.default_rng(5)) != trials


def test_answers_are_counted() -> None:
    trials = [Trial("a", "b", kind) for kind in (TRUE, OTHER, TRUE, SWAPPED, OTHER, TRUE)]
    logits = np.array([[2, 0], [1, 0], [0, 3], [-1, 0], [0, 1], [1, 0]], dtype=np.float32)
    scores = {score.kind: score for score in score_trials(trials, Answers(logits))}
    assert list(scores) == [TRUE, OTHER, SWAPPED]
    assert [(one.count, one.said_next, one.right) for one in scores.values()] == [(3, 2, 2), (2, 1, 1), (1, 0, 1)]
    expected = [1 / (1 + np.exp(-gap)) for gap in (2, -3, 1)]
    assert scores[TRUE].mean == pytest.approx(np.mean(expected))


def test_a_random_sentence_is_of_another_document() -> None:
    rng = np.random.default_rng(0)
    first, second = SENTENCES[7][:2]
    found = {random_sentence(SENTENCES, (first, second), rng) for _ in range(2_000)}
    assert not found & set(SENTENCES[7])
    assert len(found) > 190
    assert random_sentence([["a"], ["b", "c"]], ("c",), rng) == "a"
