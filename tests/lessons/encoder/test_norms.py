"""The part "Batch norm or layer norm": its pictures hold the numbers, and its program prints the same."""

from typing import Any

import numpy as np
import pytest

from demos.bert.encoder.batch_norm import batch_normed, batch_statistics, layer_normed
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.encoder.norms.part import OTHER, WRITTEN, Norms, states_of
from demos.page.services import Sentence, Services
from tests.programs import printed
from tests.shown_values import shown_values

BAR = Sentence("", "", "minilm")


def drawn(services: Services, typed: str, other: str, padding: bool, row: float, feature: float) -> dict[str, Any]:
    batch = {"norms_batch": typed, "norms_other": other, "norms_padding": padding}
    return shown_values(Norms().shown(services, BAR, **batch, norms_row=row, norms_feature=feature))


def test_pictures_and_program(services: Services, bundled: LoadedModel) -> None:
    shown = drawn(services, WRITTEN, OTHER, True, 2, 4)
    states = states_of(bundled, WRITTEN.split("\n"))
    b, n, _ = states.values.shape
    heatmap, lines = shown["batch"].data[0], shown["batch"].layout.shapes
    np.testing.assert_allclose(np.array(heatmap.z, float), states.values.reshape(b * n, -1)[:, :16], atol=1e-5)
    assert (lines[0].y0, lines[0].y1) == (0.5, 1.5)
    assert (lines[1].x0, lines[1].x1, lines[1].y1 - lines[1].y0) == (3.5 + 0.0, 4.5, n)
    bars = {bar.name: np.array(bar.y, float) for bar in shown["changes"].data}
    assert bars["layer norm"].max() == bars["batch norm, test"].max() == 0
    assert bars["batch norm, training"].min() > 0
    rows = [[float(number) for number in line.split()[2:]] for line in printed(shown["program"])]
    every = np.ones_like(states.real)
    by_batch = batch_normed(states.values, batch_statistics(states.values, every))
    np.testing.assert_allclose(rows, [layer_normed(states.values)[0, 1, :6], by_batch[0, 1, :6]], atol=2e-4)


def test_padding_is_left_out(services: Services, bundled: LoadedModel) -> None:
    shown = drawn(services, "one\none two three four", OTHER, False, 1, 1)
    lines = [line for line in shown["batch"].layout.shapes if line.type == "rect"]
    assert [line.y1 - line.y0 for line in lines[1:]] == [3, 6]
    assert "over 9 tokens of the batch" in shown["told"]


@pytest.mark.parametrize(
    ("typed", "other", "said"),
    [
        ("one line", "x", "Type 2 to 5"),
        ("a\nb\nc\nd\ne\nf", "x", "Type 2 to 5"),
        ("a\nb", " ", "replaces the last sentence"),
    ],
)
def test_what_can_not_be_drawn_is_a_sentence(services: Services, typed: str, other: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        drawn(services, typed, other, True, 1, 1)


def test_hostile_sentences_stay_text(services: Services) -> None:
    shown = drawn(services, "<b>x</b>\n<script>", "<img src=x>", True, 99, 99)
    assert "<script>" not in shown["said"]
    assert "<img" not in shown["said"]
    assert "&lt;" in shown["batch"].layout.yaxis.ticktext[1]
