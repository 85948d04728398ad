"""Runs: equal to transformers' own numbers, frozen, cached within their bound, one pass however many lessons ask."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from demos.bert import run as run_module
from demos.bert.encoding import encode
from demos.bert.models import LoadedModel, ModelStore
from demos.bert.run import RunCache, run_model

INPUTS = [
    ("The bank raised its rates while we sat on the bank of the river.", ""),
    ("A pair has two segments.", "The second one is longer, and it doesn't stop early."),
    ("", ""),
    ("Zürich, naïve café — 東京 \U0001f680", ""),
]


def test_batched_runs_equal_transformers_sentence_by_sentence(store: ModelStore, bundled: LoadedModel) -> None:
    folder = store.folder("minilm")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    runs = run_model(bundled, [encode(bundled.tokenizer, text, pair) for text, pair in INPUTS])
    for (text, pair), run in zip(INPUTS, runs, strict=True):
        inputs = tokenizer(text, pair or None, return_tensors="pt")
        with torch.no_grad():
            output = model(**inputs, output_hidden_states=True, output_attentions=True)
        assert run.encoding.input_ids == tuple(inputs["input_ids"][0].tolist())
        np.testing.assert_allclose(run.hidden_states, torch.cat(output.hidden_states).numpy(), atol=1e-5)
        np.testing.assert_allclose(run.attentions, torch.cat(output.attentions).numpy(), atol=1e-5)
        np.testing.assert_allclose(run.attentions.sum(-1), 1, atol=1e-5)


def test_a_run_cannot_be_changed(tiny: LoadedModel) -> None:
    run = RunCache().get(tiny, "hello")
    with pytest.raises(ValueError, match="read-only"):
        run.hidden_states[0, 0, 0] = 1.0
    with pytest.raises(AttributeError):
        run.model = "other"  # type: ignore[misc]


def test_one_forward_pass_a_sentence(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    monkeypatch.setattr(
        run_module, "run_model", lambda loaded, batch: passes.append(len(batch)) or run_model(loaded, batch)
    )
    cache = RunCache()
    first = cache.get(tiny, "one sentence")
    again = cache.get_many(tiny, [("one sentence", None), ("another", None), ("another", "")])
    assert again[0] is first
    assert again[1] is again[2]
    assert passes == [1, 1]


def test_the_cache_keeps_within_its_bytes(tiny: LoadedModel) -> None:
    size = RunCache().get(tiny, "word 0").nbytes
    cache = RunCache(max_bytes=3 * size)
    runs = [cache.get(tiny, f"word {number}") for number in range(6)]
    assert cache.nbytes <= 3 * size
    assert cache.get(tiny, "word 5") is runs[5]
    assert cache.get(tiny, "word 0") is not runs[0]
    assert RunCache(max_bytes=10).get(tiny, "too large to keep").hidden_states.shape[0] == 3


def test_many_threads_get_the_same_numbers(tiny: LoadedModel) -> None:
    cache = RunCache(max_bytes=20_000)
    expected = RunCache().get(tiny, "sentence 3").hidden_states
    wrong: list[str] = []

    def work() -> None:
        for number in range(12):
            run = cache.get(tiny, f"sentence {number % 5}")
            if number % 5 == 3 and not np.allclose(run.hidden_states, expected, atol=1e-6):
                wrong.append(run.encoding.text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 0 < cache.nbytes <= 20_000
