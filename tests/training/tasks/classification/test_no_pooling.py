"""No pooling: the head over all tokens' vectors, one after another, against plain PyTorch; and its parameters."""

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from demos.bert.model.models import LoadedModel
from demos.training.compute_cost import cost_of
from demos.training.events import Finished, Started, Step
from demos.training.learning.batches import training_batches
from demos.training.learning.model import Trained
from demos.training.learning.optimizer import learning_rate
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


def flat(states: torch.Tensor, mask: torch.Tensor, longest: int) -> torch.Tensor:
    """[batch, n, d] -> [batch, longest d], written out token by token."""
    rows = torch.zeros(len(states), longest, states.shape[-1])
    for sentence, (vectors, kept) in enumerate(zip(states, mask, strict=True)):
        for place in range(int(kept.sum())):
            rows[sentence, place] = vectors[place]
    return rows.view(len(states), -1)


def test_a_whole_training_is_that_of_plain_pytorch(
    tiny: LoadedModel, base: Path, dataset: Dataset, quick: Settings, tmp_path: Path
) -> None:
    data = dataclasses.replace(dataset, train=dataset.train[:24])
    settings = dataclasses.replace(quick, pooling="none", dropout=0.0, weight_decay=0.0, optimizer="sgd", epochs=1)
    events = list(train(data, base, settings, tmp_path / "run"))
    assert isinstance(events[-1], Finished), events[-1]
    started = next(event for event in events if isinstance(event, Started))
    texts = [example.text for example in (*data.train, *data.validation, *data.test)]
    longest = max(map(len, tiny.tokenizer(texts)["input_ids"]))
    assert started.head_parameters == longest * 32 * 2 + 2

    encoder: Any = copy.deepcopy(tiny.model).requires_grad_(True)
    encoder.set_attn_implementation("sdpa")
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    head = nn.Linear(longest * 32, 2)
    generator = torch.Generator().manual_seed(settings.seed)
    head.weight.data.normal_(0, 0.02, generator=generator)
    head.bias.data.zero_()
    both = [*encoder.embeddings.parameters(), *encoder.encoder.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(both, lr=0.0, momentum=0.9)

    def logits_of(texts: list[str]) -> torch.Tensor:
        inputs = tiny.tokenizer(texts, padding=True, return_tensors="pt")
        result: torch.Tensor = head(flat(encoder(**inputs).last_hidden_state, inputs["attention_mask"], longest))
        return result

    lengths = [len(ids) for ids in tiny.tokenizer([one.text for one in data.train])["input_ids"]]
    order = torch.Generator().manual_seed(settings.seed)
    losses = []
    for step, places in enumerate(training_batches(lengths, settings.batch_size, order)):
        batch = [data.train[place] for place in places]
        targets = torch.tensor([one.label for one in batch])
        loss = nn.functional.cross_entropy(logits_of([one.text for one in batch]), targets)
        losses.append(loss.item())
        loss.backward()
        nn.utils.clip_grad_norm_(both, settings.clip)
        optimizer.param_groups[0]["lr"] = learning_rate(step, 3, settings.learning_rate, settings.warmup)
        optimizer.step()
        optimizer.zero_grad()
    assert [one.loss for one in events if isinstance(one, Step)] == pytest.approx(losses, abs=1e-5)

    trained = Trained.read(tmp_path / "run")
    assert trained.max_length == longest
    asked = [data.test[0].text, "good", " ".join(["river"] * 60)]  # the last is longer than any that the head knows
    cut = tiny.tokenizer.decode(tiny.tokenizer(asked[2])["input_ids"][1 : longest - 1])
    with torch.inference_mode():
        expected = logits_of([*asked[:2], cut]).softmax(dim=-1)
    torch.testing.assert_close(torch.tensor(trained.predict(asked)), expected, rtol=0, atol=1e-5)


def test_the_cost_counts_a_weight_for_each_number_of_the_longest_sentence(tiny: LoadedModel, dataset: Dataset) -> None:
    of = {way: cost_of(dataset, tiny.tokenizer, tiny.model, Settings(pooling=way)) for way in ("mean", "none")}
    texts = [example.text for example in (*dataset.train, *dataset.validation, *dataset.test)]
    longest = max(map(len, tiny.tokenizer(texts)["input_ids"]))
    assert of["none"].parameters - of["mean"].parameters == (longest - 1) * 32 * 2
