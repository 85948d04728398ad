"""Matrices: every number that can be read equals transformers' own tensor, read by this file's own hooks."""

import html
import json
import re
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.encoder.layer_trace import layer_ledger
from demos.bert.encoder.row_replaced import replace_row
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel
from demos.lessons.encoder.matrices.part import Matrices
from demos.page.services import Sentence, Services
from tests.number_cells import numbers
from tests.programs import printed
from tests.shown_values import shown_values

SENTENCE = Sentence("The kettle <b>had</b> boiled dry.", "", BUNDLED)
LAYER, HEAD, TOKEN = 2, 5, 3


@pytest.fixture(scope="module")
def shown(services: Services) -> dict[str, Any]:
    return shown_values(Matrices().shown(services, SENTENCE, token=TOKEN, layer=LAYER, head=HEAD))


@pytest.fixture(scope="module")
def own(bundled: LoadedModel) -> dict[str, torch.Tensor]:
    """The model's tensors of the layer: q, k, v of all heads, their outputs side by side, T1, T3 and T4."""
    seen: dict[str, torch.Tensor] = {}
    layer = bundled.model.encoder.layer[LAYER]
    hooks = [
        part.register_forward_hook(
            lambda _, args, out, name=name: seen.update({name: out[0], f"{name} in": args[0][0]})
        )
        for name, part in (
            ("Q", layer.attention.self.query), ("K", layer.attention.self.key), ("V", layer.attention.self.value),
            ("T₁", layer.attention.output.dense), ("inner", layer.intermediate.dense), ("T₄", layer.output.dense),
        )
    ]  # fmt: skip
    try:
        inputs = bundled.tokenizer(SENTENCE.text, return_tensors="pt")
        with torch.inference_mode():
            seen["α"] = bundled.model(**inputs, output_attentions=True).attentions[LAYER][0, HEAD]
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def matrices(board: str) -> dict[str, np.ndarray]:
    """Those whose numbers can be read, by name."""
    found = re.findall(r'data-name="([^"]+)"[^>]*data-cells="(\d+) (\d+)"[^>]*data-values="([^"]+)"', board)
    return {name: numbers(values).reshape(int(r), int(c)) for name, r, c, values in found}


def test_each_matrix_is_the_model_s_own(shown: dict[str, Any], own: dict[str, torch.Tensor]) -> None:
    read = matrices(str(shown["board"]))
    width = 32
    columns = slice(HEAD * width, (HEAD + 1) * width)
    q, k, v = (own[name][:, columns].numpy() for name in "QKV")
    expected = {
        "Q": q, "K": k, "V": v, "Kᵀ": k.T, "S": q @ k.T / np.sqrt(width), "α": own["α"].numpy(),
        "Z": own["T₁ in"][:, columns].numpy(),
    }  # fmt: skip
    assert set(read) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(read[name], values, rtol=1e-3, atol=1e-4, err_msg=name)
    n = len(q)
    shapes = re.findall(r'data-name="([^"]+)"[^>]*data-shape="(\d+ \d+)"', str(shown["board"]))
    assert dict(shapes) == {
        "X": f"{n} 384", "W_Q": "384 32", "W_K": "384 32", "W_V": "384 32", "Q": f"{n} 32", "K": f"{n} 32",
        "V": f"{n} 32", "Kᵀ": f"32 {n}", "S": f"{n} {n}", "α": f"{n} {n}", "Z": f"{n} 32",
        "Z of all 12 heads": f"{n} 384", "W_O": "384 384", "T₁": f"{n} 384",
    }  # fmt: skip


def test_rows_and_columns_are_followed_along_shared_axes(shown: dict[str, Any]) -> None:
    board = str(shown["board"])
    axes = dict(re.findall(r'data-name="([A-Zα][^"]*)" *\n? *data-rows="(\w)"', board))
    columns = dict(re.findall(r'data-name="([A-Zα][^"]*)"\s+data-rows="\w" data-columns="(\w)"', board))
    assert (axes["Q"], columns["Q"], axes["Kᵀ"], columns["Kᵀ"]) == ("i", "k", "k", "j")
    assert (axes["α"], columns["α"], axes["V"], columns["V"]) == ("i", "j", "j", "v")
    assert (axes["Z"], columns["Z"], axes["T₁"]) == ("i", "v", "i")
    names = re.findall(r'data-names="([^"]+)"', board)
    assert json.loads(html.unescape(names[0]))["i"][3:6] == ["<", "b", ">"]
    (parts,) = re.findall(r'data-parts="([^"]+)"', board)
    assert json.loads(html.unescape(parts)) == {"v": ["c", HEAD * 32, 32]}  # the head's columns among those of all


def test_one_word_changed_leaves_the_other_s_feed_forward_step_alone(
    services: Services, bundled: LoadedModel, own: dict[str, torch.Tensor]
) -> None:
    ledger = layer_ledger(bundled, services.run(SENTENCE), LAYER)
    moved = replace_row(ledger, 3, 5)
    layer = bundled.model.encoder.layer[LAYER]
    t3, t1_in = own["inner in"].clone(), ledger.attention.x.copy()
    t3[3], t1_in[3] = t3[5], t1_in[5]
    with torch.inference_mode():
        t4 = layer.output.dense(layer.intermediate(t3[None]))[0]
        z = layer.attention.self(torch.from_numpy(t1_in)[None])[0]
        t1 = layer.attention.output.dense(z)[0]
    np.testing.assert_allclose(moved.feed_forward, (t4 - own["T₄"]).abs().amax(dim=1), atol=1e-4)
    np.testing.assert_allclose(moved.attention, (t1 - own["T₁"]).abs().amax(dim=1), atol=1e-4)
    others = np.arange(len(t3)) != 3
    assert moved.feed_forward[others].max() == 0
    assert moved.feed_forward[3] > 0.01
    assert moved.attention[others].min() > 1e-3


def test_the_pair_s_words_and_the_program(shown: dict[str, Any], own: dict[str, torch.Tensor]) -> None:
    assert "stays as it is" in shown["pair"]
    lines = printed(shown["program"])
    said = {line.split()[0]: line.split()[1:3] for line in lines}
    n = len(own["α"])
    assert (said["X"], said["S"], said["Z"]) == ([str(n), "384"], [str(n), str(n)], [str(n), "32"])
    assert float(lines[-1].split()[-1]) < 1e-4
    others = own["α"][TOKEN].clone()
    others[TOKEN] = -1
    assert f"in α, {others.max():.3f}, is the largest" in " ".join(str(shown["said"]).split())


def test_a_long_input_is_drawn_in_part_and_one_token_alone_is_fine(services: Services) -> None:
    long = Matrices().shown(services, Sentence("the bank " * 60, "", BUNDLED), token=90, layer=0, head=0)
    assert "first 40 of 122 tokens" in " ".join(str(long["said"]).split())
    assert len(str(long["board"])) < 600_000
    assert "data-name" in str(
        Matrices().shown(services, Sentence("", "", BUNDLED), token=0, layer=99, head=99)["board"]
    )


def test_two_tokens_of_the_same_text_are_told_apart(services: Services) -> None:
    alike = shown_values(Matrices().shown(services, Sentence("of of of of", "", BUNDLED), token=2, layer=1, head=1))
    said = str(alike["said"]) + str(alike["pair"])
    assert "of (token 2)" in re.sub(r"<[^>]+>", "", said)
    assert not re.search(r"<q>of</q>(?! \(token \d\))|of of<", said)
