"""A model that trains: a reader's own copy with both heads, or the same from random weights, and what a step does."""

import copy
import math
from dataclasses import dataclass

import torch
from torch import nn

from demos.bert.model.freed_memory import keep_pages
from demos.bert.model.layer_weights import layer_of
from demos.bert.pretraining.heads import Pretrained
from demos.counting import layer_name
from demos.errors import UserError
from demos.training.learning.model import redraw_layers
from demos.training.learning.optimizer import parameter_groups, set_rate
from demos.training.pretraining.batches import PretrainingBatch
from demos.training.pretraining.model_parts import Losses, Parts
from demos.training.pretraining.rows import RowCounter

CLIP = 1.0  # largest norm of the gradient over all parameters; this, DECAY and EPSILON as in BERT's code
DECAY = 0.01  # decoupled; weight matrices only, the embeddings not
EPSILON = 1e-6  # AdamW's
INFINITE = "The loss is no longer a finite number; try a smaller learning rate."


@dataclass(frozen=True)
class Stepped:
    """One step in numbers; losses are the batch's, before the move. M chosen tokens, in the batch's order."""

    masked: float
    following: float  # NaN where it is not predicted
    norm: float  # of the gradient over all parameters, before clipping
    norms: dict[str, float]  # the same by layer; see `gradient_norms`
    guesses: tuple[int, ...]  # [M]: the likeliest id
    each: tuple[float, ...]  # [M]: the loss
    right: float  # share of them guessed right

    @property
    def total(self) -> float:
        return self.masked if math.isnan(self.following) else self.masked + self.following


class Learner:
    """A deep copy of a pre-trained model; the shared one is never touched. On the CPU, in float32, dropout off."""

    def __init__(self, pretrained: Pretrained, untrained: int | None = None) -> None:
        """`untrained`, a seed, makes every weight what it was before any training."""
        keep_pages()
        # All at once, so that the decoder's matrix stays the word embeddings.
        self.parts: Parts = copy.deepcopy(Parts.of(pretrained))
        encoder, pooler = self.parts.encoder, self.parts.pooler
        if pooler is not None:
            encoder.pooler = pooler
        encoder.set_attn_implementation("sdpa")
        heads = [part for part in (self.parts.transform, self.parts.decoder, self.parts.relation) if part is not None]
        self.heads = nn.ModuleList(heads)
        self.modules = nn.ModuleList([encoder, self.heads])
        for module in self.modules.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        if untrained is not None:
            self._redraw(untrained)
        self.modules.requires_grad_(True)
        if pooler is None and getattr(encoder, "pooler", None) is not None:
            encoder.pooler.requires_grad_(False)  # nothing reads it
        groups = parameter_groups(encoder, self.heads, DECAY)
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, eps=EPSILON, fused=True)
        self.trained: list[nn.Parameter] = [part for group in groups for part in group["params"]]

    @property
    def matrix(self) -> torch.Tensor:
        """[V, d]: the word embeddings, which are the decoder's matrix too."""
        return self.parts.decoder.weight

    @property
    def parameters(self) -> int:
        """The number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.trained)

    def _redraw(self, seed: int) -> None:
        """N(0, 0.02²) for matrices, 0 for biases, 1 and 0 for LayerNorms, as Devlin et al.'s code begins."""
        redraw_layers(self.parts.encoder, seed, embeddings=True)
        generator = torch.Generator().manual_seed(seed)
        loose = [self.heads, *([self.parts.pooler] if self.parts.pooler is not None else [])]
        for module in nn.ModuleList(loose).modules():
            if isinstance(module, nn.Linear):
                if module is not self.parts.decoder:  # its matrix is drawn already: the embeddings
                    module.weight.data.copy_(torch.empty(module.weight.shape).normal_(0, 0.02, generator=generator))
                module.bias.data.zero_()
            elif isinstance(module, nn.LayerNorm):
                module.weight.data.fill_(1)
                module.bias.data.zero_()

    def step(self, batch: PretrainingBatch, rate: float, counter: RowCounter | None = None) -> Stepped:
        """Forward, loss, backward, one AdamW update. `counter` is shown the batch and its gradient.

        Raises UserError where the loss is no number any more.
        """
        self.optimizer.zero_grad(set_to_none=True)
        set_rate(self.optimizer, rate)
        losses = self.parts.losses(batch)
        closely = counter is not None and counter.closely
        if closely:
            losses.logits.retain_grad()
        losses.total.backward()
        if counter is not None:
            counter.count(batch.input_ids, losses.logits, losses.answers)
            if closely:
                counter.gradients(self.matrix, losses.transformed, losses.logits.grad)
        norms = gradient_norms(self.parts)
        norm = float(torch.nn.utils.clip_grad_norm_(self.trained, CLIP))
        stepped = _stepped(losses, norm, norms)
        if not math.isfinite(stepped.total) or not math.isfinite(norm):
            raise UserError(INFINITE)
        self.optimizer.step()
        return stepped


def gradient_norms(parts: Parts) -> dict[str, float]:
    """The gradient's Euclidean norm over each group of parameters, by name, from the bottom up; before clipping.

    The decoder's matrix is the word embeddings', so it counts among the embeddings.
    """
    encoder = parts.encoder
    groups: dict[str, list[nn.Module]] = {"embeddings": [encoder.embeddings]}
    groups |= {layer_name(layer): [layer_of(encoder, layer)] for layer in range(encoder.config.num_hidden_layers)}
    groups["word head"] = [parts.transform, parts.decoder]
    if parts.pooler is not None and parts.relation is not None:
        groups["sentence head"] = [parts.pooler, parts.relation]
    seen: set[int] = set()
    norms = {}
    for name, modules in groups.items():
        own = [
            parameter
            for module in modules
            for parameter in module.parameters()
            if parameter.grad is not None and id(parameter) not in seen
        ]
        seen |= {id(parameter) for parameter in own}
        if own:
            norms[name] = float(torch.stack([parameter.grad.norm() for parameter in own]).norm())
    return norms


def _stepped(losses: Losses, norm: float, norms: dict[str, float]) -> Stepped:
    guesses = losses.logits.detach().argmax(dim=-1)
    right = float((guesses == losses.answers).float().mean())
    following = float("nan") if losses.following is None else losses.following.item()
    each = tuple(losses.each.tolist())
    return Stepped(losses.masked.item(), following, norm, norms, tuple(guesses.tolist()), each, right)
