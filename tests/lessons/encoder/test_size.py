"""The Size part: the model in use, a known BERT, one's own, and a shape that can't be."""

import json
from typing import Any

import pytest

from demos.errors import UserError
from demos.lessons.encoder.size.part import OWN, Size
from demos.page.services import Sentence, Services
from tests.shown_values import shown_values

ANY = Sentence("A cat.", "", "minilm")


def shown(services: Services, size: str | None = None, *numbers: float) -> dict[str, Any]:
    said = dict(zip(("size_layers", "size_width", "size_heads"), numbers, strict=False))
    return shown_values(Size().shown(services, ANY, **said, **({"size": size} if size else {})))


def test_the_model_in_use_is_counted_and_its_sizes_go_to_the_browser(services: Services) -> None:
    outputs = shown(services, None, 1, 64, 1)
    assert json.loads(outputs["in_use"]) == [6, 384, 12]
    assert "22,713,216 parameters" in outputs["summary"]
    assert outputs["picture"].data[0].values[0] == 22_713_216
    assert "MiniLM (bundled)" in outputs["models"]
    assert "22,713,216" in outputs["numbers"]
    assert "hidden_size=384" in outputs["program"]


def test_a_known_one_and_ones_own(services: Services) -> None:
    assert "num_hidden_layers=24" in shown(services, "BERT large", 1, 64, 1)["program"]
    assert "Your own: 109,482,240 parameters" in shown(services, OWN, 12, 768, 12)["summary"]
    with pytest.raises(UserError, match="can't share"):
        shown(services, OWN, 12, 768, 13)
