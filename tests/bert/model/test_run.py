"""Runs: equal to transformers' own numbers, frozen, cached within their bound, one pass however many lessons ask."""

import threading
import time
import weakref
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, DistilBertConfig, DistilBertModel

from demos.bert.model import run as run_module
from demos.bert.model.catalogue import CATALOGUE, ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding, encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run, RunCache, run_model

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


def random_model(kind: str, tiny: LoadedModel) -> LoadedModel:
    """A random model of another shape than the bundled one's: DistilBERT without segments, or BERT deep or small."""
    torch.manual_seed(3)
    layers, heads, width = {"distilbert": (3, 2, 16), "24 x 16": (24, 16, 32), "2 x 2": (2, 2, 8)}[kind]
    model: DistilBertModel | BertModel
    if kind == "distilbert":
        model = DistilBertModel(
            DistilBertConfig(vocab_size=30522, dim=width, n_layers=layers, n_heads=heads, hidden_dim=32)
        )
    else:
        shape = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
        model = BertModel(BertConfig(vocab_size=30522, intermediate_size=32, **shape))
    model.set_attn_implementation("eager")
    spec = ModelSpec(kind, kind, "", "", layers, heads, width, cased=False, segments=kind != "distilbert")
    return LoadedModel(spec, tiny.tokenizer, model.eval().requires_grad_(False))


@pytest.mark.parametrize("kind", ["distilbert", "24 x 16", "2 x 2"])
def test_other_shapes_equal_their_own_model_too(kind: str, tiny: LoadedModel) -> None:
    loaded = random_model(kind, tiny)
    spec, inputs = loaded.spec, [("Short.", ""), ("A longer sentence, and a second one.", "It has a pair as well.")]
    runs = run_model(loaded, [encode(loaded.tokenizer, *one) for one in inputs])
    assert len(runs[0].encoding) < len(runs[1].encoding)  # so one of them was padded
    for (text, pair), run in zip(inputs, runs, strict=True):
        alone = loaded.tokenizer(text, pair or None, return_tensors="pt", return_token_type_ids=spec.segments)
        assert ("token_type_ids" in alone) == spec.segments
        with torch.no_grad():
            output = loaded.model(**alone, output_hidden_states=True, output_attentions=True)
        n = alone["input_ids"].shape[1]
        assert run.hidden_states.shape == (spec.num_layers + 1, n, spec.width)
        assert run.attentions.shape == (spec.num_layers, spec.num_heads, n, n)
        np.testing.assert_allclose(run.hidden_states, torch.cat(output.hidden_states).numpy(), atol=1e-5)
        np.testing.assert_allclose(run.attentions, torch.cat(output.attentions).numpy(), atol=1e-5)


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


def test_who_asks_while_a_pass_is_running_waits_for_it(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, asked, running = RunCache(), ("asked by many", None), Future[Run]()
    run = RunCache().get(tiny, *asked)
    cache._pending["tiny", "asked by many", ""] = running  # as another thread leaves it while it computes
    monkeypatch.setattr(run_module, "run_model", lambda loaded, batch: pytest.fail("a second pass"))
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(cache.get, tiny, *asked) for _ in range(2)]
        running.set_result(run)
        assert [one.result(10) for one in waiting] == [run, run]


