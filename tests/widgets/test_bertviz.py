"""What bertviz's frame is sent: its size, its rounding, only what the browser lacks, and what the caption tells."""

import json
from typing import Any

import numpy as np
import pytest

from demos.bert.attention.queries_keys import QueriesKeys, scaled_dot_products
from demos.bert.model.run import Run
from demos.widgets.bertviz.messages import (
    BrowserCache,
    caption,
    frame_message,
    largest_error,
    left_out,
    pack_vectors,
    pack_weights,
)
from demos.widgets.bertviz.views import VIEWS
from tests.made_up import encoding_of, run_of
from tests.widgets.unpacking import unpack_vectors, unpack_weights

GENERATOR = np.random.default_rng(7)


def vectors_of(width: int, heads: int, n: int) -> Any:
    both = GENERATOR.normal(0, 2, (2, heads, n, width)).astype(np.float32)
    return lambda _layer: QueriesKeys(both[0], both[1])


def no_vectors(_layer: int) -> QueriesKeys:
    raise AssertionError("this view has no use for queries and keys")


def test_a_weight_is_one_byte_and_off_by_less_than_two_thousandths() -> None:
    weights = np.concatenate([GENERATOR.random(5_000), [0.0, 1.0]]).astype(np.float32)
    back = unpack_weights(pack_weights(weights), weights.shape)
    assert np.abs(back - weights).max() <= 1 / 510 + 1e-7
    assert back[-2:].tolist() == [0.0, 1.0]
    assert largest_error(weights) == pytest.approx(np.abs(back - weights).max(), rel=1e-3)
    order = np.argsort(weights)
    assert (np.diff(back[order]) >= 0).all()


def test_packed_vectors_keep_their_products() -> None:
    both = vectors_of(32, 12, 20)(0)
    queries, keys = (unpack_vectors(pack_vectors(part), part.shape) for part in (both.queries, both.keys))
    np.testing.assert_allclose(queries, both.queries, atol=2e-4)
    np.testing.assert_allclose(
        scaled_dot_products(queries, keys), scaled_dot_products(both.queries, both.keys), atol=2e-3
    )
    zeros = np.zeros((2, 3, 4), np.float32)
    assert (unpack_vectors(pack_vectors(zeros), zeros.shape) == 0).all()


@pytest.mark.parametrize(("layers", "limit"), [(6, 600_000), (12, 1_000_000)])
@pytest.mark.parametrize("view", list(VIEWS))
def test_payload_of_64_tokens(layers: int, limit: int, view: str) -> None:
    run = run_of(layers, 12, 64)
    message = frame_message(run, VIEWS[view], 0, 0, vectors_of(64, 12, 64))
    assert len(json.dumps(message)) <= limit
    layer = unpack_weights(message["weights"]["0"], (12, 64, 64))
    assert np.abs(layer - run.attentions[0]).max() <= 0.003
    assert len(message["weights"]) == (layers if view == "model" else 1)


def test_layers_come_once_and_as_they_are_asked_for() -> None:
    run = run_of(6, 2, 8)
    message, held = left_out(frame_message(run, VIEWS["head"], 3, 0, no_vectors), BrowserCache())
    assert list(message["weights"]) == ["3"]
    held = BrowserCache.read(held.say())
    message, held = left_out(frame_message(run, VIEWS["head"], 3, 1, no_vectors), held)
    assert message["weights"] == {}
    message, held = left_out(frame_message(run, VIEWS["neuron"], 3, 1, vectors_of(4, 2, 8)), held)
    assert (list(message["weights"]), list(message["vectors"])) == ([], ["3"])
    message, held = left_out(frame_message(run, VIEWS["model"], 3, 1, no_vectors), held)
    assert sorted(message["weights"]) == ["0", "1", "2", "4", "5"]
    message, held = left_out(frame_message(run, VIEWS["head"], 5, 1, no_vectors), held)
    assert message["weights"] == {}
    other = run_of(6, 2, 8, text="another sentence")
    message, now = left_out(frame_message(other, VIEWS["head"], 5, 1, no_vectors), held)
    assert list(message["weights"]) == ["5"]
    assert now.weights == {5}
    assert now.key != held.key


@pytest.mark.parametrize(
    "said", ["", "nonsense", "[]", "3", '{"key": 1}', '{"key":"k","weights":["x"],"vectors":[]}', None]
)
def test_a_browser_that_says_nonsense_holds_nothing(said: str | None) -> None:
    assert BrowserCache.read(said) == BrowserCache()


def test_a_long_input_is_cut_and_the_caption_says_so() -> None:
    run = run_of(1, 2, 150)
    for view in VIEWS.values():
        message = frame_message(run, view, 0, 0, vectors_of(4, 2, 150))
        assert len(message["tokens"]) == len(message["hues"]) == view.limit
        cut = unpack_weights(message["weights"]["0"], (2, view.limit, view.limit))
        assert np.abs(cut - run.attentions[0, :, : view.limit, : view.limit]).max() <= 0.003
        assert f"Only the first {view.limit} of 150 tokens" in caption(run, view)[0]
    assert "Only" not in " ".join(caption(run_of(1, 2, 20), VIEWS["head"]))


def test_the_caption_tells_what_is_left_out_and_the_largest_error() -> None:
    weights = np.full((1, 1, 4, 4), 0.009, np.float32)
    np.einsum("lhii->lhi", weights)[:] = 0.973
    run = Run("m", encoding_of(["[CLS]", "a", "b", "[SEP]"]), np.zeros((2, 4, 4), np.float32), weights)
    assert (
        "are not drawn. Over all layers and heads, 75% of the lines are left out in this way, with 3% of"
        in caption(run, VIEWS["head"])[0]
    )  # 12 of 16 lines, 12 * 0.009 of 4
    run = run_of(2, 2, 12)
    assert f"{largest_error(run.attentions):.4f}" in " ".join(caption(run, VIEWS["model"]))


def test_sentence_b_is_told_only_where_it_is_drawn() -> None:
    tokens = ["[CLS]", *["x"] * 70, "[SEP]", "y", "[SEP]"]
    attentions = np.full((1, 1, 74, 74), 1 / 74, np.float32)
    run = Run("m", encoding_of(tokens, b=72), np.zeros((2, 74, 4), np.float32), attentions)
    starts = [
        frame_message(run, VIEWS[name], 0, 0, vectors_of(4, 1, 74))["sentence_b_start"] for name in ("head", "neuron")
    ]
    assert starts == [72, None]
