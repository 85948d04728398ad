"""What trains and what stays, the frozen layers' kept states, and LoRA by hand."""

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, DistilBertConfig, DistilBertModel

from demos.bert.model.models import LoadedModel
from demos.training.events import Caching, Event, Finished, Started, Step
from demos.training.learning import encoder
from demos.training.learning.batches import training_batches
from demos.training.learning.learner import Learner
from demos.training.learning.model import Trained, load_encoder
from demos.training.learning.trainable import fixed_layers
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.registry import task_of

WAYS = {
    "all": {},
    "frozen embeddings": {"frozen_embeddings": True},
    "top": {"trains": "top", "top_layers": 1},
    "more than there are": {"trains": "top", "top_layers": 9},
    "lora": {"trains": "lora", "lora_rank": 2},
    "head": {"trains": "head"},
}


@pytest.fixture(scope="module")
def distil(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random DistilBERT of 2 layers over the same vocabulary."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny-distilbert")
    DistilBertModel(DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64)).save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return folder


def moved(base: Path, run: Path) -> set[str]:
    """The names of the encoder's weights that a run has changed."""
    was, now = load_encoder(base).state_dict(), load_encoder(run).state_dict()
    assert was.keys() == now.keys()
    return {name for name in was if not torch.equal(was[name], now[name])}


@pytest.fixture(scope="module")
def few(dataset: Dataset) -> Dataset:
    return dataclasses.replace(dataset, train=dataset.train[:24])


def run(dataset: Dataset, base: Path, folder: Path, settings: Settings) -> list[Event]:
    events = list(train(dataset, base, settings, folder))
    assert isinstance(events[-1], Finished), events[-1]
    return events


