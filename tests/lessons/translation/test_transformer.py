"""The part that shows both stacks: every number is the model's."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest

from demos.bert.translation.bundled import bundled
from demos.bert.translation.decoding import translate
from demos.bert.translation.grammar import example
from demos.bert.translation.transformer_places import CROSS, OUTPUT, Place, attention_row, places, translated
from demos.lessons.translation.transformer.figure import LEFT, stacks
from demos.lessons.translation.transformer.part import PLACES, drawn
from demos.lessons.translation.transformer.program import transformer_code
from demos.page.services import Sentence

EMPTY, TYPED = Sentence("", "", ""), " ".join(example().source)


def test_the_picture_has_a_box_for_each_place_and_arrows_from_the_top() -> None:
    drawing = stacks(3)
    assert sorted(box.place for box in drawing.boxes if box.place is not None) == list(range(len(places(3))))
    assert len(drawing.crossing) == 3
    assert drawing.leaves == min(frame.y for frame in drawing.frames if frame.x == LEFT)
    for frame in drawing.frames:
        inside = [box for box in drawing.boxes if box.x == frame.x and frame.y < box.y < frame.y + frame.height]
        assert len(inside) == (2 if frame.x == LEFT else 3)
    for place, name in zip(PLACES, ("Self", "Self", "Masked", "Cross", "Masked", "Cross", "Linear"), strict=True):
        assert any(box.place == PLACES.index(place) and box.name.startswith(name) for box in stacks(2).boxes)


@pytest.mark.parametrize("place", range(len(PLACES)))
def test_each_place_shows_its_own_weights(place: int) -> None:
    shown = drawn(EMPTY, place, TYPED, 5, 2)
    assert 'aria-checked="true"' in shown["picture"]
    weights = np.array(shown["plot"].data[0].z, float)
    np.testing.assert_allclose(weights.sum(1), 1, atol=2e-3)
    written, _, computed = translated(bundled("transformer"), example().source)
    if PLACES[place].kind == CROSS:
        layer = computed.layers[PLACES[place].layer]
        np.testing.assert_allclose(weights, layer.cross.weights[0, 1].numpy(), atol=5e-5)
        row = attention_row(layer.cross, 1, 4, example().source)
        q, keys = layer.cross.queries[0, 1, 4], layer.cross.keys[0, 1]
        by_hand = (keys @ q / row.head_width**0.5).tolist()
        assert [score for _, score, _ in row.reads] == pytest.approx(by_hand, abs=1e-5)
        assert "the top of the encoder" in shown["said"]
    if PLACES[place] == Place(OUTPUT):
        assert f"“{written[4]}”, is written" in shown["said"]


def test_the_program_writes_the_same_words() -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(transformer_code(example().source), {})
    rows = [line.split() for line in printed.getvalue().splitlines()]
    (written,) = translate(bundled("transformer"), [example().source])
    assert tuple(row[0] for row in rows) == (*written, "</s>")
    _, _, computed = translated(bundled("transformer"), example().source)
    shares = computed.logits[0].softmax(-1).max(-1).values.tolist()
    assert [float(row[1]) for row in rows] == pytest.approx(shares, abs=1e-3)


def test_hostile_choices_are_brought_into_bounds() -> None:
    shown = drawn(EMPTY, 10**9, TYPED, 10**9, None)
    assert shown["choice"]["value"] == shown["choice"]["maximum"]
    assert re.search(r"the translation is complete", shown["said"])
