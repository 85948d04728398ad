"""A BERT of the Hub opened by its name: what is accepted, refused before any weight is fetched, and kept."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from demos.bert.model import fetching
from demos.bert.model.by_name import model_checks, named_models
from demos.bert.model.by_name.typed_name import NamedSpec, all_caches
from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.encoding import encode
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import ModelStore, at_hand
from demos.bert.model.run import run_model
from demos.bert.model.weights import INDEX, float32_bytes
from demos.bert.pretraining.heads import own_heads
from demos.errors import UserError
from tests.bert.model.local_hub import in_its_place
from tests.bert.model.many_models import (
    EARLIER,
    NEWEST,
    ManyModels,
    Repository,
    edit_json,
    in_several_files,
    write_bert,
    write_distilbert,
)

NAME = "someone/bert-small"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    return write_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def hub(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[ManyModels]]:
    shutil.copytree(written, tmp_path / "bert")
    repositories = {NAME: Repository(tmp_path / "bert")}
    handler = type("Hub", (ManyModels,), {"repositories": repositories, "asked": []})
    monkeypatch.setattr(fetching, "LOOK_SECONDS", 0.01)
    with in_its_place(handler, monkeypatch, tmp_path / "hub"):
        yield handler


@pytest.fixture
def store(hub: type[ManyModels]) -> ModelStore:
    return ModelStore(any_model=True)


def weights_asked(hub: type[ManyModels]) -> bool:
    """Whether a whole weights' file was fetched: its header alone is a range of the same address, asked once."""
    weights = [path for path in hub.asked if path.endswith(".safetensors")]
    return len(weights) > len(set(weights))


def test_a_bert_is_found_checked_and_opened(hub: type[ManyModels], store: ModelStore, written: Path) -> None:
    spec = store.find(f" https://huggingface.co/{NAME} ")
    assert isinstance(spec, NamedSpec)
    assert (spec.key, spec.revision) == (f"{NAME}@{NEWEST}", NEWEST)
    assert (spec.num_layers, spec.num_heads, spec.width) == (2, 4, 32)
    assert (spec.mlm, spec.nsp, spec.segments, spec.cased) == (True, True, True, False)
    assert NEWEST in spec.summary
    assert not weights_asked(hub)
    assert not at_hand(spec)
    loaded = store.begin(spec.key).result(timeout=60)
    assert weights_asked(hub)
    (run,) = run_model(loaded, [encode(loaded.tokenizer, "A river bank.")])
    reference = AutoModel.from_pretrained(written).eval()
    with torch.inference_mode():
        states = reference(torch.tensor([run.encoding.input_ids])).last_hidden_state[0]
    torch.testing.assert_close(torch.tensor(run.hidden_states[-1]), states, atol=1e-5, rtol=0)
    heads = own_heads(loaded, store.folder(spec.key))
    assert heads.relation is not None


def test_a_distilbert_too(hub: type[ManyModels], store: ModelStore, tmp_path: Path) -> None:
    hub.repositories["someone/distil"] = Repository(write_distilbert(tmp_path / "distil"))
    spec = store.find("someone/distil")
    assert (spec.segments, spec.mlm, spec.nsp) == (False, True, False)
    assert store.get(spec.key).model.config.model_type == "distilbert"


def _same_as_transformers(store: ModelStore, key: str, folder: Path) -> None:
    loaded, reference = store.get(key), AutoModel.from_pretrained(folder, dtype=torch.float32)
    for (name, ours), theirs in zip(loaded.model.named_parameters(), reference.parameters(), strict=True):
        assert ours.dtype == torch.float32, name
        assert torch.equal(ours, theirs), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("files", [1, 4])
def test_weights_in_several_files_and_of_half_precision(
    dtype: torch.dtype, files: int, hub: type[ManyModels], store: ModelStore
) -> None:
    folder = hub.repositories[NAME].folder
    AutoModel.from_pretrained(folder).to(dtype).save_pretrained(folder)
    if files > 1:
        in_several_files(folder)
    spec = store.find(NAME)
    assert isinstance(spec, NamedSpec)
    assert len(spec.weights) > 1 if files > 1 else spec.weights == ("model.safetensors",)
    assert not weights_asked(hub)
    _same_as_transformers(store, spec.key, folder)
    assert weights_asked(hub)
    assert at_hand(spec)
    assert store.get(spec.key).nbytes == float32_bytes(folder)  # what was taken of the memory
    hub.away = True
    hub.asked.clear()
    fresh = ModelStore(any_model=True)  # after a restart, of the disk alone
    _same_as_transformers(fresh, spec.key, folder)
    assert hub.asked == []


