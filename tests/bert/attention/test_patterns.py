"""Pattern scores: on attention made by hand, against plain loops, and on the bundled model; habits and their cache."""

import math
import time
import unicodedata

import numpy as np
import pytest

from demos.bert.attention.head_profiles import habit_sentences, measure_habit
from demos.bert.attention.patterns import PATTERNS, even_scores, pattern_scores, words
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model

PAIR = ("The Bank, the bank: unflappable bankers!", "A bank (of the river).")
PREVIOUS_HEAD = (0, 2)  # named in demos/lessons/attention/heads/sources.md


def random_attention(layers: int, heads: int, n: int) -> np.ndarray:
    weights = np.random.default_rng(5).exponential(size=(layers, heads, n, n)) ** 3
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def by_loops(weights: np.ndarray, encoding: Encoding) -> dict[str, float]:
    """One head's scores, read off its definitions token by token."""
    n = len(encoding)
    texts = (encoding.text, encoding.text_pair)
    names: list[str | None] = []
    for i in range(n):
        pieces = [
            encoding.offsets[j]
            for j in range(n)
            if encoding.word_ids[j] is not None
            and (encoding.word_ids[j], encoding.sequence_ids[j]) == (encoding.word_ids[i], encoding.sequence_ids[i])
        ]
        name = texts[encoding.sequence_ids[i]][pieces[0][0] : pieces[-1][1]].lower() if pieces else ""  # type: ignore[index]
        names.append(name if any(character.isalnum() for character in name) else None)
    marks = [all(unicodedata.category(character)[0] == "P" for character in token) for token in encoding.tokens]

    def mean(values: list[float]) -> float:
        return math.fsum(values) / len(values) if values else math.nan

    def same(i: int) -> list[int]:
        mine = (encoding.word_ids[i], encoding.sequence_ids[i])
        return [
            j
            for j in range(n)
            if names[i] is not None
            and names[j] == names[i]
            and (encoding.word_ids[j], encoding.sequence_ids[j]) != mine
        ]

    rows = [[float(weight) for weight in row] for row in weights]
    entropies = [-math.fsum(weight * math.log(weight) for weight in row if weight > 0) for row in rows]
    return {
        "previous": mean([rows[i][i - 1] for i in range(1, n)]),
        "next": mean([rows[i][i + 1] for i in range(n - 1)]),
        "itself": mean([rows[i][i] for i in range(n)]),
        "cls": mean([rows[i][0] for i in range(n)]),
        "sep": mean([sum(rows[i][j] for j in range(n) if encoding.tokens[j] == "[SEP]") for i in range(n)]),
        "punctuation": mean([sum(rows[i][j] for j in range(n) if marks[j]) for i in range(n)] if any(marks) else []),
        "same_word": mean([sum(rows[i][j] for j in same(i)) for i in range(n) if same(i)]),
        "broad": mean(entropies) / math.log(n),
    }


@pytest.mark.parametrize("texts", [PAIR, ("No marks here",), ("",), ("same same", "same."), ("día, DÍA café",)])
def test_scores_equal_plain_loops(bundled: LoadedModel, texts: tuple[str, ...]) -> None:
    encoding = encode(bundled.tokenizer, *texts)
    n = len(encoding)
    weights = random_attention(2, 3, n)
    even = by_loops(np.full((n, n), 1 / n), encoding)
    assert even_scores(encoding) == pytest.approx(even, nan_ok=True)
    scores = pattern_scores(weights, encoding)
    for layer in range(2):
        for head in range(3):
            found = {name: score[layer, head] for name, score in scores.items()}
            assert found == pytest.approx(by_loops(weights[layer, head], encoding), abs=1e-6, nan_ok=True)


def test_a_piece_of_a_word_is_no_other_place_of_it(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, "unflappable, un")
    assert encoding.tokens[1:5] == ("un", "##fl", "##app", "##able")
    assert words(encoding) == ["", *["unflappable"] * 4, "", "un", ""]
    assert np.isnan(pattern_scores(random_attention(1, 1, len(encoding)), encoding)["same_word"]).all()


def test_long_inputs_are_quick(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, "the bank, of the river. " * 90)
    weights = np.full((12, 12, 512, 512), 1 / 512, np.float32)
    start = time.process_time()
    scores = pattern_scores(weights, encoding)
    assert time.process_time() - start < 2  # 0.06 s on an idle core
    for name, even in even_scores(encoding).items():
        np.testing.assert_allclose(scores[name], even, rtol=1e-4)


def test_the_bundled_models_previous_token_head(bundled: LoadedModel) -> None:
    run = run_model(bundled, [encode(bundled.tokenizer, "She sat on the bank of the river and counted the money.")])[0]
    score = pattern_scores(run.attentions, run.encoding)["previous"]
    assert divmod(int(score.argmax()), 12) == PREVIOUS_HEAD
    assert score[PREVIOUS_HEAD] > 0.999
    assert score[PREVIOUS_HEAD] == pytest.approx(by_loops(run.attentions[PREVIOUS_HEAD], run.encoding)["previous"])


def test_a_habit_is_the_mean_over_what_has_the_pattern(tiny: LoadedModel) -> None:
    inputs = [("One, two", ""), ("No marks here", ""), ("A cat", "A cat."), ("word " * 3, "")]
    assert list(measure_habit(tiny, inputs * 3)) == [0, 8]  # so many are done before each batch
    habit = drained(measure_habit(tiny, inputs * 3))
    for name in PATTERNS:
        each = []
        for text, pair in inputs:
            run = run_model(tiny, [encode(tiny.tokenizer, text, pair)])[0]
            each.append(pattern_scores(run.attentions, run.encoding)[name])
        np.testing.assert_allclose(habit.scores[name], np.nanmean(each, axis=0), atol=1e-5)
    assert habit.counted == dict.fromkeys(PATTERNS, 12) | {"punctuation": 6, "same_word": 6}
    nothing = drained(measure_habit(tiny, [("No marks here", "")]))
    assert np.isnan(nothing.scores["punctuation"]).all()
    assert math.isnan(nothing.even["punctuation"])


def test_the_bundled_habit_is_as_the_sources_say(bundled: LoadedModel) -> None:
    sentences = habit_sentences()
    assert len(set(sentences)) == len(sentences) == 60
    assert sum(bool(pair) for _, pair in sentences) == 12
    habit = drained(measure_habit(bundled, sentences))
    assert (habit.counted["punctuation"], habit.counted["same_word"]) == (59, 40)
    for name, place, score in (("previous", PREVIOUS_HEAD, 0.995), ("next", (1, 8), 0.62), ("cls", (4, 5), 0.83)):
        assert divmod(int(habit.scores[name].argmax()), 12) == place
        assert habit.scores[name][place] == pytest.approx(score, abs=0.005)
    assert habit.even["previous"] == pytest.approx(0.07, abs=0.005)
