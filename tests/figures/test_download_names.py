"""What is taken home as JSON is the run itself; file names are harmless."""

import json
from dataclasses import replace

import numpy as np
import pytest

from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, RunCache
from demos.figures.download_names import attention_json, file_name, rounded

TEXT, PAIR = 'A "quoted" </script> wörd.', "Naïve {braces}."


@pytest.fixture(scope="module")
def run(tiny: LoadedModel) -> Run:
    return RunCache().get(tiny, TEXT, PAIR)


def long_run(run: Run, n: int, heads: int) -> Run:
    """A run of n tokens in one layer, its weights made up."""
    weights = np.random.default_rng(0).random((1, heads, n, n), dtype=np.float32) / n
    encoding = replace(run.encoding, input_ids=(0,) * n, tokens=("a",) * n, special_tokens_mask=(0,) * n)
    return replace(run, attentions=weights, encoding=encoding)


def test_one_head_is_the_runs_own(run: Run) -> None:
    document = json.loads(attention_json(run, "Tiny random BERT", 1, 3))
    assert (document["layer"], document["head"]) == (1, 3)
    assert document["model"] == {"key": "tiny", "title": "Tiny random BERT", "layers": 2, "heads": 4}
    assert (document["text"], document["text_pair"]) == (TEXT, PAIR)
    assert document["tokens"] == list(run.encoding.tokens)
    assert document["segments"] == list(run.encoding.token_type_ids)
    assert document["special"] == [token in ("[CLS]", "[SEP]") for token in run.encoding.tokens]
    np.testing.assert_allclose(document["weights"], run.attentions[1, 3], rtol=0, atol=1e-6)
    assert any("Vaswani" in source for source in document["sources"])


def test_what_was_cut_is_said(run: Run) -> None:
    cut = replace(run, encoding=replace(run.encoding, dropped=("more",) * 1_234))
    assert "1,234 were removed" in json.loads(attention_json(cut, "", 0, 0))["notice"]


def test_a_long_input_is_no_large_file(run: Run) -> None:
    assert len(attention_json(long_run(run, 512, 1), "", 0, 0)) < 3_000_000


def test_what_is_no_number_is_null() -> None:
    assert rounded(np.array([[0.12345678, np.nan]])) == [[0.123457, None]]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("bert-attention", "layer0", "head2"), "bert-attention-layer0-head2.json"),
        (("BERT base, uncased", "Øresund café"), "bert-base-uncased-resund-cafe.json"),
        (("../../etc/passwd\0",), "etc-passwd.json"),
        (('con<script>"', "a\nb"), "con-script-a-b.json"),
        (("日本",), "bert.json"),
        (("Aux",), "bert-aux.json"),
        (("COM1.v2",), "bert-com1.v2.json"),
        (("console",), "console.json"),
        (("x" * 300,), "x" * 80 + ".json"),
    ],
)
def test_file_names_are_harmless(parts: tuple, expected: str) -> None:
    assert file_name(*parts, extension="json") == expected
