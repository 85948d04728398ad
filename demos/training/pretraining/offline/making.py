"""Trains the pre-training heads of the bundled encoder, and the encoder on with them, as Devlin et al. 2019 did."""

from __future__ import annotations

import copy
import json
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import BertForPreTraining

from demos.bert.model.models import LoadedModel
from demos.bert.model.weights import ALONE
from demos.bert.pretraining.corruption import NO_LABEL
from demos.bert.pretraining.heads import our_heads
from demos.bert.pretraining.heads_file import LOW_LEFT, LOW_RIGHT, WORDS, read_heads, read_low
from demos.files import Json
from demos.training.learning.hardware import run_device
from demos.training.pretraining.batches import Instance, PretrainingBatch, collate
from demos.training.pretraining.model_parts import Losses, Parts
from demos.training.pretraining.offline.corpus import Corpus, draw_instance
from demos.training.pretraining.offline.measuring import draw_instances, measure
from demos.training.pretraining.offline.writing import write_heads

RANK = 64  # of the word embeddings' change
SEED = 11
DECODER = ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")


@dataclass(frozen=True)
class Plan:
    """The settings of training the heads; defaults are those of the first phases (assets/pretraining/README.md)."""

    folder: Path  # the tokens, the state of the training and, at its end, heads.safetensors
    rate: float = 5e-4  # of the encoder
    head_rate: float = 1e-3  # of what is new
    warm_up: int = 150  # steps
    length: int = 64  # tokens a sequence
    batch: int = 48  # sequences
    average: float = 0.998  # of the weights: how much of the average stays in a step
    every: int = 400  # steps between two measurements
    sequences: int = 500  # of each text that are measured
    steps: int | None = None  # in all; without end where it is not given
    decay: int | None = None  # steps from here, the rates falling to 0
    minutes: float | None = None  # the same by the clock
    float32: bool = False  # else bfloat16 products, with float32 weights
    begin: Path | None = None  # a heads.safetensors whose weights a new training begins with
    workers: int = 0  # processes that draw the batches; 0: this one does

    @property
    def state(self) -> Path:
        return self.folder / "state.pt"

    @property
    def heads(self) -> Path:
        return self.folder / "heads.safetensors"

    def last(self, begun: int) -> int:
        """The step to end at, for a training that begins or goes on at `begun`."""
        return begun + self.decay if self.decay else self.steps or 10**9

    def factor(self, step: int, begun: int, seconds: float) -> float:
        """The factor of both learning rates: it rises over the warm-up, and with `decay` or `minutes` falls to 0."""
        falling = (self.last(begun) - step) / self.decay if self.decay else 1.0
        if self.minutes:
            falling = max(0.0, 1 - seconds / 60 / self.minutes)
        return falling * min(1.0, (step - begun + 1) / self.warm_up)


class Heads(nn.Module):
    """BertForPreTraining on the bundled encoder; its word embeddings are E + left right, and E is not changed."""

    def __init__(self, loaded: LoadedModel, frequency: np.ndarray) -> None:
        super().__init__()
        config = copy.deepcopy(loaded.model.config)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
        torch.manual_seed(SEED)
        with ALONE:
            attention = "sdpa" if run_device().type == "cuda" else "eager"
            self.whole = BertForPreTraining._from_config(config, attn_implementation=attention)
        own = {name: value for name, value in loaded.model.state_dict().items() if not name.startswith("pooler")}
        self.whole.bert.load_state_dict(own, strict=False)
        width = config.hidden_size
        self.left = nn.Parameter(torch.zeros(config.vocab_size, RANK))
        self.right = nn.Parameter(0.05 * torch.randn(RANK, width))
        transform = self.whole.cls.predictions.transform.dense
        transform.weight.data.copy_(torch.eye(width) + 0.02 * torch.randn(width, width))
        # The bias begins as the logarithm of how frequent a token is, so that its frequency need not be learned.
        self.whole.cls.predictions.bias.data.copy_(torch.from_numpy(np.log(frequency / frequency.sum() + 1e-7)).float())
        for name, parameter in self.whole.named_parameters():
            fixed = name == WORDS or "position_embeddings" in name or name in DECODER[:1]
            parameter.requires_grad_(not fixed)

    def begin_at(self, file: Path, bundled: Mapping[str, torch.Tensor]) -> Progress:
        """Take the weights of a heads.safetensors."""
        state, about = read_heads(file, bundled)
        low = read_low(file)
        state |= {"left": low[LOW_LEFT], "right": low[LOW_RIGHT]}
        for name, parameter in self.trained().items():
            parameter.data.copy_(state[name])
        return Progress(int(about["steps"]), int(about["tokens"]))

    def trained(self) -> dict[str, nn.Parameter]:
        """By BertForPreTraining's names, and left and right."""
        named = {
            name: parameter
            for name, parameter in self.whole.named_parameters()
            if parameter.requires_grad and name not in DECODER
        }
        return {**named, "left": self.left, "right": self.right}

    def losses(self, batch: PretrainingBatch) -> Losses:
        """The losses of `Parts`, its word embeddings and its decoder changed by left right."""
        bert, head = self.whole.bert, self.whole.cls.predictions
        parts = _Changed(bert, head.transform, head.decoder, bert.pooler, self.whole.cls.seq_relationship, self)
        return parts.losses(batch)


