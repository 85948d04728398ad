"""The catalogue and the store: only pinned entries load, the bundled weights are checked, failures are one sentence."""

import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import nn

from demos.bert.model import fetching, models
from demos.bert.model.catalogue import BUNDLED, CATALOGUE, ModelSpec, extend_catalogue
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel, ModelStore, check_bundled, default_key
from demos.errors import UserError


def test_every_hub_entry_is_pinned_to_a_commit() -> None:
    assert len(CATALOGUE) == 11
    for key, spec in CATALOGUE.items():
        if key != BUNDLED:
            assert re.fullmatch(r"[0-9a-f]{40}", spec.revision), key
            assert "/" in spec.hub_id


def test_the_bundled_entry_tells_the_truth(bundled: LoadedModel) -> None:
    config, spec = bundled.model.config, bundled.spec
    assert (config.num_hidden_layers, config.num_attention_heads, config.hidden_size) == (6, 12, 384)
    assert (spec.num_layers, spec.num_heads, spec.width) == (6, 12, 384)
    assert bundled.tokenizer("ÉCOLE").tokens() == bundled.tokenizer("ecole").tokens()  # uncased
    assert len(bundled.tokenizer) == 30_522


def test_a_loaded_model_cannot_be_trained_by_accident(bundled: LoadedModel) -> None:
    assert not bundled.model.training
    assert not any(parameter.requires_grad for parameter in bundled.model.parameters())
    assert bundled.model.config._attn_implementation == "eager"


def test_one_model_however_many_ask(store: ModelStore) -> None:
    assert store.get(BUNDLED) is store.get(BUNDLED)
    assert store.ready(BUNDLED)


def test_tokens_do_not_wait_for_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on = threading.Event(), threading.Event()
    load = models.AutoModel.from_pretrained

    def slow(*args: object, **options: object) -> object:
        asked.set()
        assert go_on.wait(timeout=30)
        return load(*args, **options)

    monkeypatch.setattr(models, "AutoModel", type("Slow", (), {"from_pretrained": staticmethod(slow)}))
    store = ModelStore()
    loading = store.begin(BUNDLED)
    assert asked.wait(timeout=30)
    assert store.tokenizer(BUNDLED)("hello").tokens() == ["[CLS]", "hello", "[SEP]"]
    assert not loading.done()
    go_on.set()
    assert loading.result(timeout=30).spec.key == BUNDLED


def test_a_tokenizer_that_is_not_on_this_machine_is_not_fetched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(fetching, "get_session", lambda: calls.append("the Hub was asked"))
    absent = ModelSpec("absent", "Nobody's", "nobody/nothing", "0" * 40, 2, 4, 32, cased=True)
    store = ModelStore({**CATALOGUE, "absent": absent})
    assert store.tokenizer_at_hand(BUNDLED)("hello").tokens() == ["[CLS]", "hello", "[SEP]"]
    assert store.tokenizer_at_hand("absent") is None
    assert calls == []


def test_changed_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"not the weights")
    with pytest.raises(UserError, match="have the wrong checksum"):
        check_bundled(tmp_path)
    with pytest.raises(UserError, match="are missing on this server"):
        check_bundled(tmp_path / "gone")


@pytest.mark.parametrize("key", ["nope", "../../etc/passwd", "google-bert/bert-base-uncased", "<script>", ""])
def test_only_catalogue_keys_load(store: ModelStore, key: str) -> None:
    with pytest.raises(UserError, match="There is no model"):
        store.get(key)


def test_a_model_the_hub_cannot_deliver_is_one_sentence(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "google" / "bert_uncased_L-2_H-128_A-2").mkdir(parents=True)  # must not stand in for the Hub's

    def unreachable(*args: object, **options: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(fetching, "get_session", lambda: type("Session", (), {"head": unreachable})())
    with pytest.raises(UserError, match="could not be downloaded"):
        store.get("bert-tiny")
    assert not store.ready("bert-tiny")


def test_the_default_is_bert_base_where_it_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "at_hand", lambda spec: True)
    assert default_key() == "bert-base-uncased"
    monkeypatch.setattr(models, "at_hand", lambda spec: False)
    assert default_key() == BUNDLED


