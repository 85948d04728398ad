"""Members from a hub of the test's own: fetched, checked, bounded; and what is refused, in one sentence."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demos.bert.family.attentions import of_both_stacks
from demos.bert.family.family_store import FamilyStore
from demos.bert.model.memory_budget import Budget
from demos.errors import UserError
from tests.bert.family.family_hub import family_hub
from tests.bert.family.tiny_family import member, write

TEXT = "The agreement was signed."


@pytest.fixture
def asked() -> list[str]:
    """The names of the files that were asked of the hub."""
    return []


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: list[str]) -> Iterator[Path]:
    """The folder of the repositories that the hub has."""
    with family_hub(tmp_path, monkeypatch, asked) as root:
        yield root


def store_of(*kinds: str, memory: Budget | None = None, **changes: Any) -> FamilyStore:
    return FamilyStore(memory, {kind: replace(member(kind), **changes) for kind in kinds})


@pytest.mark.parametrize("kind", ["gpt2", "marian", "t5"])
def test_a_member_is_fetched_and_read_as_transformers_reads_it(kind: str, root: Path, asked: list[str]) -> None:
    model, tokenizer = write(kind, root / kind)
    store = store_of(kind)
    one = store.member(kind)
    reading = store.read(one, TEXT)
    assert store.ready(kind)
    assert store.progress(kind) is None
    model.set_attn_implementation("eager")
    if kind == "gpt2":
        inputs = tokenizer(TEXT, return_tensors="pt")
        expected = [layer.detach().numpy() for layer in model(**inputs, output_attentions=True).attentions]
        np.testing.assert_allclose(reading.kinds["decoder"].weights, np.concatenate(expected), atol=1e-6)
    else:
        expected_reading = of_both_stacks(one, model, tokenizer, TEXT)
        assert reading.writes == expected_reading.writes
        for name, attention in reading.kinds.items():
            np.testing.assert_allclose(attention.weights, expected_reading.kinds[name].weights, atol=1e-6)
    assert set(filter(None, asked)) <= set(one.files)  # nothing else is asked for: no code, no pickle
    asked.clear()
    store_of(kind).get(kind)
    assert not asked  # it stays on the disk


def test_weights_of_another_format_are_refused(root: Path) -> None:
    write("gpt2", root / "gpt2")
    (root / "gpt2" / "model.safetensors").rename(root / "gpt2" / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"^Tiny gpt2 has no safetensors weights at its pinned revision"):
        store_of("gpt2").get("gpt2")


def test_a_pickle_under_another_name_is_refused(root: Path) -> None:
    write("gpt2", root / "gpt2")
    (root / "gpt2" / "model.safetensors").write_bytes(b"\x80\x04" + b"a" * 60)
    with pytest.raises(UserError, match="pickle"):
        store_of("gpt2").get("gpt2")


def test_another_architecture_is_refused(root: Path) -> None:
    write("gpt2", root / "gpt2")
    file = root / "gpt2" / "config.json"
    file.write_text(
        json.dumps(json.loads(file.read_text(encoding="utf-8")) | {"model_type": "<b>llama</b>"}), encoding="utf-8"
    )
    with pytest.raises(UserError, match=r"Tiny gpt2 can't be opened: its config\.json says '<b>llama</b>'"):
        store_of("gpt2").get("gpt2")
    file.write_text("[]", encoding="utf-8")
    (root / "cache").rename(root / "old")
    with pytest.raises(UserError, match=r"Tiny gpt2 can't be opened: its config.json can't be read\."):
        store_of("gpt2").get("gpt2")


def test_what_does_not_fit_in_memory_is_refused(root: Path) -> None:
    write("gpt2", root / "gpt2")
    with pytest.raises(UserError, match="of memory"):
        store_of("gpt2", memory=Budget(1_000)).get("gpt2")


def test_the_one_used_last_stays_where_two_are_too_many(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("gpt2", "roberta"):
        write(kind, root / kind)
    store = store_of("gpt2", "roberta")
    size = store.get("gpt2").nbytes
    store._models.most = 1.5 * size
    store.get("roberta")
    assert (store.ready("gpt2"), store.ready("roberta")) == (False, True)


def test_with_no_hub_it_is_one_sentence() -> None:
    with pytest.raises(UserError, match="Tiny gpt2 could not be downloaded"):
        store_of("gpt2", hub_id="someone/not-here").get("gpt2")


def test_a_reading_is_computed_once_for_all() -> None:
    store = store_of("gpt2")
    calls: list[int] = []
    made = store.reading(store.member("gpt2"), "a", "", lambda: calls.append(1) or _reading())  # type: ignore[func-returns-value]
    assert store.reading(store.member("gpt2"), "a", "", _never) is made
    assert calls == [1]
    assert store.member("nonsense").key == "gpt2"


def _reading() -> Any:
    from demos.bert.family.attentions import Reading

    return Reading({})


def _never() -> Any:
    raise AssertionError("it is kept")
