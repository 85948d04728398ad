"""The ledger of one encoder layer: every intermediate computed from the weights and compared with the model's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from demos.bert.attention.ablation import sharing_weights
from demos.bert.attention.queries_keys import split_heads
from demos.bert.encoder.norm_and_feed_forward import BlockLedger, complete
from demos.bert.encoder.self_attention import AttentionLedger, attend, visible
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.layer_weights import LayerWeights, layer_of, layer_parts, layer_weights
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent
from demos.bert.model.run import Run

CLOSES = 1e-5  # the largest difference that float32 accounts for
MAX_BYTES = 16 * 2**20  # of the ledgers that are kept, with their runs


@dataclass(frozen=True)
class LayerLedger:
    """One layer's whole arithmetic for one input; `own` are the model's tensors of the same names.

    With padding, the last `padding` of the n tokens are [PAD]. With `causal`, this layer alone is masked: what enters
    it comes from layers that look both ways.
    """

    layer: int
    causal: bool
    padding: int
    weights: LayerWeights
    attention: AttentionLedger
    block: BlockLedger
    read_own: Callable[[], Mapping[str, np.ndarray]]  # -> `own`

    @cached_property
    def own(self) -> Mapping[str, np.ndarray]:
        """The model's own tensors, by the names of `steps`: read when a view compares with them."""
        return self.read_own()

    @property
    def steps(self) -> dict[str, np.ndarray]:
        """Our own tensors, by name, that the model has as well."""
        of_attention, of_block = ("query", "key", "value", "weights", "concat"), ("t1", "t2", "t3", "inner", "active")
        return {name: getattr(self.attention, name) for name in of_attention} | {
            name: getattr(self.block, name) for name in (*of_block, "t4", "t5", "h")
        }

    @cached_property
    def differences(self) -> dict[str, float]:
        """For each step the largest `difference` between ours and the model's own tensor, over all tokens."""
        return {name: difference(ours, self.own[name]) for name, ours in self.steps.items()}

    @property
    def largest(self) -> float:
        """The largest of all differences."""
        return max(self.differences.values())


def difference(ours: np.ndarray, own: np.ndarray) -> float:
    """The largest |ours - own| / max(1, |own|): a number up to 1 by how far it is off, a larger one by what part of it.

    float32 carries seven digits of a number, however large; BERT's T4 holds numbers beyond 100.
    """
    own = own.astype(np.float64)
    return float((np.abs(ours - own) / np.maximum(1.0, np.abs(own))).max())


def layer_ledger(loaded: LoadedModel, run: Run, layer: int, *, causal: bool = False, padding: int = 0) -> LayerLedger:
    """Every step of encoder layer `layer` (0 is the first) for this run, computed in numpy from the model's weights.

    `causal` hides from each token what comes after it. `padding` appends so many [PAD] tokens, as many as fit into
    the model's length, and masks them: that takes a separate forward pass. The ledgers of short inputs are kept for
    a while: other tokens, heads and numbers of the same layer are read from the same one.
    """
    key = id(run), layer, causal, padding  # the run is kept as well, so that no other has its id
    if (entry := _ledgers.get(key)) is None:
        entry = run, _computed(loaded, run, layer, causal, padding)
        _ledgers.put(key, entry)
    return entry[1]


def _computed(loaded: LoadedModel, run: Run, layer: int, causal: bool, padding: int) -> LayerLedger:
    model = loaded.model
    room = min(MAX_TOKENS, model.config.max_position_embeddings) - len(run.encoding)
    pads = max(0, min(padding, room))
    x = padded_states(loaded, run, pads)[layer] if pads else run.hidden_states[layer]
    mask = visible(len(x), causal=causal, padding=pads)
    weights = layer_weights(model, layer)
    attention = attend(weights, x, mask)
    block = complete(weights, x, attention.output)
    own = partial(own_tensors, layer_of(model, layer), x, mask, weights.num_heads)
    return LayerLedger(layer, causal, pads, weights, attention, block, own)


def _nbytes(entry: tuple[Run, LayerLedger]) -> int:
    """About what a ledger takes in memory, with its run: our tensors and, once they are read, the model's own."""
    run, ledger = entry
    ours = [*ledger.steps.values(), *ledger.steps.values(), ledger.attention.scores, ledger.attention.scaled]
    return run.nbytes + sum(tensor.nbytes for tensor in ours)


_ledgers: Recent[tuple[Run, LayerLedger]] = Recent(MAX_BYTES, _nbytes)


def padded_states(loaded: LoadedModel, run: Run, pads: int) -> np.ndarray:
    """The model's hidden states [L + 1, n + pads, d] for the run's input with `pads` masked [PAD] tokens behind it."""
    with torch.inference_mode():
        states = loaded.model(**model_inputs(loaded, [run.encoding], pads), output_hidden_states=True).hidden_states
    return np.stack([state[0].numpy() for state in states])


def own_tensors(layer: Any, x: np.ndarray, mask: np.ndarray, num_heads: int) -> dict[str, np.ndarray]:
    """The intermediate tensors of the model's own `layer` for x [n, d], by the names of `LayerLedger.steps`.

    Read by hooks on a copy of that one layer, which shares its weights: the model itself, which other threads use,
    gets none. `mask` <bool>[n, n] is added to the scores as transformers adds its own.
    """
    module = sharing_weights(layer)
    parts = layer_parts(module)
    seen: dict[str, np.ndarray] = {}

    def note(name: str, tensor: torch.Tensor) -> None:
        seen[name] = tensor[0].numpy().copy()

    def hook(before: str, after: str, _module: Any, inputs: tuple[torch.Tensor, ...], result: torch.Tensor) -> None:
        """Keeps what went into a module, where that has a name, and what came out of it."""
        if before:
            note(before, inputs[0])
        note(after, result)

    for part, before, after in (
        ("query", "", "query"),
        ("key", "", "key"),
        ("value", "", "value"),
        ("output", "concat", "t1"),
        ("attention_norm", "t2", "t3"),
        ("inner", "", "inner"),
        ("outer", "active", "t4"),
        ("output_norm", "t5", "h"),
    ):
        parts[part].register_forward_hook(partial(hook, before, after))
    core = module.attention.self if hasattr(module.attention, "self") else module.attention
    core.register_forward_hook(lambda _module, _inputs, result: note("weights", result[1]))
    added = torch.zeros(1, 1, *mask.shape).masked_fill(~torch.from_numpy(mask), torch.finfo(torch.float32).min)
    with torch.inference_mode():
        module(torch.from_numpy(np.array(x))[None], attention_mask=added)
    for name in ("query", "key", "value"):
        seen[name] = split_heads(seen[name], num_heads)
    return seen
