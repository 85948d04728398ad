"""Trains the decoder: the bundled encoder with this app's masked-word head goes on under a causal mask."""

import copy
import json
import math
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from demos.bert.causal.decoder import causal_mask, next_word_logits, our_decoder
from demos.bert.causal.measured import Measured
from demos.bert.model.freed_memory import keep_pages
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import OUR_HEADS, Pretrained, our_heads
from demos.bert.pretraining.heads_file import read_low
from demos.training.causal.sampled import draw, sampled_losses, shares_of
from demos.training.learning import hardware
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.offline.corpus import Corpus
from demos.training.pretraining.offline.writing import write_heads

SEED = 13
ROWS = 8  # windows that are measured in one pass: logits over the vocabulary are 30,522 numbers a token
TYPES = "token_type_embeddings"
FIXED = ("word_embeddings", TYPES)  # of the encoder; the former are the decoder's matrix too


@dataclass(frozen=True)
class Plan:
    """The settings of the decoder's training; the defaults are those of assets/causal/README.md."""

    folder: Path  # the tokens, the state of the training, the log and the weights
    minutes: float = 47.0  # in all; the rate falls to 0 along half a cosine over them
    rate: float = 6e-4
    warm_up: int = 60  # steps
    length: int = 96  # tokens a sequence, [CLS] among them
    batch: int = 12  # sequences
    candidates: int = 4096  # words of the softmax
    every: int = 300  # steps between two measurements
    sequences: int = 60  # of each text that are measured then

    @property
    def state(self) -> Path:
        return self.folder / "state.pt"

    @property
    def weights(self) -> Path:
        return self.folder / "decoder.safetensors"


@dataclass
class Progress:
    """The progress of the training; kept in the folder with the weights."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


def windows(corpus: Corpus, count: int, length: int, begin: int, rng: np.random.Generator) -> torch.Tensor:
    """<int64>[count, length]: `begin` and the text from a random sentence on, within one document."""
    rows = np.full((count, length), begin, dtype=np.int64)
    at = 0
    while at < count:
        first, last = corpus.documents[int(rng.integers(len(corpus.documents)))]
        start = int(corpus.sentences[int(rng.integers(first, last))])
        if start + length - 1 <= corpus.sentences[last]:
            rows[at, 1:] = corpus.input_ids[start : start + length - 1]
            at += 1
    return torch.from_numpy(rows)


def trained_of(parts: Parts) -> dict[str, nn.Parameter]:
    """The trainable parameters, by the names of transformers' BertLMHeadModel."""
    encoder = {f"bert.{name}": value for name, value in parts.encoder.named_parameters()}
    encoder = {name: value for name, value in encoder.items() if not any(fixed in name for fixed in (*FIXED, "pooler"))}
    head = {f"cls.predictions.transform.{name}": value for name, value in parts.transform.named_parameters()}
    return {**encoder, **head, "cls.predictions.bias": parts.decoder.bias}


