"""Trains the pre-training heads of the bundled encoder, and the encoder on with them; writes heads.safetensors.

    python assets/pretraining/train_heads.py FOLDER BOOKS WIKIPEDIA [--length 128] [--decay 2000] ...

BOOKS is text with a paragraph a line and an empty line between books, WIKIPEDIA lines of two sentences with a tab
between them; either may be packed by xz. The last 12 books and 500 pairs are held out. FOLDER holds the tokens, the
state of the training (stop it by Ctrl+C or SIGTERM and start it again) and, at its end, the heads. README.md beside
this file tells with which numbers it was run.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import torch
from torch import nn
from transformers import BertForPreTraining

from demos.bert.catalogue import BUNDLED
from demos.bert.models import LoadedModel, ModelStore
from demos.bert.pretraining.corruption import NO_LABEL
from demos.bert.pretraining.heads import our_heads
from demos.bert.pretraining.heads_file import WORDS, write_heads
from demos.bert.pretraining.losses import masked_losses, next_loss
from demos.training.pretraining.batches import PretrainingBatch, collate
from demos.training.pretraining.corpus import Corpus, corpus_of, draw_instance, read_documents
from demos.training.pretraining.measuring import draw_instances, measure
from demos.training.pretraining.parts import Parts

HELD_OUT = {"books": 12, "wikipedia": 500}  # the last documents of each
RANK = 64  # of the word embeddings' change
SEED = 11
DECODER = ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")


class Heads(nn.Module):
    """BertForPreTraining on the bundled encoder; its word embeddings are E + left right, and E stays as it is."""

    def __init__(self, loaded: LoadedModel, counts: np.ndarray) -> None:
        super().__init__()
        config = type(loaded.model.config).from_dict(loaded.model.config.to_dict())
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
        torch.manual_seed(SEED)
        self.whole = BertForPreTraining._from_config(config, attn_implementation="eager")
        own = {name: value for name, value in loaded.model.state_dict().items() if not name.startswith("pooler")}
        self.whole.bert.load_state_dict(own, strict=False)
        width = config.hidden_size
        self.left = nn.Parameter(torch.zeros(config.vocab_size, RANK))
        self.right = nn.Parameter(0.05 * torch.randn(RANK, width))
        transform = self.whole.cls.predictions.transform.dense
        transform.weight.data.copy_(torch.eye(width) + 0.02 * torch.randn(width, width))
        # The bias begins as the logarithm of how frequent a token is, so that its frequency need not be learned.
        self.whole.cls.predictions.bias.data.copy_(torch.from_numpy(np.log(counts / counts.sum() + 1e-7)).float())
        for name, parameter in self.whole.named_parameters():
            fixed = name == WORDS or "position_embeddings" in name or name in DECODER[:1]
            parameter.requires_grad_(not fixed)

    def trained(self) -> dict[str, nn.Parameter]:
        """By BertForPreTraining's names, and left and right."""
        named = {name: one for name, one in self.whole.named_parameters() if one.requires_grad and name not in DECODER}
        return {**named, "left": self.left, "right": self.right}

    def losses(self, batch: PretrainingBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """(masked words' mean, next sentences' mean)."""
        bert, words = self.whole.bert, self.whole.bert.embeddings.word_embeddings.weight
        embedded = words[batch.input_ids] + self.left[batch.input_ids] @ self.right
        states = bert(
            inputs_embeds=embedded, attention_mask=batch.attention_mask, token_type_ids=batch.token_type_ids
        ).last_hidden_state
        asked = batch.labels != NO_LABEL
        hidden = self.whole.cls.predictions.transform(states[asked])
        logits = hidden @ words.T + (hidden @ self.right.T) @ self.left.T + self.whole.cls.predictions.bias
        relation = self.whole.cls.seq_relationship(bert.pooler(states))
        return masked_losses(logits.float(), batch.labels[asked]).mean, next_loss(relation.float(), batch.following)


@dataclass
class Progress:
    """How far the training is; kept in FOLDER with the weights."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


def optimizer_of(heads: Heads, rate: float, head_rate: float) -> torch.optim.Optimizer:
    """AdamW: the encoder learns more slowly than what is new."""
    encoder, new = [], []
    for name, one in heads.trained().items():
        (encoder if name.startswith("bert.e") else new).append(one)
    groups = [{"params": encoder, "lr": rate, "peak": rate}, {"params": new, "lr": head_rate, "peak": head_rate}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)


def tokens_of(folder: Path, name: str, path: Path, tokenizer: Any) -> Corpus:
    """The file's corpus, kept in the folder: the books take some minutes."""
    kept = folder / f"{name}.npz"
    if not kept.is_file():
        corpus = corpus_of(read_documents(path), tokenizer)
        np.savez(kept, input_ids=corpus.input_ids, sentences=corpus.sentences, documents=corpus.documents)
    with np.load(kept) as file:
        return Corpus(file["input_ids"], file["sentences"], file["documents"])


def batch_of(corpora: Sequence[tuple[Corpus, float]], tokenizer: Any, step: int, size: int, length: int) -> Any:
    """The step's batch, the same for the same step."""
    rng = np.random.default_rng([SEED, step])
    shares = [share for _, share in corpora]
    drawn = [corpora[rng.choice(len(corpora), p=shares)][0] for _ in range(size)]
    return collate([draw_instance(one, tokenizer, rng, length) for one in drawn], tokenizer.pad_token_id)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train until --steps, --decay or a signal; then measure what was held out and write the heads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "books", "wikipedia"):
        parser.add_argument(name, type=Path)
    for name, value in (("--rate", 5e-4), ("--head-rate", 1e-3), ("--wikipedia-share", 0.4), ("--average", 0.998)):
        parser.add_argument(name, type=float, default=value)
    for name, number in (("--length", 64), ("--batch", 48), ("--warm-up", 150), ("--every", 400), ("--sequences", 500)):
        parser.add_argument(name, type=int, default=number)
    parser.add_argument("--steps", type=int, help="in all; without end where it is not given")
    parser.add_argument("--decay", type=int, help="steps from here, the rates falling to 0")
    parser.add_argument("--float32", action="store_true", help="else bfloat16, with float32 weights")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    loaded = ModelStore().get(BUNDLED)
    tokenizer = loaded.tokenizer
    whole = {name: tokens_of(asked.folder, name, getattr(asked, name), tokenizer) for name in HELD_OUT}
    share = {"books": 1 - asked.wikipedia_share, "wikipedia": asked.wikipedia_share}
    corpora = [(one.part(slice(0, -HELD_OUT[name])), share[name]) for name, one in whole.items()]
    held = {name: one.part(slice(-HELD_OUT[name], None)) for name, one in whole.items()}
    counts = sum(part * np.bincount(one.input_ids, minlength=len(tokenizer)) / len(one.input_ids)
                 for one, part in corpora)  # fmt: skip
    train(asked, Heads(loaded, counts), corpora, held, loaded)


