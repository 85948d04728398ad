"""The cost of a training, counted before it starts: parameters, memory part by part, steps, products."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from demos.bert.model.layer_weights import layer_of
from demos.errors import UserError
from demos.training.data.splits import Splits
from demos.training.example_lengths import Lengths, lengths_of
from demos.training.learning import hardware
from demos.training.learning.batches import scoring_batches, training_batches
from demos.training.learning.encoder import MAX_CACHE_BYTES
from demos.training.learning.optimizer import NOTHING_TRAINS
from demos.training.learning.trainable import fixed_layers
from demos.training.settings import Settings
from demos.training.tasks.registry import task_of

FLOAT32, BFLOAT16 = 4, 2  # bytes
# What autograd keeps of a layer, in numbers a token, for width d and inner width f (counted on transformers' BERT).
KEPT_FLOATS = {"all": (8, 2), "top": (8, 2), "lora": (6, 1), "head": (0, 0)}  # of d, of f
ADAPTERS = 2  # low-rank updates a layer: of the query's matrix and of the value's
KEPT_IN_HALF = 0.65  # of those bytes, where products are in bfloat16


@dataclass(frozen=True)
class Memory:
    """Bytes, part by part, beside what the program itself takes."""

    weights: int
    gradients: int
    optimizer: int
    caches: int  # the kept outputs of frozen layers
    activations: int  # an estimate, for the longest batch

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.caches + self.activations


@dataclass(frozen=True)
class Cost:
    """Counted, not estimated, but for the activations: the numbers that `Started` will carry."""

    steps: int
    examples: int  # seen in all, each as often as there are epochs
    parameters: int
    trainable_parameters: int
    rows: int  # of the word embeddings, that occur in the data
    without_gradient: int  # parameters in the other rows, where the embeddings are trained
    memory: Memory
    adapters: int  # matrices with a low-rank update beside them
    step_products: float  # floating-point operations in the steps' matrix products
    other_products: float  # in all that is read without a gradient: frozen layers, looks, the test


def cost_of(dataset: Splits, tokenizer: Any, encoder: Any, settings: Settings) -> Cost:
    """The cost of training a copy of this encoder; the encoder itself is only counted.

    Raises UserError for settings out of bounds, and where nothing would train.
    """
    settings.check()
    layers, width = encoder.config.num_hidden_layers, encoder.config.hidden_size
    lengths = lengths_of(dataset, tokenizer, min(settings.max_length, encoder.config.max_position_embeddings))
    head = _head_parameters(dataset, settings, width, lengths)
    of_encoder, of_embeddings, of_layer = (
        sum(p.numel() for p in module.parameters()) for module in (encoder, encoder.embeddings, layer_of(encoder, 0))
    )
    fixed = fixed_layers(settings, layers)
    upper = layers - fixed  # layers that are computed in each step
    idle_rows = len(encoder.get_input_embeddings().weight) - lengths.rows
    adapters = layers * ADAPTERS if settings.trains == "lora" else 0
    lora = adapters * 2 * settings.lora_rank * width
    whole = settings.trains == "all" and not settings.frozen_embeddings
    without_gradient = idle_rows * width if whole else 0
    trainable = head + lora + (of_embeddings - without_gradient if whole else 0)
    trainable += upper * of_layer if settings.trains != "lora" else 0
    if not trainable:
        raise UserError(NOTHING_TRAINS)
    epochs = settings.epochs
    batches = _batches(lengths.train, settings)
    looked = (epochs * settings.evaluations + 1) * _scored(lengths.validation, encoder, upper)
    read_once = _scored((*lengths.train, *lengths.validation), encoder, fixed)
    return Cost(
        steps=epochs * len(batches),
        examples=epochs * len(lengths.train),
        parameters=of_encoder + head,
        trainable_parameters=trainable,
        rows=lengths.rows,
        without_gradient=without_gradient,
        adapters=adapters,
        memory=_memory(encoder, settings, lengths, batches, of_encoder + head + lora, trainable),
        step_products=epochs * sum(_step_products(encoder, settings, upper, *shape) for shape in batches),
        other_products=read_once + looked + _scored(lengths.test, encoder, layers),
    )


def _head_parameters(dataset: Splits, settings: Settings, width: int, lengths: Lengths) -> int:
    with torch.device("meta"):  # shapes without numbers
        return sum(p.numel() for p in task_of(dataset, settings).fitted(lengths.longest).head(width, None).parameters())


def _batches(examples: Sequence[tuple[int, int]], settings: Settings) -> list[tuple[int, int]]:
    """One epoch's batches: (sequences, padded length)."""
    sizes = [count * longest for count, longest in examples]
    order = torch.Generator().manual_seed(settings.seed)
    return [_padded([examples[i] for i in rows]) for rows in training_batches(sizes, settings.batch_size, order)]