@dataclass(frozen=True)
class _Changed(Parts):
    """The parts of BertForPreTraining with the word embeddings E + left right, which are never multiplied out."""

    heads: Heads

    @property
    def words(self) -> torch.Tensor:
        """E [V, d]."""
        return self.encoder.embeddings.word_embeddings.weight

    def states(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        embedded = self.words[input_ids] + self.heads.left[input_ids] @ self.heads.right
        states: torch.Tensor = self.encoder(
            inputs_embeds=embedded, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        return states

    def decode(self, transformed: torch.Tensor) -> torch.Tensor:
        changed = (transformed @ self.heads.right.T) @ self.heads.left.T
        return transformed @ self.words.T + changed + self.heads.whole.cls.predictions.bias


@dataclass
class Progress:
    """The progress of the training; kept in FOLDER with the weights."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


def optimizer_of(heads: Heads, plan: Plan) -> torch.optim.Optimizer:
    """AdamW: the encoder learns more slowly than what is new."""
    encoder: list[nn.Parameter] = []
    new: list[nn.Parameter] = []
    for name, parameter in heads.trained().items():
        (encoder if name.startswith("bert.e") else new).append(parameter)
    groups = [
        {"params": encoder, "lr": plan.rate, "peak": plan.rate},
        {"params": new, "lr": plan.head_rate, "peak": plan.head_rate},
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)


def batches_of(
    corpora: Sequence[tuple[Corpus, float]], tokenizer: Any, step: int, size: int, length: int
) -> list[PretrainingBatch]:
    """The step's batch, the same for the same step; one a corpus, since pairs of sentences are shorter than pages."""
    rng = np.random.default_rng([SEED, step])
    shares = [share for _, share in corpora]
    drawn: list[list[Instance]] = [[] for _ in corpora]
    for _ in range(size):
        number = int(rng.choice(len(corpora), p=shares))
        drawn[number].append(draw_instance(corpora[number][0], tokenizer, rng, length))
    return [collate(instances, tokenizer.pad_token_id) for instances in drawn if instances]


@dataclass(frozen=True)
class Steps:
    """The batches by step, for the processes that draw them."""

    plan: Plan
    corpora: Sequence[tuple[Corpus, float]]
    tokenizer: Any

    def __getitem__(self, step: int) -> list[PretrainingBatch]:
        return batches_of(self.corpora, self.tokenizer, step, self.plan.batch, self.plan.length)

    def drawn(self, begun: int, last: int) -> Iterable[list[PretrainingBatch]]:
        """The batches of the steps from `begun` on, in their order."""
        steps = range(begun, last)
        return DataLoader(self, sampler=steps, batch_size=None, num_workers=self.plan.workers)


def step_gradients(heads: Heads, batches: Sequence[PretrainingBatch], float32: bool) -> tuple[float, float]:
    """Add the gradients of both losses over all the batches as over one; returns (masked words', next sentences')."""
    device = heads.left.device
    tokens = [int((batch.labels != NO_LABEL).sum()) for batch in batches]
    rows = [len(batch.labels) for batch in batches]
    means = [0.0, 0.0]
    for batch, chosen, count in zip(batches, tokens, rows, strict=True):
        with torch.autocast(device.type, torch.bfloat16, enabled=not float32):
            losses = heads.losses(on(batch, device))
        assert losses.following is not None
        parts = losses.masked * (chosen / sum(tokens)), losses.following * (count / sum(rows))
        (parts[0] + parts[1]).backward()
        means = [all_of + part.item() for all_of, part in zip(means, parts, strict=True)]
    return means[0], means[1]


def on(batch: PretrainingBatch, device: torch.device) -> PretrainingBatch:
    """The batch on the device; a CPU's own stays where it is."""
    return PretrainingBatch(*(getattr(batch, field.name).to(device) for field in fields(batch)))


def make(
    plan: Plan, loaded: LoadedModel, corpora: Sequence[tuple[Corpus, float]], held_out: Mapping[str, Corpus]
) -> None:
    """Step by step; the average of the weights over the last steps is what is measured and written."""
    size = len(loaded.tokenizer)
    counts = [
        share * np.bincount(corpus.input_ids, minlength=size) / len(corpus.input_ids) for corpus, share in corpora
    ]
    heads = Heads(loaded, np.sum(counts, axis=0))
    progress = heads.begin_at(plan.begin, loaded.model.state_dict()) if plan.begin else Progress()
    trained = heads.to(run_device()).trained()
    average = {name: parameter.detach().clone() for name, parameter in trained.items()}
    optimizer = optimizer_of(heads, plan)
    if plan.state.is_file():
        saved = torch.load(plan.state, map_location=run_device())
        progress = Progress(**saved["progress"])
        for name, parameter in trained.items():
            parameter.data.copy_(saved["weights"][name])
            average[name].copy_(saved["average"][name])
        if "optimizer" in saved:
            optimizer.load_state_dict(saved["optimizer"])
    begun, stopped = progress.step, []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))

    def save() -> None:
        saved = {"progress": asdict(progress), "weights": trained, "average": average}
        torch.save({**saved, "optimizer": optimizer.state_dict()}, plan.state.with_suffix(".new"))
        plan.state.with_suffix(".new").replace(plan.state)
        write(plan.heads, average, loaded, progress)

    since = started = time.perf_counter()
    for batches in Steps(plan, corpora, loaded.tokenizer).drawn(begun, plan.last(begun)):
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * plan.factor(progress.step, begun, since - started)
        masked, following = step_gradients(heads, batches, plan.float32)
        nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress.step += 1
        progress.tokens += sum(int(batch.attention_mask.sum()) for batch in batches)
        # Early on the average would depend on the first weights, so its memory grows with the steps.
        weight = 1 - min(plan.average, progress.step / (progress.step + 9))
        with torch.no_grad():
            torch._foreach_lerp_(list(average.values()), [parameter.data for parameter in trained.values()], weight)
        progress.seconds += time.perf_counter() - since
        if stopped or (plan.minutes and time.perf_counter() - started > 60 * plan.minutes):
            break
        if progress.step % plan.every == 0:
            save()
            scores = scores_of(plan, held_out, loaded)
            line = {**asdict(progress), "masked": masked, "next": following, "held_out": scores}
            with (plan.folder / "log.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")
        since = time.perf_counter()
    save()
    print(json.dumps({**asdict(progress), "held_out": scores_of(plan, held_out, loaded)}))


def scores_of(plan: Plan, held_out: Mapping[str, Corpus], loaded: LoadedModel) -> dict[str, Json]:
    """The scores on held-out text of the file just written."""
    parts = Parts.of(our_heads(loaded, plan.heads))
    drawn = {
        name: draw_instances(corpus, loaded.tokenizer, plan.sequences, plan.length, SEED)
        for name, corpus in held_out.items()
    }
    return {name: asdict(measure(parts, loaded.tokenizer, instances)) for name, instances in drawn.items()}


def write(path: Path, average: dict[str, torch.Tensor], loaded: LoadedModel, progress: Progress) -> None:
    """The file that the app reads."""
    rest = {name: weight.cpu() for name, weight in average.items()}
    low = {LOW_LEFT: rest.pop("left"), LOW_RIGHT: rest.pop("right")}
    about = {"tokens": str(progress.tokens), "steps": str(progress.step)}
    write_heads(path, rest, loaded.model.state_dict(), low, about)
