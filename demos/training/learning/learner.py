"""The model that a run trains, on its device: encoder, head, what of them trains, and what frozen layers gave."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from demos.bert.model.freed_memory import keep_pages
from demos.training.events import Caching
from demos.training.learning import hardware
from demos.training.learning.contrast import fit_linear, pair_loss
from demos.training.learning.earlier import read_head
from demos.training.learning.encoder import States, lower, upper
from demos.training.learning.hardware import attention_of, run_device
from demos.training.learning.model import (
    CompactRows,
    Model,
    collate,
    in_batches,
    keep,
    last_states,
    load_encoder,
    load_tokenizer,
    redraw_layers,
)
from demos.training.learning.optimizer import clipped_step, make_optimizer, set_rate
from demos.training.learning.parallel import ALONE, Parallel
from demos.training.learning.trainable import fixed_layers, freeze
from demos.training.settings import Settings
from demos.training.tasks.task import Batch, Features, SeededDropout, Task


class Learner:
    """A fresh copy of an encoder with a head; from examples as tokens to logits, and a step down the gradient.

    The head is new, unless `base` is an earlier run's folder and that run's head is for the same.
    """

    def __init__(
        self, task: Task, base: Path, settings: Settings, parallel: Parallel = ALONE, on_cpu: bool = False
    ) -> None:
        keep_pages()
        self.earlier = read_head(base)
        self.task, self.settings, self.parallel = task, settings, parallel
        self.device = run_device(on_cpu)
        self.half = hardware.in_bfloat16(on_cpu)
        encoder = load_encoder(base, attention_of(self.half, self.device)).to(self.device)
        tokenizer = load_tokenizer(base)
        self.limit = min(settings.max_length, encoder.config.max_position_embeddings)  # tokens
        self.padding = tokenizer.pad_token_id or 0
        if settings.start != "trained":
            redraw_layers(encoder, settings.seed, embeddings=settings.start == "scratch")
        self.model = Model(encoder, nn.Identity(), tokenizer)

    def _new_head(self, width: int) -> nn.Module:
        head = self.task.head(width, torch.Generator().manual_seed(self.settings.seed))
        self.has_earlier_head = self.earlier is not None and self.earlier.put(self.task, head)
        noise = torch.Generator(self.device).manual_seed(self.settings.seed + self.parallel.rank)
        for layer in head.modules():
            if isinstance(layer, SeededDropout):
                layer.generator = noise
        return head.to(self.device)

    def prepare(self, features: Sequence[Features]) -> None:
        """Make the head, freeze what does not train, make the optimizer for the rest.

        `features` are all that will ever be read.
        """
        encoder = self.model.encoder
        longest = max((len(sequence) for feature in features for sequence in feature.sequences), default=1)
        fitted = self.task.fitted(longest)
        self.limit = longest if fitted is not self.task else self.limit
        self.task = fitted
        self.model = replace(self.model, head=self._new_head(encoder.config.hidden_size))
        self.head_parameters = sum(p.numel() for p in self.model.head.parameters())
        self.parameters = sum(p.numel() for p in encoder.parameters()) + self.head_parameters
        ids = (token for feature in features for sequence in feature.sequences for token in sequence)
        self.compact = CompactRows.shrink(encoder, ids, self.padding)
        self.lora = freeze(encoder, self.settings)
        self.fixed = fixed_layers(self.settings, encoder.config.num_hidden_layers)
        self.states = States()
        self.optimizer = make_optimizer(encoder, self.model.head, self.settings)
        self.trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        self.trainable = sum(p.numel() for p in self.trained)

    def cache(self, features: Sequence[Features]) -> Iterator[Caching]:
        """Read these examples by the frozen layers and keep what they give, as far as memory is lent."""
        if not self.fixed:
            return
        done = 0
        for places, batch in in_batches(self.task, features, self.padding, self.device):
            with self._products():
                states = self._lower(batch)
            stored = self.states.put(batch, states)
            done += stored
            yield Caching(done, len(features))
            if stored < len(places):
                return

    def logits(self, features: Sequence[Features]) -> tuple[torch.Tensor, Batch]:
        """(logits [batch, …] in float32, the batch)."""
        batch = collate(self.task, features, self.padding, self.device)
        with self._products():
            logits = self.task.logits(self.model.head, self._last_states(batch), batch)
        return logits.float(), batch

    @property
    def contrasts(self) -> bool:
        """Whether the encoder learns from pairs of examples; the head is then fitted by `refit`."""
        settings = self.settings
        return settings.contrast and settings.trains != "head" and self.task.kind == "classification"

    def refit(self, features: Sequence[Features]) -> None:
        """If the encoder learns from pairs: fit the head again on these, the training examples."""
        if not self.contrasts:
            return
        task: Any = self.task
        vectors: list[tuple[int, np.ndarray]] = []
        for places, batch in in_batches(task, features, self.padding, self.device):
            with torch.inference_mode(), self._products():
                pooled = task.pooled(self._last_states(batch).float(), batch.attention_mask)
            vectors += zip(places, pooled.cpu().numpy(), strict=True)
        rows = np.stack([vector for _, vector in sorted(vectors, key=lambda pair: pair[0])])
        linear = next(layer for layer in self.model.head.modules() if isinstance(layer, nn.Linear))
        fit_linear(linear, rows, np.array([feature.target for feature in features]))

    def step(self, features: Sequence[Features], rate: float) -> tuple[float, float, float]:
        """One update at this learning rate: the batch's loss and score before it, the gradient's norm."""
        if not self.model.encoder.training:  # checked for each module, some 1% of a small model's step
            self.model.modules().train()
        set_rate(self.optimizer, rate)
        loss, score = (self._gradients if self.parallel.processes == 1 else self._shared_gradients)(features)
        norm = clipped_step(self.optimizer, self.trained, self.settings.clip)
        self.optimizer.zero_grad(set_to_none=True)
        values = torch.stack([loss, score, norm]).tolist()  # one wait for the device, not three
        return values[0], values[1], values[2]

    def _gradients(self, features: Sequence[Features]) -> tuple[torch.Tensor, torch.Tensor]:
        """(loss, score) of these examples; each parameter that trains now has its gradient."""
        if self.contrasts:
            return self._pair_gradients(features)
        logits, batch = self.logits(features)
        loss = self.task.loss(logits, batch.targets)
        loss.backward()
        return loss.detach(), self.task.batch_score(logits, batch.targets)

    def _pair_gradients(self, features: Sequence[Features]) -> tuple[torch.Tensor, torch.Tensor]:
        """The same for the loss of pairs; the score is that of the head's last fit."""
        task: Any = self.task
        batch = collate(task, features, self.padding, self.device)
        with self._products():
            pooled = task.pooled(self._last_states(batch).float(), batch.attention_mask)
        loss = pair_loss(pooled, batch.targets)
        loss.backward()
        with torch.inference_mode():
            score = task.batch_score(self.model.head(pooled), batch.targets)
        return loss.detach(), score

    def _shared_gradients(self, features: Sequence[Features]) -> tuple[torch.Tensor, torch.Tensor]:
        """The same where each process reads its share of them; all end with the same."""
        own = self.parallel.share(features)
        sums = [0.0, 0.0, 0.0, 0.0]  # the loss and the score, each times what it is a mean over, and those two
        if own:
            loss, score = self._gradients(own)
            longest = max(len(sequence) for feature in own for sequence in feature.sequences)
            units = self.task.units(self.task.targets(own, longest))
            sums = [float(loss) * units, float(score) * len(own), units, len(own)]
        loss_sum, score_sum, all_units, count = self.parallel.sums(sums)
        self.parallel.average(self.trained, sums[2] / all_units if all_units else 0.0)
        return torch.tensor([loss_sum / max(all_units, 1e-9), score_sum / count], device=self.device).unbind()

    def keep(self, folder: Path) -> None:
        """Write the trained model. The run is over."""
        if self.lora is not None:
            self.lora.merge_and_unload()
        self.compact.restore(self.model.encoder, self.padding)
        keep(self.model, self.task, self.limit, folder)

    def _products(self) -> torch.autocast:
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half)

    def _lower(self, batch: Batch) -> torch.Tensor:
        ids = self.compact.renumber(batch.input_ids)
        return lower(self.model.encoder, self.fixed, ids, batch.attention_mask, batch.token_type_ids)

    def _last_states(self, batch: Batch) -> torch.Tensor:
        """The last hidden states [R, n, d], from what is kept of the frozen layers where some are."""
        encoder = self.model.encoder
        if not self.fixed:
            return last_states(encoder, batch, self.compact.renumber(batch.input_ids))
        states = self.states.get(batch.features)
        if states is None:
            states = self._lower(batch).float()
        return upper(encoder, self.fixed, states, batch.attention_mask)