def test_a_pass_that_fails_is_told_to_all_and_leaves_nothing(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, told = RunCache(), []

    def fail(loaded: LoadedModel, batch: object) -> list[Run]:
        told.extend(cache._pending.values())
        raise MemoryError("too much")

    with monkeypatch.context() as patched:
        patched.setattr(run_module, "run_model", fail)
        with pytest.raises(MemoryError):
            cache.get_many(tiny, [("one", None), ("two", None)])
    assert [type(one.exception()) for one in told] == [MemoryError, MemoryError]
    assert cache.get(tiny, "one").encoding.text == "one"


def test_the_cache_keeps_within_its_bytes(tiny: LoadedModel) -> None:
    size = RunCache().get(tiny, "word 0").nbytes
    cache = RunCache(max_bytes=3 * size)
    runs = [cache.get(tiny, f"word {number}") for number in range(6)]
    assert cache.nbytes <= 3 * size
    assert cache.get(tiny, "word 5") is runs[5]
    first = weakref.ref(runs[0])
    runs.clear()
    assert first() is None  # nothing holds it any more
    assert RunCache(max_bytes=10).get(tiny, "too large to keep").hidden_states.shape[0] == 3


def test_a_hall_of_short_inputs_fills_no_more_than_their_own_bound(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = RunCache().get(tiny, "word 0").nbytes
    monkeypatch.setattr(run_module, "MAX_SHORT_BYTES", 3 * size)
    monkeypatch.setattr(run_module, "SHORT", size)
    cache = RunCache()
    long = cache.get(tiny, "a longer one, of more than the two words")
    for number in range(6):
        cache.get(tiny, f"word {number}")
    assert cache.nbytes == 3 * size + long.nbytes
    assert cache.get(tiny, "a longer one, of more than the two words") is long


def test_the_longest_input_of_the_largest_model_is_kept() -> None:
    sizes = [
        4 * MAX_TOKENS * ((spec.num_layers + 1) * spec.width + spec.num_layers * spec.num_heads * MAX_TOKENS)
        for spec in CATALOGUE.values()
    ]
    assert max(sizes) <= RunCache().max_bytes


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


def test_a_rush_goes_through_the_model_together_and_each_gets_its_own_numbers(
    bundled: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty sentences of about one length, and a long one, arrive while the model is at two others."""
    texts = [f"Sentence {'and ' * (n % 4)}number {n} is here." for n in range(20)]
    long = "A much longer sentence. " * 12
    may_go, sizes, arrived = threading.Event(), [], threading.Semaphore(0)

    def held(loaded: LoadedModel, encodings: list[Encoding]) -> list[Run]:
        sizes.append(len(encodings))
        arrived.release()
        assert may_go.wait(60)
        return run_model(loaded, encodings)

    monkeypatch.setattr(run_module, "run_model", held)
    cache = RunCache()
    with ThreadPoolExecutor(32) as pool:
        first = [pool.submit(cache.get, bundled, text) for text in ("One.", "Two.")]
        for _ in first:
            assert arrived.acquire(timeout=60)
        rush = [pool.submit(cache.get, bundled, text) for text in (*texts, long)]
        while len(cache._rush._waiting) < len(rush):
            time.sleep(0.001)
        may_go.set()
        runs = dict(zip((*texts, long), (future.result(60) for future in rush), strict=True))
    assert sizes[:2] == [1, 1]
    assert sum(sizes) == 23
    assert max(sizes) == run_module.MOST_TOGETHER
    assert sorted(sizes[2:]) == [1, 4, 16], "the long one would be padding to all others"
    for text, run in runs.items():
        (alone,) = run_model(bundled, [encode(bundled.tokenizer, text)])
        assert run.encoding == alone.encoding
        scale = np.abs(alone.hidden_states).max()
        np.testing.assert_allclose(run.hidden_states / scale, alone.hidden_states / scale, atol=1e-6)
        np.testing.assert_allclose(run.attentions, alone.attentions, atol=5e-6)


def test_an_error_of_a_rush_reaches_all_who_wait_for_it(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = [True]

    def broken(loaded: LoadedModel, encodings: list[Encoding]) -> list[Run]:
        if failing[0]:
            raise MemoryError("no room")
        return run_model(loaded, encodings)

    monkeypatch.setattr(run_module, "run_model", broken)
    cache = RunCache()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.get, tiny, f"Sentence {n}.") for n in range(8)]
        assert [type(future.exception(60)) for future in asked] == [MemoryError] * 8
    failing[0] = False
    assert cache.get(tiny, "Sentence 3.").attentions.shape[-1] == len(encode(tiny.tokenizer, "Sentence 3."))
