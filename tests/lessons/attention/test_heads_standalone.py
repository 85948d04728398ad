"""The one HTML file: its size told before it is made, nothing in it that points outside, text that stays text."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from demos.bert.attention.queries_keys import QueriesKeys, queries_and_keys
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model
from demos.lessons.attention.heads.figure_standalone import Standalone
from tests.widgets.unpacking import unpack_vectors, unpack_weights

HOSTILE = "</script><script>alert(1)</script> <!-- <script> ]]> ${alert(2)} \N{SNOWMAN}"


class Parts(HTMLParser):
    """Each element's attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script":
            self.scripts[-1] += data

    def given(self) -> dict[str, Any]:
        (text,) = (text for text in self.scripts if text.startswith("{"))
        return json.loads(text)


def run_of(loaded: LoadedModel, text: str, pair: str = "", n: int = 512) -> Run:
    return run_model(loaded, [encode(loaded.tokenizer, text, pair, max_length=n)])[0]


@pytest.mark.parametrize(
    ("tokens", "view"), [(9, "head"), (9, "neuron"), (64, "model"), (100, "head"), (100, "neuron")]
)
def test_the_size_is_told_before_the_file_is_made(bundled: LoadedModel, tokens: int, view: str) -> None:
    run = run_of(bundled, "sand " * 200, n=tokens)
    size = Standalone(run, view, 2, 5, lambda _: pytest.fail("the size needs no vectors"), "MiniLM").size()
    page = Standalone(run, view, 2, 5, lambda layer: queries_and_keys(bundled, run, layer), "MiniLM").html()
    assert size == pytest.approx(len(page.encode()), rel=0.01)


def test_it_holds_every_layer_and_what_the_neuron_view_multiplies(bundled: LoadedModel) -> None:
    run = run_of(bundled, "A miller's sacks.", "One was missing.")
    given = Parts(
        Standalone(run, "model", 1, 2, lambda at: queries_and_keys(bundled, run, at), "MiniLM").html()
    ).given()
    message = given["message"]
    assert list(given["views"]) == ["head", "model", "neuron"]
    assert (message["view"], message["layer"], message["head"]) == ("model", 1, 2)
    assert message["tokens"] == list(run.encoding.tokens)
    for layer in range(6):
        weights = unpack_weights(message["weights"][str(layer)], run.attentions[layer].shape)
        np.testing.assert_allclose(weights, run.attentions[layer], atol=0.002)
    both = queries_and_keys(bundled, run, 5)
    np.testing.assert_allclose(unpack_vectors(message["vectors"]["5"]["keys"], both.keys.shape), both.keys, atol=1e-3)


def test_beyond_64_tokens_the_neuron_view_comes_only_where_it_was_chosen(bundled: LoadedModel) -> None:
    run = run_of(bundled, "sand " * 200, n=100)
    nothing = QueriesKeys(*np.zeros((2, 12, 100, 32), np.float32))
    for view, views, tokens in (("head", ["head", "model"], 100), ("neuron", ["head", "model", "neuron"], 64)):
        given = Parts(Standalone(run, view, 0, 0, lambda _: nothing, "MiniLM").html()).given()
        assert list(given["views"]) == views
        assert len(given["message"]["tokens"]) == tokens
        assert ("Only the first 64 of 100 tokens" in " ".join(given["said"]["head"])) == (tokens == 64)


def test_nothing_in_it_points_outside_and_text_stays_text(bundled: LoadedModel) -> None:
    run = run_of(bundled, HOSTILE)
    page = Standalone(run, "head", 0, 0, lambda at: queries_and_keys(bundled, run, at), "<b>MiniLM</b>").html()
    parts = Parts(page)
    plain = Parts(
        Standalone(run_of(bundled, "a"), "head", 0, 0, lambda at: queries_and_keys(bundled, run, at), "M").html()
    )
    assert [tag for tag, _ in parts.elements] == [tag for tag, _ in plain.elements]  # no element more for hostile text
    assert all(not {"src", "href"} & set(attributes) for _, attributes in parts.elements)
    assert not re.search(
        r"url\((?!data:font/woff2;base64,)|@import", "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    )
    assert "default-src 'none'" in page
    assert parts.given()["sentence"] == HOSTILE
    for name in ("bertviz", "d3 5.7.0", "Mike Bostock", "jQuery Foundation", "Apache License 2.0"):
        assert name in page[: page.index("<html")]


def test_a_file_of_a_cut_input_says_what_was_removed(bundled: LoadedModel) -> None:
    """Nothing above it does, as on the page."""
    run = run_of(bundled, "sand " * 200, n=9)
    page = Standalone(run, "head", 2, 5, lambda layer: queries_and_keys(bundled, run, layer), "MiniLM").html()
    assert "The input has 202 tokens; the limit is 9, so 193 were removed" in Parts(page).given()["said"]["head"][0]
