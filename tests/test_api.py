"""The API over the wire, as a stranger calls it: seven named endpoints and no others, equal to transformers' own."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import numpy as np
import pytest
import torch
from gradio_client import Client
from gradio_client.exceptions import AppError
from transformers import AutoModel, AutoTokenizer

from demos.bert.model.models import ModelStore
from tests.hostile.wire import send

NAMES = {"tokenize", "attention", "fill_mask", "next_sentence", "embeddings", "fine_tune", "view"}
# Not in the project's own sentences, nor in its docs.
TEXT, PAIR = "Quizzical wombats outpaced the 14:05 ferry to Øresund.", "Nobody on deck had re-tied the mooring."


@pytest.fixture(scope="module")
def client(app_url: str) -> Client:
    return Client(app_url, verbose=False, httpx_kwargs={"timeout": 60})


@pytest.fixture(scope="module")
def reference(store: ModelStore) -> dict:
    folder = store.folder("minilm")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = tokenizer(TEXT, PAIR, return_tensors="pt")
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True, output_attentions=True)
    return {"tokenizer": tokenizer, "model": model, "inputs": inputs, "output": output}


def test_seven_named_endpoints_and_no_others(app_url: str) -> None:
    info = json.load(urllib.request.urlopen(f"{app_url}/gradio_api/info"))
    assert set(info["named_endpoints"]) == {f"/{name}" for name in NAMES}
    assert info["unnamed_endpoints"] == {}


def test_tokenize(client: Client, reference: dict) -> None:
    answer = client.predict(TEXT, PAIR, "", api_name="/tokenize")
    expected = reference["tokenizer"](TEXT, PAIR, return_offsets_mapping=True, return_special_tokens_mask=True)
    assert answer["tokens"] == expected.tokens()
    for name in ("input_ids", "token_type_ids", "special_tokens_mask"):
        assert answer[name] == expected[name]
    assert answer["word_ids"] == expected.word_ids()
    assert [tuple(pair) for pair in answer["offsets"]] == expected["offset_mapping"]


@pytest.mark.parametrize("layer", [0, 5])
def test_attention(client: Client, reference: dict, layer: int) -> None:
    answer = client.predict(TEXT, PAIR, layer, "", api_name="/attention")
    expected = reference["output"].attentions[layer][0].numpy()
    assert answer["tokens"] == reference["inputs"].tokens()
    np.testing.assert_allclose(np.array(answer["attention"]), expected, atol=1e-4)


def test_a_view_s_figure_has_transformers_numbers(client: Client, reference: dict) -> None:
    choices = {"layer": 1, "head": 3, "view": "model"}
    answer = client.predict("attention", "heads", TEXT, PAIR, "", choices, api_name="/view")
    assert answer["choices"] | choices == answer["choices"]
    expected = reference["output"].attentions[1][0, 3].numpy()
    np.testing.assert_allclose(np.array(answer["figures"]["plot"]["data"][0]["z"]), expected, atol=1e-4)
    (table,) = answer["tables"]["table"]
    assert np.array(table["rows"]).shape == (len(expected) + 1, len(expected) + 2)  # the tokens, and each row's sum
    assert [float(cell) for cell in table["rows"][1][1:-1]] == pytest.approx(expected[0], abs=6e-4)
    assert "from transformers import" in answer["program"]


@pytest.mark.parametrize("layer", [-1, 0, 4])
def test_embeddings(client: Client, reference: dict, layer: int) -> None:
    answer = client.predict(f"{TEXT}\n{PAIR}", "mean", layer, "", api_name="/embeddings")
    assert client.predict([TEXT, PAIR], "mean", layer, "", api_name="/embeddings") == answer
    vectors = []
    for text in (TEXT, PAIR):
        with torch.no_grad():
            output = reference["model"](**reference["tokenizer"](text, return_tensors="pt"), output_hidden_states=True)
        vectors.append(output.hidden_states[layer][0].mean(0).numpy())
    np.testing.assert_allclose(np.array(answer["vectors"]), np.stack(vectors), atol=1e-4)
    unit = np.stack([vector / np.linalg.norm(vector) for vector in vectors])
    np.testing.assert_allclose(np.array(answer["cosine"]), unit @ unit.T, atol=1e-4)


@pytest.mark.parametrize(
    ("endpoint", "arguments", "said"),
    [
        ("/tokenize", ("a", "", "nope"), "There is no model 'nope'"),
        ("/tokenize", ("z" * 20_001, "", ""), "20,001 characters"),
        ("/attention", ("a", "", 6, ""), "no layer '6'"),
        ("/attention", ("a", "", 0, "gpt"), "no model 'gpt'"),
        ("/view", ("nowhere", "", "a", "", "", {}), "no lesson 'nowhere'"),
        ("/view", ("encoder", "nowhere", "a", "", "", {}), "there are: input, "),
        ("/view", ("encoder", "masks", "a", "", "", {"lay": 1}), "Not a choice here: lay"),
        ("/view", ("encoder", "masks", "a", "", "", {"layer": "last"}), "of the wrong type"),
        ("/fill_mask", ("No gap.", 5, ""), "no \\[MASK\\]"),
        ("/embeddings", ("one\ntwo", "median", -1, ""), "median"),
        ("/embeddings", ("one\ntwo", "mean", 99, ""), "layer"),
        ("/embeddings", ("one\ntwo", "mean", -1, "", "sum_some"), "sum_all"),
    ],
)
def test_bad_input_is_one_sentence(client: Client, endpoint: str, arguments: tuple, said: str) -> None:
    with pytest.raises(AppError, match=said) as caught:
        client.predict(*arguments, api_name=endpoint)
    assert "Traceback" not in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_what_is_not_served(app_url: str) -> None:
    for path in ("/gradio_api/file=/etc/passwd", "/gradio_api/file=app.py", "/gradio_api/file=../../etc/passwd"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(app_url + path)
        assert caught.value.code in {403, 404}
    huge = urllib.request.Request(f"{app_url}/gradio_api/call/tokenize", data=b"x" * (4 * 2**20), method="POST")
    with pytest.raises((urllib.error.HTTPError, urllib.error.URLError)) as refused:
        urllib.request.urlopen(huge)
    if isinstance(refused.value, urllib.error.HTTPError):
        assert refused.value.code == 413
    else:  # it hung up before all was sent
        assert isinstance(refused.value.reason, ConnectionError)


@pytest.mark.parametrize("path", ["run/tokenize", "run/tokenize/", "api/tokenize", "api/tokenize/"])
def test_nothing_runs_past_the_queue(app_url: str, path: str) -> None:
    for body in ({"data": ["a", "", ""]}, {"data": [], "fn_index": 0}):
        assert send(app_url, f"/gradio_api/{path}", body).status == 404
