"""The part that shows both stacks: every number is the model's."""

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.translation.bundled import bundled
from demos.bert.translation.decoding import translate
from demos.bert.translation.grammar import example
from demos.bert.translation.transformer_places import (
    ADDED,
    ATTENTION,
    CROSS,
    DECODER,
    EMBEDDED,
    ENCODER,
    FED,
    FED_ADDED,
    OUTPUT,
    Place,
    attention_row,
    computed_at,
    places,
    row_vectors,
    translated,
)
from demos.lessons.translation.transformer.figure import LEFT, stacks, transformer_code
from demos.lessons.translation.transformer.part import PLACES, Transformer, strip_names
from demos.page.services import Sentence, Services
from tests.shown_values import shown_values

EMPTY, TYPED = Sentence("", "", ""), " ".join(example().source)
SERVICES = Services(ModelStore(), BUNDLED)
NAMES = ("place", "transformer_english", "transformer_word", "attention_head")


def drawn(sentence: Sentence, *chosen: Any) -> dict[str, Any]:
    return shown_values(Transformer().shown(SERVICES, sentence, **dict(zip(NAMES, chosen, strict=True))))


def test_the_picture_has_a_box_for_each_place_and_arrows_from_the_top() -> None:
    drawing = stacks(3)
    assert sorted(box.place for box in drawing.boxes) == list(range(len(places(3))))
    assert len(drawing.crossing) == 3
    assert drawing.leaves == min(frame.y for frame in drawing.frames if frame.x == LEFT)
    for frame in drawing.frames:
        inside = [box for box in drawing.boxes if box.x == frame.x and frame.y < box.y < frame.y + frame.height]
        assert len(inside) == (4 if frame.x == LEFT else 6)
        assert max(box.y + box.height for box in inside) < frame.y + frame.height
    names = {box.place: box.name for box in stacks(2).boxes}
    for number, place in enumerate(PLACES):
        assert names[number] == name_of(place)
    assert PLACES[:7] == (  # as links have numbered them from the beginning
        *(Place(ENCODER, layer) for layer in (0, 1)),
        *(Place(kind, layer) for layer in (0, 1) for kind in (DECODER, CROSS)),
        Place(OUTPUT),
    )


def name_of(place: Place) -> str:
    if place.step != ATTENTION:
        return {EMBEDDED: "Embedding + position", FED: "Feed-forward"}.get(place.step, "Add & norm")
    kinds = {ENCODER: "Self-attention", DECODER: "Masked self-attention", CROSS: "Cross-attention"}
    return kinds.get(place.kind, "Linear + softmax")


@pytest.mark.parametrize("layers", [2, 3])
def test_the_boxes_are_in_the_order_of_the_computation(layers: int) -> None:
    """Places are numbered otherwise; each box must be the place of its own layer and sublayer."""
    of_place = places(layers)
    order = [of_place[box.place] for box in stacks(layers).boxes]
    expected = [Place(ENCODER, 0, EMBEDDED)]
    for layer in range(layers):
        steps = (ATTENTION, ADDED, FED, FED_ADDED)
        expected += [Place(ENCODER, layer, step) for step in steps]
    expected.append(Place(DECODER, 0, EMBEDDED))
    for layer in range(layers):
        expected += [Place(kind, layer, step) for kind in (DECODER, CROSS) for step in (ATTENTION, ADDED)]
        expected += [Place(DECODER, layer, step) for step in (FED, FED_ADDED)]
    assert order == [*expected, Place(OUTPUT)]


@pytest.mark.parametrize("place", [number for number, place in enumerate(PLACES) if place.step == ATTENTION])
def test_each_place_of_attention_shows_its_own_weights(place: int) -> None:
    shown = drawn(EMPTY, place, TYPED, 5, 2)
    assert 'aria-checked="true"' in shown["picture"]
    weights = np.array(shown["plot"]["value"].data[0].z, float)
    np.testing.assert_allclose(weights.sum(1), 1, atol=2e-3)
    written, _, computed = translated(bundled("transformer"), example().source)
    if PLACES[place].kind == CROSS:
        layer = computed.layers[PLACES[place].layer]
        np.testing.assert_allclose(weights, layer.cross.weights[0, 1].numpy(), atol=5e-5)
        row = attention_row(layer.cross, 1, 4, example().source)
        q, keys = layer.cross.queries[0, 1, 4], layer.cross.keys[0, 1]
        by_hand = (keys @ q / row.head_width**0.5).tolist()
        assert [score for _, score, _ in row.reads] == pytest.approx(by_hand, abs=1e-5)
        assert "the output of the encoder" in shown["said"]
    if PLACES[place] == Place(OUTPUT):
        assert f"“{written[4]}”, is written" in shown["said"]


@pytest.mark.parametrize("place", [number for number, place in enumerate(PLACES) if place.step != ATTENTION])
def test_each_other_place_shows_its_own_vectors(place: int) -> None:
    shown = drawn(EMPTY, place, TYPED, 5, 2)
    written, encoded, computed = translated(bundled("transformer"), example().source)
    assert not shown["plot"]["visible"]
    vectors = row_vectors(computed_at(PLACES[place], encoded, computed), 4)
    drawn_rows = [np.array(row, float) for row in shown["strips"]["value"].data[0].z]
    for name, row in zip(strip_names(PLACES[place]), drawn_rows, strict=True):
        np.testing.assert_allclose(row[~np.isnan(row)], vectors[name], atol=1e-6)
    word = example().source[4] if PLACES[place].kind == ENCODER else written[3]
    assert f"“{word}”" in shown["said"]
    for number in vectors["output"][:4]:
        assert f"<td>{number:.2f}</td>".replace("-", "−") in shown["said"].replace("−0.00", "0.00")
    if PLACES[place].step == FED:
        assert f"<b>{(vectors['hidden'] > 0).sum()}</b> of the {len(vectors['hidden'])} components" in shown["said"]
    if PLACES[place].step in (ADDED, FED_ADDED):
        assert f"standard deviation <i>σ</i> = {vectors['total'].std():.3f}" in shown["said"]


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
    assert "decoder layer 2" in drawn(EMPTY, 10**9, TYPED, 10**9, None)["said"]
    shown = drawn(EMPTY, 6, TYPED, 10**9, None)
    assert (
        shown["transformer_word"]["value"] == shown["transformer_word"]["maximum"] - 1
    )  # the last word before the end
    assert re.search(r"“\.”, is written", shown["said"])
    last = drawn(EMPTY, 6, TYPED, shown["transformer_word"]["maximum"], 1)
    assert re.search(r"the translation is complete", last["said"])