def _padded(examples: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(count for count, _ in examples), max(longest for _, longest in examples)


def _scored(examples: Sequence[tuple[int, int]], encoder: Any, layers: int) -> float:
    """The products of reading these examples once by so many layers."""
    batches = scoring_batches([count * longest for count, longest in examples])
    return sum(_products(encoder, layers, *_padded([examples[i] for i in rows])) for rows in batches)


def _products(encoder: Any, layers: int, sequences: int, length: int) -> float:
    """One forward pass's floating-point operations: a product of [a, b] and [b, c] has 2 a b c."""
    width, inner = _widths(encoder)
    return layers * sequences * length * (8 * width**2 + 4 * width * inner + 4 * width * length)


def _step_products(encoder: Any, settings: Settings, upper: int, sequences: int, length: int) -> float:
    """The same in one step: forward, back to the states, back to the weights that train.

    LoRA's frozen matrices need no third pass; but attention's products are of states with states, so that each needs
    both its gradients, and the updates' own train. Where the embeddings are frozen, the lowest layer's query, key and
    value need no gradient for their input; nor do its keys, where LoRA does not change their matrix.
    """
    if not upper:
        return 0.0
    width, _ = _widths(encoder)
    tokens, whole = sequences * length, settings.trains == "all" and not settings.frozen_embeddings
    forward = _products(encoder, upper, sequences, length)
    unneeded = 0 if whole else 6 * width**2
    if settings.trains != "lora":
        return 3 * forward - tokens * unneeded
    between = upper * tokens * 4 * width * length  # states with states
    updates = upper * ADAPTERS * tokens * 4 * settings.lora_rank * width
    lowest = unneeded + ADAPTERS * 2 * settings.lora_rank * width + 2 * width * length
    return 2 * forward + between + 3 * updates - tokens * lowest


def _widths(encoder: Any) -> tuple[int, int]:
    config = encoder.config
    return config.hidden_size, config.hidden_dim if config.model_type == "distilbert" else config.intermediate_size


def _memory(
    encoder: Any, settings: Settings, lengths: Lengths, batches: Sequence[tuple[int, int]], weights: int, trainable: int
) -> Memory:
    layers, (width, inner) = encoder.config.num_hidden_layers, _widths(encoder)
    fixed, half = fixed_layers(settings, layers), hardware.in_bfloat16()
    upper = layers - fixed
    copies = BFLOAT16 * upper * (4 * width**2 + 2 * width * inner) if half else 0  # of the matrices, made each step
    of_width, of_inner = KEPT_FLOATS[settings.trains]
    sequences, length = max(batches, key=lambda shape: shape[0] * shape[1])
    a_token = FLOAT32 * (of_width * width + of_inner * inner) * (KEPT_IN_HALF if half else 1)
    if half:  # the plain attention keeps its weights, in both precisions
        a_token += (FLOAT32 + BFLOAT16) * encoder.config.num_attention_heads * length
    tokens = sum(count * longest for count, longest in (*lengths.train, *lengths.validation))
    return Memory(
        weights=FLOAT32 * (weights + lengths.rows * width) + copies,
        gradients=FLOAT32 * trainable,
        optimizer=FLOAT32 * trainable * (1 if settings.optimizer == "sgd" else 2),
        caches=min(MAX_CACHE_BYTES, FLOAT32 * tokens * width) if fixed else 0,
        activations=round(upper * sequences * length * a_token + FLOAT32 * sequences * length * width),
    )
