"""The Encoder lesson's self-attention and block on the bundled model: what their handlers hand to the page."""

import re
from typing import Any

import numpy as np
import pytest
from markupsafe import Markup

from demos.lessons.encoder import LESSON
from demos.lessons.encoder.block.part import Block
from demos.lessons.encoder.self_attention.part import SelfAttention
from demos.page.services import Sentence, Services
from tests.shown_values import shown_values

TEXT, PAIR = "The kettle had already boiled dry.", "Nobody noticed the smell."


def attended(services: Services, *choices: Any, text: str = TEXT, pair: str = PAIR) -> dict[str, Any]:
    said = dict(zip(("token", "layer", "head", "causal", "pads"), choices, strict=True))
    outputs = shown_values(SelfAttention().shown(services, Sentence(text, pair, "minilm"), **said))
    return {name: " ".join(value.split()) if isinstance(value, Markup) else value for name, value in outputs.items()}


def test_both_parts_belong_to_the_lesson() -> None:
    slugs = [part.slug for part in LESSON.parts]
    assert slugs.index("self_attention") < slugs.index("block")


def test_all_outputs_tell_of_the_same_head(services: Services) -> None:
    outputs = attended(services, 3, 2, 5, False, 0)
    run = services.run(Sentence(TEXT, PAIR, "minilm"))
    weights = run.attentions[2, 5, 3]
    shown = [float(weight) for weight in re.findall(r'data-weight="([\d.]+)"', outputs["board"])]
    np.testing.assert_allclose(shown[:-1], weights, atol=1e-5)
    assert "in layer 3, head 6" in outputs["board"]
    assert f"{weights.max():.2f} on <q>{run.encoding.tokens[int(weights.argmax())]}</q>" in outputs["said"]
    assert '<span class="head chosen"' in outputs["concat"]
    listed = re.findall(r"<td>([\d.]+)</td><td>[\d.]+</td><td>[\d.]+</td></tr>", outputs["numbers"].split("of had")[0])
    np.testing.assert_allclose([float(weight) for weight in listed], weights, atol=1e-5)
    assert "layer, head, token = 2, 5, 3" in outputs["loops"]
    assert "layer, head, token = 2, 5, 3" in outputs["matrices"]


@pytest.mark.parametrize(("causal", "pads"), [(False, 0), (True, 0), (False, 4), (True, 8)])
def test_the_difference_shown_is_small_with_every_switch(services: Services, causal: bool, pads: int) -> None:
    outputs = attended(services, 3, 4, 1, causal, pads)
    found = re.search(r'data-difference="([^"]+)"', outputs["closed"])
    assert found
    assert 0 < float(found.group(1)) <= 1e-5
    assert outputs["board"].count("[PAD]<sub>") == pads
    assert ("Without the padding" in outputs["closed"]) == (pads > 0)
    assert ("padding=" in outputs["loops"]) == (pads > 0)
    assert (".tril()" in outputs["loops"]) == causal


def test_what_lies_beyond_becomes_the_last_one(services: Services) -> None:
    outputs = attended(services, 99, 23, 15, False, 99)
    n = len(services.run(Sentence(TEXT, PAIR, "minilm")).encoding)
    assert f"<b>.</b> (token {n - 2}) to each token, in layer 6, head 12" in outputs["board"]
    assert outputs["board"].count("[PAD]<sub>") == 8
    through = Block().shown(services, Sentence(TEXT, PAIR, "minilm"), token=99, layer=23, number=1_023)
    assert f"<b>.</b> (token {n - 2}) through layer 6" in through["picture"]
    assert f"layer, token, number = 5, {n - 2}, 383" in shown_values(through)["program"]


@pytest.mark.parametrize("text", ["", "word " * 600])
def test_an_empty_and_a_full_sentence_still_draw(services: Services, text: str) -> None:
    outputs = attended(services, 1, 0, 0, True, 3, text=text, pair="")
    assert outputs["board"].count("[PAD]<sub>") == (0 if text else 3)  # 512 tokens leave no room
    assert "the results match" in Block().shown(services, Sentence(text, "", "minilm"), token=1)["said"]


def test_the_blocks_outputs_tell_of_the_same_token(services: Services) -> None:
    outputs = shown_values(Block().shown(services, Sentence(TEXT, PAIR, "minilm"), token=2, layer=3, number=40))
    states = services.run(Sentence(TEXT, PAIR, "minilm")).hidden_states
    rows = re.findall(r'<td class="at">([−\d.]+)</td><td>([\d.]+)</td>', outputs["picture"])
    first, last = ([float(part.replace("−", "-")) for part in rows[at]] for at in (0, -1))
    for (number, norm), vector in ((first, states[3, 2]), (last, states[4, 2])):
        assert number == pytest.approx(float(vector[40]), abs=1e-4)
        assert norm == pytest.approx(float(np.linalg.norm(vector)), abs=1e-3)
    assert "layer, token, number = 3, 2, 40" in outputs["program"]
    assert sum(outputs["plot"].data[2].customdata) == 1_536
    assert "of the squared norm" in re.sub(r"\s+", " ", outputs["curve"])
    assert "kettle (token 2) in layer 4" in outputs["numbers"]