def test_files_that_are_not_what_was_checked_are_not_opened(hub: type[ManyModels], store: ModelStore) -> None:
    folder = hub.repositories[NAME].folder
    in_several_files(folder)
    spec = store.find(NAME)
    other = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    key = next(iter(other["weight_map"]))
    other["weight_map"][key] = "../../../elsewhere.safetensors"
    at = next(spec.cache.rglob(INDEX))
    at.write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(UserError, match=r"^someone/bert-small has no safetensors weights"):
        store.get(spec.key)


def test_a_file_larger_than_the_hub_said_is_not_fetched(hub: type[ManyModels], store: ModelStore) -> None:
    repository = hub.repositories[NAME]
    in_several_files(repository.folder)
    file = max(repository.folder.glob("model-*.safetensors"), key=lambda file: file.stat().st_size)
    repository.sizes[file.name] = 100
    spec = store.find(NAME)
    with pytest.raises(UserError, match=r"^someone/bert-small can't be opened here: a file of it is larger than the"):
        store.get(spec.key)
    assert not at_hand(spec)


def test_a_link_opens_the_revision_that_it_says(hub: type[ManyModels], store: ModelStore) -> None:
    assert store.find(f"{NAME}@{EARLIER}").key == f"{NAME}@{EARLIER}"
    store.get(f"{NAME}@{EARLIER}")
    fetched = [path for path in hub.asked if "/resolve/" in path]
    assert fetched
    assert all(f"/resolve/{EARLIER}/" in path for path in fetched)
    with pytest.raises(UserError, match=r"no revision a{40}\."):
        store.find(f"{NAME}@{'a' * 40}")


def test_what_is_here_opens_without_the_hub(hub: type[ManyModels], store: ModelStore) -> None:
    key = store.find(NAME).key
    store.get(key)
    hub.away = True
    hub.asked.clear()
    fresh = ModelStore(any_model=True)  # after a restart
    assert fresh.spec(key).key == key
    assert fresh.find(key).key == key
    assert fresh.get(key).spec.key == key
    assert hub.asked == []
    assert fresh.find(NAME).key == key  # by its name alone too, at the revision that is here
    with pytest.raises(UserError, match="could not be reached to look for someone/other"):
        fresh.find("someone/other")


def test_without_the_option_nothing_but_the_catalogue_is_known(hub: type[ManyModels], store: ModelStore) -> None:
    key = store.find(NAME).key
    store.get(key)
    hub.asked.clear()
    closed = ModelStore()
    for asked in (NAME, key):
        for ask in (closed.spec, closed.find, closed.get, closed.folder, closed.tokenizer, closed.tokenizer_at_hand):
            with pytest.raises(UserError, match="There is no model"):
                ask(asked)
    assert hub.asked == []


def test_the_catalogues_own_models_are_not_taken_twice(hub: type[ManyModels], store: ModelStore) -> None:
    for key, spec in CATALOGUE.items():
        assert store.find(key) is spec
        if spec.hub_id:
            assert store.find(spec.hub_id) is store.find(f"{spec.hub_id}@{spec.revision}") is spec
    assert hub.asked == []


@pytest.mark.parametrize(
    "typed",
    [
        *("", "bert", "../x", "../../etc/passwd", "a/../b", "a/b/c", "<script>alert(1)</script>", "x" * 10_000),
        *("a/b@main", "a/" + "b" * 97, "a/b c", "a--b/c", "-a/b", f"a/b@{'A' * 40}", "ä/b", "http://x/y/z"),
        *(None, 7, ["a/b"]),
    ],
)  # fmt: skip
def test_what_is_no_name_is_a_sentence(typed: object, hub: type[ManyModels], store: ModelStore) -> None:
    with pytest.raises(UserError, match=r"^(.{0,70}) is not the name of a model; type it as owner/name, .*\.$"):
        store.find(typed)  # type: ignore[arg-type]
    assert hub.asked == []
    assert not all_caches().exists()


def _config(**values: object) -> Callable[[Repository], None]:
    return lambda repository: edit_json(repository.folder / "config.json", **values)


def _without(name: str) -> Callable[[Repository], None]:
    return lambda repository: (repository.folder / name).unlink()


def _told(**told: object) -> Callable[[Repository], None]:
    return lambda repository: repository.told.update(told)


def _size(name: str, size: int) -> Callable[[Repository], None]:
    return lambda repository: repository.sizes.update({name: size})


def _text(name: str, text: str) -> Callable[[Repository], None]:
    return lambda repository: (repository.folder / name).write_text(text, encoding="utf-8") and None