def train(
    asked: argparse.Namespace, heads: Heads, corpora: list[tuple[Corpus, float]], held: dict[str, Corpus],
    loaded: LoadedModel,
) -> None:  # fmt: skip
    """Step by step; the average of the weights over the last steps is what is measured and written."""
    trained = heads.trained()
    average = {name: one.detach().clone() for name, one in trained.items()}
    optimizer, progress = optimizer_of(heads, asked.rate, asked.head_rate), Progress()
    state = asked.folder / "state.pt"
    if state.is_file():
        kept = torch.load(state)
        progress = Progress(**kept["progress"])
        for name, one in trained.items():
            one.data.copy_(kept["weights"][name])
            average[name].copy_(kept["average"][name])
        if "optimizer" in kept:
            optimizer.load_state_dict(kept["optimizer"])
    begun, stopped = progress.step, []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))

    def save() -> None:
        kept = {"progress": asdict(progress), "weights": trained, "average": average}
        torch.save({**kept, "optimizer": optimizer.state_dict()}, state.with_suffix(".new"))
        state.with_suffix(".new").replace(state)
        write(asked.folder / "heads.safetensors", average, loaded, progress)

    last = begun + asked.decay if asked.decay else asked.steps or 10**9
    while progress.step < last and not stopped:
        since = time.perf_counter()
        factor = (last - progress.step) / asked.decay if asked.decay else 1.0
        factor *= min(1.0, (progress.step - begun + 1) / asked.warm_up)
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * factor
        batch = batch_of(corpora, loaded.tokenizer, progress.step, asked.batch, asked.length)
        with torch.autocast("cpu", torch.bfloat16, enabled=not asked.float32):
            masked, following = heads.losses(batch)
        (masked + following).backward()
        nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress.step += 1
        progress.tokens += int(batch.attention_mask.sum())
        # Early on the average would hang on the first weights, so its memory grows with the steps.
        weight = 1 - min(asked.average, progress.step / (progress.step + 9))
        with torch.no_grad():
            torch._foreach_lerp_(list(average.values()), [one.data for one in trained.values()], weight)
        progress.seconds += time.perf_counter() - since
        if progress.step % asked.every == 0:
            save()
            scores = scores_of(asked, held, loaded)
            line = {**asdict(progress), "masked": masked.item(), "next": following.item(), "held_out": scores}
            with (asked.folder / "log.jsonl").open("a") as log:
                log.write(json.dumps(line) + "\n")
    save()
    print(json.dumps({**asdict(progress), "held_out": scores_of(asked, held, loaded)}))


def scores_of(asked: argparse.Namespace, held: dict[str, Corpus], loaded: LoadedModel) -> dict[str, Any]:
    """What was held out, asked of the file just written."""
    parts = Parts.of(our_heads(loaded, asked.folder / "heads.safetensors"))
    drawn = {
        name: draw_instances(one, loaded.tokenizer, asked.sequences, asked.length, SEED) for name, one in held.items()
    }
    return {name: asdict(measure(parts, loaded.tokenizer, instances)) for name, instances in drawn.items()}


def write(path: Path, average: dict[str, torch.Tensor], loaded: LoadedModel, progress: Progress) -> None:
    """The file that the app reads."""
    rest = dict(average)
    left, right = rest.pop("left"), rest.pop("right")
    about = {"tokens": str(progress.tokens), "steps": str(progress.step)}
    write_heads(path, rest, loaded.model.state_dict(), left, right, about)


if __name__ == "__main__":
    main()