@pytest.mark.parametrize("model", ["base", "distil"])
def test_what_is_chosen_moves_and_nothing_else(
    model: str, few: Dataset, quick: Settings, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    base = request.getfixturevalue(model)
    once = dataclasses.replace(quick, epochs=1, evaluations=1, warmup=0.0)
    found = {}
    for way, chosen in WAYS.items():
        if model == "distil" and way in {"frozen embeddings", "more than there are", "head"}:
            continue
        events = run(few, base, tmp_path / way, dataclasses.replace(once, **chosen))  # type: ignore[arg-type]
        found[way] = moved(base, tmp_path / way)
        started = next(event for event in events if isinstance(event, Started))
        assert any(isinstance(event, Caching) for event in events) == (way in {"top", "head"})
        assert started.trainable_parameters < started.parameters or way == "all"
    names = {name for name in load_encoder(base).state_dict() if not name.startswith("pooler")}
    embeddings = {name for name in names if name.startswith("embeddings")}
    matrices = {
        name for name in names if name.endswith(("query.weight", "value.weight", "q_lin.weight", "v_lin.weight"))
    }
    # A key's bias adds the same to all of a query's scores: softmax takes it out, and what is left is rounding.
    idle = {name for name in names if name.endswith(("key.bias", "k_lin.bias"))}
    assert found["all"] >= names - idle
    for way in {"frozen embeddings", "more than there are"} & found.keys():
        assert found[way] | idle == names - embeddings | idle
    assert found["top"] | idle == {name for name in names if "layer.1." in name} | idle
    assert found["lora"] == matrices
    assert len(matrices) == 4
    assert found.get("head", set()) == set()


@pytest.mark.parametrize("chosen", [{"trains": "top", "top_layers": 1}, {"trains": "head"}])
def test_kept_states_change_no_number(
    chosen: dict[str, object], few: Dataset, base: Path, quick: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """With all kept, some kept (memory ends half-way) and none; each told as progress as far as it went."""
    settings = dataclasses.replace(quick, epochs=1, evaluations=1, warmup=0.0, **chosen)  # type: ignore[arg-type]
    losses, kept = {}, {}
    for share, limit in (("all", 2**30), ("some", 4 * 32 * 150), ("none", 0)):
        monkeypatch.setattr(encoder, "MAX_CACHE_BYTES", limit)
        events = run(few, base, tmp_path / share, settings)
        losses[share] = [event.loss for event in events if isinstance(event, Step)]
        kept[share] = max((event.done for event in events if isinstance(event, Caching)), default=0)
    assert kept["all"] == len(few.train) + len(few.validation) > kept["some"] > kept["none"] == 0
    assert losses["all"] == pytest.approx(losses["none"], abs=1e-5)
    assert losses["some"] == pytest.approx(losses["none"], abs=1e-5)
    texts = [example.text for example in few.test]
    rows = [torch.tensor(Trained.read(tmp_path / share).predict(texts)) for share in losses]
    assert torch.allclose(rows[0], rows[2], atol=1e-5)


def test_lora_is_the_papers_equation_and_ends_as_a_plain_model(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    """W x + (alpha / r) B A x with alpha = 2 r, A and B trained by plain torch beside frozen matrices."""
    settings = dataclasses.replace(quick, trains="lora", lora_rank=4, dropout=0.0, epochs=1, schedule="constant")
    events = run(dataset, base, tmp_path / "run", settings)
    ours = [event.loss for event in events if isinstance(event, Step)]

    learner = Learner(task_of(dataset, settings), base, settings)  # for its start alone: A, the head
    features = learner.task.features(learner.model.tokenizer, dataset.train, settings.max_length)
    learner.prepare(features)
    drawn = {name: p.detach().clone() for name, p in learner.model.encoder.named_parameters() if "lora_A" in name}
    assert all(p.shape == (4, 32) and p.abs().max() <= 1 / math.sqrt(32) for p in drawn.values())
    head = learner.model.head[-1]
    weight, bias = (torch.nn.Parameter(p.detach().clone()) for p in (head.weight, head.bias))

    encoder = AutoModel.from_pretrained(base).eval().requires_grad_(False)
    lora: list[tuple[torch.nn.Parameter, torch.nn.Parameter]] = []
    for layer in encoder.encoder.layer:
        for name in ("query", "value"):
            place = len(lora)
            a = torch.nn.Parameter(list(drawn.values())[place])
            b = torch.nn.Parameter(torch.zeros(32, 4))
            lora.append((a, b))
            getattr(layer.attention.self, name).register_forward_hook(
                lambda _, inputs, output, a=a, b=b: output + 2 * (inputs[0] @ a.T @ b.T)
            )
    matrices = [weight, *[p for pair in lora for p in pair]]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.01}, {"params": [bias], "weight_decay": 0.0}], foreach=False
    )
    order, plain = torch.Generator().manual_seed(settings.seed), []
    warm = math.ceil(0.1 * len(ours))
    for step, rows in enumerate(training_batches([f.size for f in features], settings.batch_size, order)):
        inputs = learner.model.tokenizer(
            [dataset.train[i].text for i in rows], padding="max_length", max_length=24, return_tensors="pt"
        )
        mask = inputs["attention_mask"].unsqueeze(-1)
        mean = (encoder(**inputs).last_hidden_state * mask).sum(1) / mask.sum(1)
        targets = torch.tensor([dataset.train[i].label for i in rows])
        loss = torch.nn.functional.cross_entropy(mean @ weight.T + bias, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*matrices, bias], settings.clip)
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1, step / warm)
        optimizer.step()
        optimizer.zero_grad()
        plain.append(loss.item())
    assert ours == pytest.approx(plain, abs=1e-4)

    kept = AutoModel.from_pretrained(tmp_path / "run")  # plain transformers, no peft
    assert type(kept) is type(encoder)
    a, b = lora[-1]
    merged = encoder.encoder.layer[-1].attention.self.value.weight + 2 * b @ a
    assert torch.allclose(kept.encoder.layer[-1].attention.self.value.weight, merged, atol=1e-4)
    assert not torch.allclose(encoder.encoder.layer[-1].attention.self.value.weight, merged, atol=1e-3)


def test_how_many_layers_are_fixed() -> None:
    assert [fixed_layers(Settings(trains="top", top_layers=k), 6) for k in (1, 2, 6, 12)] == [5, 4, 0, 0]
    assert fixed_layers(Settings(trains="head"), 6) == 6
    assert fixed_layers(Settings(), 6) == fixed_layers(Settings(trains="lora"), 6) == 0
