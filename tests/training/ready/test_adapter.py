"""Adapters: what LoRA added is written in 8 bits and read back, and the bundled ones score what their logs say."""

import json
from pathlib import Path

import pytest
import torch

from demos.bert.model.models import LoadedModel
from demos.files import DATA
from demos.training.learning.model import Model, keep, load_encoder, load_tokenizer
from demos.training.learning.trainable import add_lora
from demos.training.ready.__main__ import OWN, dataset_of, scores_of
from demos.training.ready.adapter import (
    ADAPTER,
    EVERY_MATRIX,
    FOLDER,
    changed_layers,
    factored,
    to_bytes,
    with_adapter,
    write_adapter,
)
from demos.training.ready.models import TASKS, ReadyModels, card
from demos.training.tasks.classification.task import Classification

LIMIT = 1_500_000  # bytes of an adapter


def test_factors_give_the_change_back_and_bytes_are_half_a_unit_off_at_most() -> None:
    generator = torch.Generator().manual_seed(0)
    change = torch.randn(24, 3, generator=generator) @ torch.randn(3, 40, generator=generator)
    b, a = factored(change, 3)
    torch.testing.assert_close(b @ a, change, rtol=1e-4, atol=1e-5)
    whole, unit = to_bytes(a)
    assert whole.dtype == torch.int8
    assert ((whole.float() * unit[:, None] - a).abs() <= unit[:, None] / 2 + 1e-7).all()


def test_a_lora_run_is_written_and_read_again(tiny: LoadedModel, tmp_path: Path) -> None:
    base = Path(tiny.model.config._name_or_path) if tiny.model.config._name_or_path else tmp_path / "base"
    if not (base / "config.json").is_file():
        tiny.model.save_pretrained(base)
        tiny.tokenizer.save_pretrained(base)
    encoder = load_encoder(base)
    lora = add_lora(encoder, 2, 0, EVERY_MATRIX)
    changed = {name for name, _ in encoder.named_parameters() if "lora_B" in name}
    assert len(changed) == 6 * tiny.spec.num_layers
    for name, parameter in encoder.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.2, generator=torch.Generator().manual_seed(1))
    lora.merge_and_unload()
    task = Classification(labels=("no", "yes"), pooling="mean")
    head = task.head(encoder.config.hidden_size, torch.Generator().manual_seed(2))
    keep(Model(encoder, head, load_tokenizer(base)), task, 32, tmp_path / "run")
    write_adapter(tmp_path / "run", base, tmp_path / "adapter", 2)

    before = {name: layer.weight.clone() for name, layer in changed_layers(tiny.model)}
    read = with_adapter(tiny.model, tiny.tokenizer, tmp_path / "adapter")
    for (name, layer), (_, trained) in zip(changed_layers(read.model.encoder), changed_layers(encoder), strict=True):
        difference = (trained.weight - before[name]).abs().max()
        assert difference > 0.01
        assert (layer.weight - trained.weight).abs().max() < 0.03 * difference, name
        torch.testing.assert_close(dict(changed_layers(tiny.model))[name].weight, before[name])  # the base stays
    shared = read.model.encoder.get_input_embeddings().weight
    assert shared.data_ptr() == tiny.model.get_input_embeddings().weight.data_ptr()
    assert sum(read.predict(["A dog."])[0]) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TASKS])
def test_a_bundled_adapter_is_small_and_scores_what_its_card_says(kind: str) -> None:
    assert (FOLDER / kind / ADAPTER).stat().st_size == card(kind).bytes < LIMIT
    (own,) = dataset_of(kind, [])[1]
    (found,) = scores_of(FOLDER / kind, [own])
    told = card(kind).scores[0]
    assert (found["test"], told.data) == (told.test, "our own test examples")
    for name, value in told.metrics:
        assert found[name] == pytest.approx(value, abs=0.02), name
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"ours {told.metrics[0][1]:.3f}" in readme


def test_a_files_last_tenth_is_held_out_with_our_labels(tmp_path: Path) -> None:
    file = tmp_path / "more.tsv"
    file.write_text("".join(f"The lamp number {n} broke.\t{n % 2}\n" for n in range(20)), encoding="utf-8")
    dataset, (own, more) = dataset_of("sentence", [file])
    assert dataset.labels == ("negative", "positive")
    assert [example.text for example in more.test] == ["The lamp number 18 broke.", "The lamp number 19 broke."]
    assert [example.label for example in more.test] == [0, 1]
    assert len(dataset.test) == len(own.test) + 2
    assert not {example.text for example in dataset.train} & {example.text for example in dataset.test}
    assert (DATA / OWN["sentence"]).is_file()


def test_all_tasks_share_one_encoder(bundled: LoadedModel) -> None:
    models = ReadyModels(lambda: bundled)
    encoders = [models.get(kind).model.encoder for kind in TASKS]
    assert models.get("sentence") is models.get("sentence")
    tables = {encoder.get_input_embeddings().weight.data_ptr() for encoder in encoders}
    assert tables == {bundled.model.get_input_embeddings().weight.data_ptr()}
    assert json.loads((FOLDER / "sentence" / "log.json").read_text(encoding="utf-8"))["settings"][
        "lora_targets"
    ] == list(EVERY_MATRIX)
