"""The picker: a model that can't be had leaves the one before with a sentence; progress is told; links are checked."""

import threading
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.by_name.model_checks import Limits, check_config
from demos.bert.model.by_name.named_models import NamedModels
from demos.bert.model.by_name.typed_name import NamedSpec
from demos.bert.model.catalogue import CATALOGUE, ModelSpec
from demos.bert.model.models import ModelStore, at_hand, read_tokenizer
from demos.errors import UserError
from demos.page.bar import build_bar, use_model
from demos.page.command_line import read_settings
from demos.page.guards import OUR_FAULT
from demos.page.head import downloads
from demos.page.services import Services
from demos.templates import in_script


class SlowStore(ModelStore):
    """A store whose models take until `arrive` is set, and then come, fail or break."""

    def __init__(self, outcome: Exception | None = None) -> None:
        super().__init__(CATALOGUE)
        self.arrive = threading.Event()
        self.outcome = outcome

    def get(self, key: str) -> Any:
        self.spec(key)
        assert self.arrive.wait(timeout=30)
        if self.outcome:
            raise self.outcome
        return None


def test_a_model_on_this_disk_is_used_at_once_and_its_weights_awaited() -> None:
    store = SlowStore()
    updates = use_model(Services(store, "minilm"), "minilm", "minilm")
    picker, in_use, status = next(updates)
    assert (picker, in_use) == ("minilm", "minilm")
    assert "Loading MiniLM" in status
    store.arrive.set()
    *_, (picker, in_use, status) = updates
    assert (picker, in_use) == ("minilm", "minilm")
    assert "6 layers × 12 heads" in status


def test_a_model_to_be_fetched_waits_and_tells_how_far_it_is() -> None:
    store = SlowStore()
    store._note("bert-tiny", 9_000_000)
    updates = use_model(Services(store, "minilm"), "bert-tiny", "minilm")
    picker, in_use, status = next(updates)
    assert all(isinstance(value, dict) and value["__type__"] == "update" for value in (picker, in_use))
    assert "9 of 18 MB" in status
    store.arrive.set()
    *_, (picker, in_use, status) = updates
    assert (picker, in_use) == ("bert-tiny", "bert-tiny")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [(UserError("The Hub is <away>."), "The Hub is &lt;away&gt;."), (RuntimeError("/secret"), OUR_FAULT.split(".")[0])],
)
def test_a_model_that_does_not_come_leaves_the_one_before(outcome: Exception, told: str) -> None:
    store = SlowStore(outcome)
    store.arrive.set()
    *_, (picker, in_use, status) = use_model(Services(store, "minilm"), "bert-tiny", "minilm")
    assert (picker, in_use) == ("minilm", "minilm")
    assert told in status
    assert "secret" not in status
    assert "MiniLM" in status


def test_script_literals_cannot_close_a_script_element() -> None:
    assert in_script({"text": "</script><script>"}) == '{"text": "\\u003c/script>\\u003cscript>"}'


def refused_of(config: dict[str, Any]) -> UserError:
    """What is said of a model with this config.json."""
    with pytest.raises(UserError) as refused:
        check_config("someone/other", config, Limits(24, 16, 1024, 1e9))
    return refused.value


class Raising:
    """A way to find models that finds none."""

    def __init__(self, error: UserError) -> None:
        self.error = error

    def __call__(self, asked: str) -> ModelSpec:
        raise self.error


class FindingStore(SlowStore):
    """One that finds a model by its name on a hub that takes its time, and has no other such."""

    def __init__(self) -> None:
        super().__init__()
        self.named = NamedModels(Limits(24, 16, 1024, 1e9), read_tokenizer)
        self.looked = threading.Event()

    def find(self, asked: str) -> ModelSpec:
        assert self.looked.wait(timeout=30)
        if asked != "someone/bert":
            raise UserError("The Hugging Face Hub has no public model <b>.")
        spec = NamedSpec(f"someone/bert@{'c' * 40}", "someone/bert", "someone/bert", "c" * 40, 2, 2, 128, cased=False)
        self.catalogue = {**self.catalogue, spec.key: spec}
        return spec


def test_a_model_by_name_is_looked_for_then_in_use_under_its_revision() -> None:
    store = FindingStore()
    updates = use_model(Services(store, "minilm"), "someone/bert", "minilm")
    picker, in_use, status = next(updates)
    assert all(isinstance(value, dict) and value["__type__"] == "update" for value in (picker, in_use))
    assert "Looking for someone/bert on the Hugging Face Hub" in status
    store.looked.set()
    store.arrive.set()
    *_, (picker, in_use, status) = updates
    assert picker == in_use == f"someone/bert@{'c' * 40}"
    assert f"at revision {'c' * 40}" in status
    assert 'data-size="[2, 2, 128]"' in status


def test_another_architecture_says_where_it_can_be_seen() -> None:
    store = FindingStore()
    store.looked.set()
    for typed in ("openai-community/gpt2", f"https://huggingface.co/openai-community/gpt2@{'d' * 40}"):
        ((picker, in_use, status),) = use_model(Services(store, "minilm"), typed, "minilm")  # no Hub is asked
        assert (picker, in_use) == ("minilm", "minilm")
        assert "openai-community/gpt2 is not a BERT model: its architecture is gpt2." in status
        assert 'data-lesson="family" data-choices=\'{"part":"attention","family_model":"gpt2"}\'' in status
        assert "Using MiniLM (bundled) instead." in status
    links = []
    for model_type in ("t5", "<b>", []):
        store.find = Raising(refused_of({"model_type": model_type}))  # type: ignore[method-assign]
        *_, (_, _, status) = use_model(Services(store, "minilm"), "someone/other", "minilm")
        assert "<b>&#39;" not in status
        assert "someone/other can&#39;t be opened here: its architecture is" in status
        links.append('"family_model":"t5-small"' in status)
    assert links == [True, False, False]


@pytest.mark.parametrize("typed", ["../x", "<script>alert(1)</script>", "x" * 10_000, None, ["minilm"]])
def test_a_name_that_leads_nowhere_leaves_the_model_before(typed: Any) -> None:
    store = FindingStore()
    updates = use_model(Services(store, "minilm"), typed, "minilm")
    assert "<script>" not in next(updates)[2]
    store.looked.set()
    *_, (picker, in_use, status) = updates
    assert (picker, in_use) == ("minilm", "minilm")
    assert "no public model &lt;b&gt;." in status
    assert len(status) < 2_000


def test_only_with_the_option_the_picker_takes_what_is_typed() -> None:
    for any_model in (False, True):
        with gr.Blocks():
            bar = build_bar(Services(ModelStore(any_model=any_model), "minilm"), "tokens")
        assert bar.model.allow_custom_value is any_model
        assert ("owner/name" in str(bar.model.label)) is any_model
        assert ("type its name (owner/name)" in str(bar.status.value)) is any_model
    assert not read_settings([]).any_model
    assert read_settings(["--any-model"]).any_model


def test_the_menu_says_what_each_download_weighs() -> None:
    """One rule for each model that is not on this disk, by the name that its entry has."""
    rules = downloads(CATALOGUE)
    assert CATALOGUE["minilm"].title not in rules
    assert rules.count("::after") == sum(spec.key != "minilm" for spec in CATALOGUE.values() if not at_hand(spec))
    tiny = CATALOGUE["bert-tiny"]
    if not at_hand(tiny):
        assert f'[aria-label="{tiny.title}"]::after{{content:"from the Hub, {tiny.size_mb} MB"}}' in rules