def test_models_leave_when_memory_is_full(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    small = ModelStore(memory=Budget(100 * 2**20))  # the bundled model takes 91 MB
    folder = models.model_folder(CATALOGUE[BUNDLED])
    monkeypatch.setattr(models, "model_folder", lambda spec, **options: folder)
    first = small.get(BUNDLED)
    assert first.nbytes == sum(p.numel() * 4 for p in first.model.parameters() if p.dtype == torch.float32)
    del first
    second = small.get("bert-tiny")
    assert small.ready("bert-tiny")
    assert not small.ready(BUNDLED)
    assert second.spec.key == "bert-tiny"


def made_up(store: ModelStore, key: str, take: Callable[[float], None]) -> LoadedModel:
    """What the store reads in the place of the files: 288 bytes."""
    take(288)
    return LoadedModel(store.catalogue[key], None, nn.Linear(8, 8))


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_model_pushed_out_while_it_is_looked_up_fails_nobody(monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    """To look whether it is there and to take it are one step."""
    monkeypatch.setattr(ModelStore, "_read", made_up)
    small = ModelStore(memory=Budget(288))  # one model
    looks, others = 0, list[threading.Thread]()

    class Key(str):
        """At one of its look-ups another reader pushes the model out, if nothing holds them up."""

        def __hash__(self) -> int:
            nonlocal looks
            looks += 1
            if looks == moment:
                others.append(threading.Thread(target=small.get, args=("bert-tiny",)))
                others[0].start()
                others[0].join(timeout=0.2)
            return super().__hash__()

    small.get(BUNDLED)
    assert small.get(Key(BUNDLED)).spec.key == BUNDLED
    for other in others:
        other.join(timeout=30)
        assert not other.is_alive()


def test_models_that_push_each_other_out_fail_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelStore, "_read", made_up)
    small = ModelStore(memory=Budget(288))
    together = threading.Barrier(3)

    def ask(key: str) -> None:
        together.wait(timeout=30)
        for _ in range(300):
            loaded = small.get(key)
            assert loaded.spec.key == key
            assert loaded.model(torch.ones(8)).shape == (8,)  # another reader's may have pushed it out by now

    with ThreadPoolExecutor(3) as pool:
        for reader in [pool.submit(ask, key) for key in list(CATALOGUE)[:3]]:
            reader.result(timeout=60)
    assert small.memory.usage() == {"base models": 288}


def test_a_model_pushed_out_between_its_load_and_its_use_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelStore, "_read", made_up)
    small = ModelStore(memory=Budget(2 * 288))
    loaded = small.get(BUNDLED)
    small.get("bert-tiny")
    small.get("bert-base-uncased")
    assert not small.ready(BUNDLED)
    assert loaded.model(torch.ones(8)).shape == (8,)
    assert small.memory.usage() == {"base models": 2 * 288}  # in use, it counts
    assert small.get(BUNDLED) is loaded  # not read a second time


def test_a_model_too_large_for_the_memory_is_one_sentence() -> None:
    small = ModelStore(memory=Budget(80 * 2**20))  # the bundled model takes 91 MB
    with pytest.raises(UserError, match=r"This needs 91 MB of memory, but the server has only 83 MB left"):
        small.get(BUNDLED)
    assert not small.ready(BUNDLED)
    assert small.memory.usage() == {}


def test_a_lecturer_adds_models_by_a_file(tmp_path: Path) -> None:
    entry = {
        "key": "mine", "title": "Mine", "hub_id": "someone/bert-mine", "revision": "a" * 40,
        "num_layers": 2, "num_heads": 2, "width": 64, "cased": True,
    }  # fmt: skip
    file = tmp_path / "models.json"
    file.write_text(json.dumps([entry]), encoding="utf-8")
    assert extend_catalogue(file)["mine"].hub_id == "someone/bert-mine"
    for wrong, said in [
        ({"revision": "main"}, "commit"),
        ({"hub_id": "../x/y"}, "owner/name"),
        ({"key": "minilm"}, "already"),
        ({"colour": "red"}, "does not fit"),
        ({"num_layers": "2"}, "no fitting num_layers"),
        ({"key": ["mine"]}, "no fitting key"),
    ]:
        file.write_text(json.dumps([entry | wrong]), encoding="utf-8")
        with pytest.raises(UserError, match=said):
            extend_catalogue(file)
    file.write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="can't be read"):
        extend_catalogue(file)
