"""What the grid is sent: small pictures, strongest weights, scores; and the tables beside it."""

import base64
import json
import re

import numpy as np
import pytest

from demos.bert.attention.head_profiles import measure_habit
from demos.bert.attention.patterns import PATTERNS, mean_entropy, pattern_scores
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.widgets.head_grid.figure import grid_message, habit_message, heads_table, pattern_table, run_key, shrink


def run_of(encoding: Encoding, layers: int = 2, heads: int = 3) -> Run:
    n = len(encoding)
    weights = np.random.default_rng(3).exponential(size=(layers, heads, n, n)).astype(np.float32) ** 4
    return Run("m", encoding, np.zeros((layers + 1, n, 4), np.float32), weights / weights.sum(-1, keepdims=True))


def pictures_of(message: dict[str, object]) -> np.ndarray:
    side = message["side"]
    flat = np.frombuffer(base64.b64decode(str(message["pictures"])), np.uint8)
    return flat.reshape(-1, side, side)  # type: ignore[call-overload]


def test_short_inputs_are_drawn_weight_by_weight(tiny: LoadedModel) -> None:
    run = run_of(encode(tiny.tokenizer, "A cat, a dog", "A cat."))
    n = len(run.encoding)
    message = json.loads(json.dumps(grid_message(run)))
    flat = run.attentions.reshape(6, n, n)
    most = flat.max(axis=(1, 2))
    assert message["side"] == n
    assert np.abs(pictures_of(message) / 255 - flat / most[:, None, None]).max() <= 1 / 510 + 1e-6
    for place, (weight, query, key) in enumerate(message["strongest"]):
        assert weight == pytest.approx(most[place], abs=1e-4)
        assert flat[place, query, key] == most[place]
    for name, scores in pattern_scores(run.attentions, run.encoding).items():
        np.testing.assert_allclose(message["scores"][name], scores.ravel(), atol=6e-5)
    np.testing.assert_allclose(message["entropy"], mean_entropy(run.attentions).ravel(), atol=6e-5)
    assert [row[0] for row in message["patterns"]] == list(PATTERNS)
    assert (message["num_layers"], message["num_heads"]) == (2, 3)


def test_what_a_sentence_lacks_is_null(tiny: LoadedModel) -> None:
    message = grid_message(run_of(encode(tiny.tokenizer, "No marks here")))
    assert message["scores"]["punctuation"] == [None] * 6
    assert message["even"]["punctuation"] is None
    assert message["even"]["cls"] == pytest.approx(1 / 5)
    habit = json.loads(habit_message(drained(measure_habit(tiny, [("No marks here", "")]))))
    assert habit["scores"]["same_word"] == [None] * 8
    assert (habit["counted"]["same_word"], habit["counted"]["cls"], habit["sentences"]) == (0, 1, 1)


@pytest.mark.parametrize("n", [33, 50, 64, 129])
def test_long_inputs_keep_the_largest_of_each_block(n: int) -> None:
    weights = np.random.default_rng(n).random((2, n, n)).astype(np.float32)
    small = shrink(weights)
    assert small.shape == (2, 32, 32)
    edges = [index * n // 32 for index in range(33)]
    for row in range(0, 32, 7):
        for column in range(32):
            block = weights[:, edges[row] : edges[row + 1], edges[column] : edges[column + 1]]
            assert (small[:, row, column] == block.max(axis=(1, 2))).all()


def test_a_long_inputs_message_stays_small() -> None:
    n, special = 200, [1, *[0] * 198, 1]
    word = tuple(None if mark else index for index, mark in enumerate(special))
    encoding = Encoding(
        text="x" * 400, text_pair="", tokens=("w",) * n, input_ids=(7,) * n, token_type_ids=(0,) * n, word_ids=word,
        sequence_ids=tuple(None if mark else 0 for mark in special), offsets=tuple((i, i + 1) for i in range(n)),
        special_tokens_mask=tuple(special),
    )  # fmt: skip
    run = run_of(encoding, 6, 12)
    message = grid_message(run)
    assert message["side"] == 32
    assert len(json.dumps(message)) < 120_000
    assert message["strongest"][5][0] == pytest.approx(run.attentions[0, 5].max(), abs=1e-4)


def test_the_key_changes_with_input_and_model(tiny: LoadedModel) -> None:
    run = run_of(encode(tiny.tokenizer, "a", "b"))
    others = [run_of(encode(tiny.tokenizer, "a")), run_of(encode(tiny.tokenizer, "ab"))]
    others.append(Run("other", run.encoding, run.hidden_states, run.attentions))
    assert run_key(run) == run_key(run_of(run.encoding))
    assert len({run_key(one) for one in (run, *others)}) == 4


def test_the_tables_hold_every_score(tiny: LoadedModel) -> None:
    run = run_of(encode(tiny.tokenizer, "One cat"))
    scores = pattern_scores(run.attentions, run.encoding)
    cells = re.findall(r"<td>(.*?)</td>", pattern_table(scores["previous"], "previous", "this <sentence>"))[1:]
    assert cells == [f"{score:.3f}" for score in scores["previous"].ravel()]
    assert "&lt;sentence&gt;" in pattern_table(scores["previous"], "previous", "this <sentence>")
    table = heads_table(scores, "this sentence")
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", table)
    assert [name for name, _ in rows][:4] == [*(f"layer 1, head {head}" for head in (1, 2, 3)), "layer 2, head 1"]
    cells = re.findall(r"<td>(.*?)</td>", rows[4][1])
    missing = {"punctuation", "same_word"}
    assert cells == ["–" if name in missing else f"{score[1, 1]:.3f}" for name, score in scores.items()]
