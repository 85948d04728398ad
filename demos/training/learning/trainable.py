"""The trainable part of a run's model: everything, upper layers, low-rank updates of two matrices, or the head."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from demos.bert.model.layer_weights import layer_of
from demos.training.settings import Settings


def fixed_layers(settings: Settings, layers: int) -> int:
    """The number of the `layers` lower ones that stay frozen, and with them the embeddings: their output is kept."""
    if settings.trains == "head":
        return layers
    return max(0, layers - settings.top_layers) if settings.trains == "top" else 0


def freeze(encoder: Any, settings: Settings) -> Any:
    """Take the gradient from what does not train; with LoRA, put its matrices in and return peft's `LoraModel`.

    Afterwards what trains is what has `requires_grad`. `LoraModel.merge_and_unload()` adds what its matrices learned to
    the encoder's own and takes them out, so that what is kept is a plain encoder.
    """
    if settings.trains == "lora":
        return add_lora(encoder, settings.lora_rank, settings.seed, settings.lora_targets)
    if settings.trains != "all" or settings.frozen_embeddings:
        encoder.embeddings.requires_grad_(False)
    for layer in range(fixed_layers(settings, encoder.config.num_hidden_layers)):
        layer_of(encoder, layer).requires_grad_(False)
    return None


def add_lora(encoder: Any, rank: int, seed: int, targets: Sequence[str]) -> Any:
    """W x becomes W x + 2 B A x, for W the matrices whose names end so; only A and B train (Hu et al. 2021, 4.1).

    A [rank, d] is drawn from `seed`, B [d, rank] is 0, so that training begins at the unchanged encoder. The factor
    2 is their alpha / rank.
    """
    from peft import LoraConfig, LoraModel  # here, for its import takes seconds that other runs need not wait

    config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=list(targets))
    lora = LoraModel(encoder, config, "default")
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in encoder.named_parameters():
        if "lora_A" in name:  # as peft draws it, but from a generator of the run's own
            nn.init.kaiming_uniform_(parameter, a=math.sqrt(5), generator=generator)
    return lora
