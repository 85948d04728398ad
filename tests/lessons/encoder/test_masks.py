"""The masks part's handler: three pictures of one head, what a new last word moves, and the program that agrees."""

import re

import numpy as np
import pytest

from demos.bert.encoder.masks import run_causal
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.encoder.masks.part import Masks
from demos.page.services import Sentence, Services
from tests.programs import printed
from tests.shown_values import shown_values

TEXT = "The banker sat on the bank of the river."


def test_the_pictures_hold_the_weights(services: Services, bundled: LoadedModel) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    bert, gpt, both, change, said, code = shown_values(
        Masks().shown(services, sentence, layer=1, head=4, last="crisis", written="Money, he said.")
    ).values()
    run = services.run(Sentence(TEXT, "", "minilm"))
    decoder = run_causal(bundled, run.encoding)
    cells = [np.array(figure.data[0].z, dtype=float) for figure in (bert, gpt, both)]
    np.testing.assert_allclose(cells[0], run.attentions[1, 4], atol=1e-4)
    n = len(run.encoding)
    assert np.isnan(cells[1][np.triu_indices(n, 1)]).all()
    np.testing.assert_allclose(np.nan_to_num(cells[1]), decoder.attentions[1, 4], atol=1e-4)
    assert cells[2].shape == (7, n)
    np.testing.assert_allclose(cells[2].sum(axis=1), 1, atol=1e-3)
    assert max(change.data[0].y) > 0.001
    assert set(change.data[1].y) == {0}
    assert "exactly 0" in said
    assert re.search(r"times as many", said)
    rows = [[float(cell) for cell in line.split("[")[-1].strip("]").split(",")] for line in printed(code)]
    np.testing.assert_allclose(rows, decoder.attentions[1, 4], atol=6e-4)


def test_what_can_not_be_shown_is_a_sentence(services: Services) -> None:
    values = Masks().shown(services, Sentence(TEXT, "", "minilm"), layer=99, head=99, last=" ", written="")
    assert "change" not in values  # it stays as it is
    assert "Write a word" in values["said"]
    same = Masks().shown(services, Sentence("The bank of the river.", "", "minilm"), last="river")["said"]
    assert "This is already the last word" in same
    assert "changes most" not in same
    with pytest.raises(UserError, match="here the limit is 128"):
        Masks().shown(services, Sentence("word " * 200, "", "minilm"), last="x")