def make(plan: Plan, loaded: LoadedModel, books: Corpus, held_out: Mapping[str, Corpus]) -> None:
    """Until the minutes are over or a signal comes; goes on where a state is found in the folder."""
    keep_pages()
    torch.manual_seed(SEED)
    parts = copy.deepcopy(Parts.of(our_heads(loaded)))
    for module in parts.encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    trained = trained_of(parts)
    for parameter in trained.values():
        parameter.requires_grad_(True)
    matrices = [parameter for parameter in trained.values() if parameter.dim() > 1]
    vectors = [parameter for parameter in trained.values() if parameter.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    optimizer, progress = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=True), Progress()
    if plan.state.is_file():
        saved = torch.load(plan.state)
        progress = Progress(**saved["progress"])
        for name, parameter in trained.items():
            parameter.data.copy_(saved["weights"][name])
        optimizer.load_state_dict(saved["optimizer"])
    shares = shares_of(np.bincount(books.input_ids, minlength=len(loaded.tokenizer)), plan.candidates)
    stopped: list[bool] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.append(True))

    def save(loss: float) -> None:
        saved = {"progress": asdict(progress), "weights": trained, "optimizer": optimizer.state_dict()}
        torch.save(saved, plan.state.with_suffix(".new"))
        plan.state.with_suffix(".new").replace(plan.state)
        about = {"tokens": str(progress.tokens), "steps": str(progress.step)}
        types = {f"bert.{name}": value for name, value in parts.encoder.named_parameters() if TYPES in name}
        weights = {name: value.detach() for name, value in {**types, **trained}.items()}
        write_heads(plan.weights, weights, loaded.model.state_dict(), read_low(OUR_HEADS), about)
        decoder, begin = our_decoder(loaded, plan.weights), loaded.tokenizer.cls_token_id
        scores = {}
        for name, corpus in held_out.items():
            rows = windows(corpus, plan.sequences, plan.length, begin, np.random.default_rng(SEED))
            measured = measure(decoder, rows, name)
            scores[name] = {
                "cross_entropy": measured.nats / measured.pieces,
                "top1": measured.right / measured.pieces,
                "asked": measured.pieces,
            }
        with (plan.folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps({**asdict(progress), "loss": round(loss, 4), "held_out": scores}) + "\n")

    losses: list[float] = []
    while (share := progress.seconds / (60 * plan.minutes)) < 1 and not stopped:
        since = time.perf_counter()
        rate = plan.rate * min(1.0, (progress.step + 1) / plan.warm_up) * 0.5 * (1 + math.cos(math.pi * share))
        for group in optimizer.param_groups:
            group["lr"] = rate
        rng = np.random.default_rng([SEED, progress.step])
        generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        rows = windows(books, plan.batch, plan.length, loaded.tokenizer.cls_token_id, rng)
        losses.append(step_gradients(parts, rows, shares, generator, loaded.tokenizer.unk_token_id))
        nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress.step += 1
        progress.tokens += rows.numel()
        progress.seconds += time.perf_counter() - since
        if progress.step % plan.every == 0:
            save(float(np.mean(losses[-plan.every :])))
    save(float(np.mean(losses[-plan.every :])) if losses else math.nan)


def step_gradients(
    parts: Parts, rows: torch.Tensor, shares: torch.Tensor, generator: torch.Generator, unknown: int
) -> float:
    """Add the gradients of the mean loss over all places of `rows` [B, n + 1]; returns it.

    `unknown`, [UNK], is no answer: nobody knows which word it hides.
    """
    answers = rows[:, 1:].flatten()
    chosen = (answers != unknown).nonzero()[:, 0]
    with torch.autocast("cpu", torch.bfloat16, enabled=hardware.in_bfloat16(on_cpu=True)):
        hidden = parts.encoder(input_ids=rows[:, :-1], attention_mask=causal_mask(rows.shape[1] - 1)).last_hidden_state
        transformed = parts.transform(hidden.flatten(0, 1)[chosen])
        words, bias = parts.decoder.weight, parts.decoder.bias
        loss = sampled_losses(transformed, words, bias, answers[chosen], draw(shares, generator)).mean()
    loss.backward()
    return loss.item()


@torch.inference_mode()
def measure(decoder: Pretrained, rows: torch.Tensor, title: str, first: int = 0) -> Measured:
    """The decoder's predictions on text that it was not trained on.

    `rows` <int64>[B, n + 1]: each position's next word piece is predicted, from `first` on; [UNK] never.
    """
    tokenizer, nats, tokens, right = decoder.tokenizer, 0.0, [], 0
    for part in rows.split(ROWS):
        logits, answers = next_word_logits(decoder, part[:, :-1])[:, first:], part[:, 1 + first :]
        known = answers != tokenizer.unk_token_id
        nats += nn.functional.cross_entropy(logits[known], answers[known], reduction="sum").item()
        right += int((logits[known].argmax(-1) == answers[known]).sum())
        tokens += tokenizer.convert_ids_to_tokens(answers[known].tolist())
    words = sum(not token.startswith("##") for token in tokens)
    return Measured(title, nats, len(tokens), words, right)
