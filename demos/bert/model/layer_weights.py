"""The place of each architecture's layers; one layer's weights as numpy arrays, under the same names for all."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Linear:
    """y = x W + b; torch stores W transposed, [outputs, inputs]."""

    weight: np.ndarray  # <float32>[out, in]
    bias: np.ndarray  # <float32>[out]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """[n, in] -> [n, out]"""
        return x @ self.weight.T + self.bias


@dataclass(frozen=True)
class Norm:
    """The learned parameters of LayerNorm: a gain and an offset for each of the d dimensions."""

    gain: np.ndarray  # <float32>[d], gamma; torch calls it weight
    offset: np.ndarray  # <float32>[d], beta; torch calls it bias
    epsilon: float  # keeps the division from zero; BERT's is 1e-12


@dataclass(frozen=True)
class LayerWeights:
    """All that one layer has learnt; d wide, A heads of d_k = d / A, feed-forward f wide (BERT: f = 4d)."""

    query: Linear  # W_Q [d, d]: as stored, head h owns its rows h * d_k to (h + 1) * d_k
    key: Linear
    value: Linear
    output: Linear  # W_O [d, d]: as stored, head h owns its columns h * d_k to (h + 1) * d_k
    attention_norm: Norm
    inner: Linear  # W_1 [f, d], as stored
    outer: Linear  # W_2 [d, f], as stored
    output_norm: Norm
    activation: str  # transformers' name of the function between W_1 and W_2; "gelu" in every published BERT
    num_heads: int


@dataclass(frozen=True)
class HeadWeights:
    """All that the heads of one layer have learnt, and the LayerNorm beside them; in every architecture.

    BERT's is behind attention and its residual connection, ModernBERT's before attention (its first layer has none).
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    before: Norm | None
    behind: Norm | None
    rotary_base: float | None  # of the frequencies by which positions rotate queries and keys; None: they don't
    num_heads: int


# The attribute of each part of a layer in each architecture of transformers, by the names of `LayerWeights`.
_BERT = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "output_norm": "output.LayerNorm",
}
PARTS = {
    "bert": _BERT,
    "electra": _BERT,
    "roberta": _BERT,
    "xlm-roberta": _BERT,
    "distilbert": {
        "query": "attention.q_lin", "key": "attention.k_lin", "value": "attention.v_lin",
        "output": "attention.out_lin", "attention_norm": "sa_layer_norm",
        "inner": "ffn.lin1", "outer": "ffn.lin2", "output_norm": "output_layer_norm",
    },
    "albert": {
        "query": "attention.query", "key": "attention.key", "value": "attention.value",
        "output": "attention.dense", "attention_norm": "attention.LayerNorm",
        "inner": "ffn", "outer": "ffn_output", "output_norm": "full_layer_layer_norm",
    },
    "modernbert": {"output": "attn.Wo"},  # its other parts are not BERT's; see `head_weights`
}  # fmt: skip
# The list of a model's layers, as a program writes it; ALBERT has one layer, which it applies again and again.
LAYERS = dict.fromkeys(PARTS, "model.encoder.layer") | {
    "distilbert": "model.transformer.layer",
    "albert": "(model.config.num_hidden_layers * [model.encoder.albert_layer_groups[0].albert_layers[0]])",
    "modernbert": "model.layers",
}


def values_of(architecture: str) -> str:
    """The values of all heads of a layer, as a program writes them: of its module `block` and its input `x` [n, d]."""
    if architecture == "modernbert":
        return "block.attn.Wqkv(block.attn_norm(x))[:, -x.shape[1] :]"
    return f"block.{PARTS[architecture]['value']}(x)"


def layer_of(model: Any, layer: int) -> Any:
    """The module of encoder layer `layer`, wherever this architecture keeps it."""
    if hasattr(model, "transformer"):
        return model.transformer.layer[layer]
    if hasattr(model, "layers"):
        return model.layers[layer]
    shared = getattr(model.encoder, "albert_layer_groups", None)
    return model.encoder.layer[layer] if shared is None else shared[0].albert_layers[0]


def _architecture(module: Any) -> str:
    """The name in PARTS of a layer's kind."""
    marks = {"sa_layer_norm": "distilbert", "full_layer_layer_norm": "albert", "mlp_norm": "modernbert"}
    return next((name for mark, name in marks.items() if hasattr(module, mark)), "bert")


def activation_of(module: Any) -> Any:
    """The function between W_1 and W_2 of a layer."""
    path = {"bert": "intermediate.intermediate_act_fn", "distilbert": "ffn.activation", "albert": "activation"}
    return attrgetter(path[_architecture(module)])(module)


def layer_parts(module: Any) -> dict[str, Any]:
    """A layer's submodules by the names of `LayerWeights`: each architecture has its own."""
    return {name: attrgetter(path)(module) for name, path in PARTS[_architecture(module)].items()}


def layer_weights(model: Any, layer: int) -> LayerWeights:
    """The weights of encoder layer `layer` (0 is the first); nothing is copied where they are float32 on the CPU."""
    config = model.config
    weights: dict[str, Any] = {
        name: _norm(part) if name.endswith("norm") else _linear(part)
        for name, part in layer_parts(layer_of(model, layer)).items()
    }
    activation = getattr(config, "hidden_act", None) or config.activation  # DistilBERT says `activation`
    return LayerWeights(**weights, activation=str(activation), num_heads=config.num_attention_heads)


def head_weights(model: Any, layer: int) -> HeadWeights:
    """The weights of the heads of layer `layer` (0 is the first)."""
    config = model.config
    if config.model_type != "modernbert":
        own = layer_weights(model, layer)
        return HeadWeights(own.query, own.key, own.value, own.output, None, own.attention_norm, None, own.num_heads)
    module = layer_of(model, layer)
    joined = _linear(module.attn.Wqkv)  # one matrix, in this order
    rows = zip(np.split(joined.weight, 3), np.split(joined.bias, 3), strict=True)
    query, key, value = (Linear(weight, bias) for weight, bias in rows)
    before = _norm(module.attn_norm) if layer else None
    base = config.rope_parameters[module.attention_type]["rope_theta"]
    return HeadWeights(query, key, value, _linear(module.attn.Wo), before, None, base, config.num_attention_heads)


def _linear(part: Any) -> Linear:
    return Linear(_numbers(part.weight), _bias(part))


def _norm(part: Any) -> Norm:
    return Norm(_numbers(part.weight), _bias(part), float(part.eps))


def _bias(part: Any) -> np.ndarray:
    """Zeros where it has none, as in ModernBERT."""
    return np.zeros(len(part.weight), np.float32) if part.bias is None else _numbers(part.bias)


def _numbers(parameter: Any) -> np.ndarray:
    return parameter.detach().cpu().float().numpy()