def _other_tokenizer(repository: Repository) -> None:
    edit_json(repository.folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    edit_json(repository.folder / "tokenizer.json", pre_tokenizer={"type": "Whitespace"})


def _without(*names: str) -> Callable[[Repository], None]:
    def change(repository: Repository) -> None:
        for name in names:
            (repository.folder / name).unlink()

    return change


def _double(repository: Repository) -> None:
    AutoModel.from_pretrained(repository.folder).double().save_pretrained(repository.folder)


def _in_files(repository: Repository) -> Any:
    """Cut the weights into several files; their index."""
    in_several_files(repository.folder)
    return json.loads((repository.folder / INDEX).read_text(encoding="utf-8"))


def _index(change: Callable[[dict[str, Any]], Any]) -> Callable[[Repository], None]:
    """The weights in several files, under an index that says something else."""

    def changed(repository: Repository) -> None:
        index = _in_files(repository)
        (repository.folder / INDEX).write_text(json.dumps(change(index) or index), encoding="utf-8")

    return changed


def _all_in(file: Any) -> Callable[[Repository], None]:
    return _index(lambda index: {**index, "weight_map": dict.fromkeys(index["weight_map"], file)})


def _other_place(repository: Repository) -> None:
    _all_in("../someone/model.safetensors")(repository)
    (repository.folder.parent / "someone").mkdir()
    save_file({}, repository.folder.parent / "someone" / "model.safetensors")


def _twice(repository: Repository) -> None:
    first, second, *_ = sorted(set(_in_files(repository)["weight_map"].values()))
    files = [load_file(repository.folder / name) for name in (first, second)]
    save_file(files[0] | files[1], repository.folder / second)


def _swapped(repository: Repository) -> None:
    first, second, *_ = sorted(set(_in_files(repository)["weight_map"].values()))
    shutil.move(repository.folder / first, repository.folder / "x")
    shutil.move(repository.folder / second, repository.folder / first)
    shutil.move(repository.folder / "x", repository.folder / second)


def _lost(repository: Repository) -> None:
    (repository.folder / max(_in_files(repository)["weight_map"].values())).unlink()


def _large_files(size: int) -> Callable[[Repository], None]:
    def changed(repository: Repository) -> None:
        repository.sizes |= dict.fromkeys(_in_files(repository)["weight_map"].values(), size)

    return changed


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_told(forbidden=True), "must be requested on the Hub"),
        (_told(gated="manual"), "must be requested on the Hub"),
        (_told(private=True), "must be requested on the Hub"),
        (_without("model.safetensors"), "no model.safetensors and no model.safetensors.index.json; other formats"),
        (_without("vocab.txt"), "no vocab.txt"),
        (_size("model.safetensors", 3_000_000_000), "its model.safetensors is 3,000 MB, and the limit is 1,500 MB"),
        (_size("tokenizer.json", 90_000_000), "the limit is 16 MB"),
        (_config(model_type="mpnet"), "its architecture is 'mpnet'; only these can be opened: BERT, DistilBERT, "),
        (_config(model_type="roberta"), "its inputs have at most 511 tokens"),
        (_config(model_type=["bert"]), "its architecture is"),
        (_config(auto_map={"AutoModel": "code.Model"}), "its own program code"),
        (_config(is_decoder=True), "is_decoder = 'True'"),
        (_config(position_embedding_type="relative_key"), "position_embedding_type"),
        (_config(quantization_config={"load_in_4bit": True}), "quantization_config"),
        (_config(return_dict=False), "return_dict"),
        (_config(hidden_act="silu"), "its activation function is 'silu'"),
        (_config(hidden_size="<b>"), "does not describe a BERT"),
        (_config(num_attention_heads=5), "does not describe a BERT"),
        (_config(num_hidden_layers=0), "does not describe a BERT"),
        (_config(num_hidden_layers=400), "400 layers, 4 heads and width 32; the page can show"),
        (_config(max_position_embeddings=128), "at most 128 tokens"),
        (_config(vocab_size=2_000_000_000), "do not fit together"),
        (_config(num_hidden_layers=3), "encoder.layer.2."),
        (_config(intermediate_size=128), "another shape"),
        (_double, "is not float32, float16 or bfloat16"),
        (_other_place, "names '../someone/model.safetensors', which is no safetensors file beside it"),
        (_all_in("/etc/passwd"), "which is no safetensors file beside it"),
        (_all_in("*.safetensors"), "which is no safetensors file beside it"),
        (_all_in("vocab.txt"), "which is no safetensors file beside it"),
        (_all_in("<b>" * 999), "which is no safetensors file beside it"),
        (_all_in(["x"]), "does not say which tensor lies in which file"),
        (_index(lambda index: [1]), "does not say which tensor"),
        (_index(lambda index: {**index, "weight_map": {}}), "does not say which tensor lies in which file"),
        (_index(lambda index: index.pop("metadata") and None), "has no metadata"),
        (_index(lambda index: {**index, "weight_map": {f"{n}": f"{n}.safetensors" for n in range(99)}}), "in 99 files"),
        (_index(lambda index: index["weight_map"].update(no=min(index["weight_map"].values()))), "no is missing from"),
        (_lost, "which is no safetensors file beside it"),
        (_twice, "lies in two of its weights' files"),
        (_swapped, "is missing from model-0"),
        (_large_files(2_000_000_000), ".safetensors is 2,000 MB, and the limit is 1,500 MB"),
        (_large_files(1_000_000_000), "files, and the limit is 1,500 MB"),
        (_text("config.json", "["), "no JSON object"),
        (_text("config.json", "[" * 100_000), "no JSON object"),
        (_text("model.safetensors", "no tensors"), "no safetensors file"),
        (_text("tokenizer.json", "{}"), "tokenizer"),
        (_text("tokenizer_config.json", '{"auto_map": {"AutoTokenizer": ["code.T", null]}}'), "its own program code"),
        (_other_tokenizer, "not a BERT tokenizer"),
        (_without("vocab.txt"), "it has no vocab.txt, which a model of its architecture needs here"),
        (_without("vocab.txt", "tokenizer.json"), "it has neither vocab.txt nor tokenizer.json"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_sentence_and_no_weight_is_fetched(
    change: Callable[[Repository], None], reason: str, hub: type[ManyModels], store: ModelStore
) -> None:
    change(hub.repositories[NAME])
    with pytest.raises(UserError) as refused:
        store.find(NAME)
    said = str(refused.value)
    assert said.startswith(f"{NAME} can't be opened here: ")
    assert reason in said
    assert said.count(". ") == 0
    assert not weights_asked(hub)
    assert list(all_caches().glob("*")) == []  # nothing of it is kept
    with pytest.raises(UserError, match="There is no model"):
        store.spec(f"{NAME}@{NEWEST}")


def test_a_name_that_nobody_has_and_a_server_too_small(hub: type[ManyModels], store: ModelStore) -> None:
    with pytest.raises(UserError, match=r"^The Hugging Face Hub has no public model nobody/nothing\.$"):
        store.find("nobody/nothing")
    with pytest.raises(UserError, match=r"it needs \d MB of memory; this app may use 1 MB in all"):
        ModelStore(memory=Budget(1e6), any_model=True).find(NAME)
    assert not weights_asked(hub)


def test_a_tokenizer_with_more_pieces_than_vectors_is_refused(
    hub: type[ManyModels], store: ModelStore, tmp_path: Path
) -> None:
    hub.repositories["someone/few"] = Repository(write_bert(tmp_path / "few", vocab_size=1_000))
    with pytest.raises(UserError, match="more word pieces than the model has vectors"):
        store.find("someone/few")


@pytest.mark.slow
def test_only_the_last_few_stay_on_the_disk(
    hub: type[ManyModels], store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_models, "MOST_ON_DISK", 2)
    keys = []
    for number in range(3):
        hub.repositories[f"someone/bert-{number}"] = hub.repositories[NAME]
        keys.append(store.find(f"someone/bert-{number}").key)
        store.get(keys[-1])
    assert [at_hand(store.spec(key)) for key in keys] == [False, True, True]
    assert len(list(all_caches().glob("*"))) == 2
    store._models.pop(keys[0])  # let go by the memory's bound: it comes back from the Hub, at its revision
    hub.asked.clear()
    assert store.get(keys[0]).spec.key == keys[0]
    assert any(path.endswith("model.safetensors") for path in hub.asked)
    assert [at_hand(store.spec(key)) for key in keys] == [True, False, True]


def test_a_few_are_looked_up_at_one_time(
    hub: type[ManyModels], store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_models, "PATIENCE", 0.01)
    assert store.named is not None
    with store.named.turn(), store.named.turn(), pytest.raises(UserError, match="try again in a minute"):
        store.find(NAME)
    assert store.find(NAME).hub_id == NAME


def test_the_limits_are_the_catalogues_largest(store: ModelStore) -> None:
    assert store.named._limits == model_checks.Limits(24, 16, 1024, store.memory.most)
