"""The programs of the encoder lesson's self-attention and block: each prints the numbers on the page."""

from demos.bert.encoder.layer_trace import LayerLedger
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.counting import from_zero
from demos.figures.program import begin, model_lines, texts_of

LOOPS = """def attention(q, k, v, seen):  # rows are tokens, d_k numbers each
    d_k, result = len(q[0]), []
    for i in range(len(q)):  # for each query
        scores = []
        for j in range(len(k)):  # for each key
            product = 0.0
            for c in range(d_k):  # for each number
                product += q[i][c] * k[j][c]
            scores.append((product, product / d_k**0.5 if seen[i][j] else -math.inf))
        largest = max(scaled for _, scaled in scores)
        powers = [math.exp(scaled - largest) for _, scaled in scores]
        weights = [power / sum(powers) for power in powers]
        z = [0.0] * d_k
        for j in range(len(v)):  # for each value
            for c in range(d_k):
                z[c] += weights[j] * v[j][c]
        result.append((scores, weights, z))
    return result
"""
LOOPS_CALLED = "scores, weights, z = attention(q.tolist(), k.tolist(), v.tolist(), seen.tolist())[token]"

MATRICES = """def attention(q, k, v, seen):  # [n, d_k] each; seen [n, n]
    products = q @ k.T  # [n, n]
    scaled = (products / q.shape[1] ** 0.5).masked_fill(~seen, -math.inf)
    weights = scaled.softmax(dim=-1)  # each row sums to 1
    return products, scaled, weights, weights @ v
"""
MATRICES_CALLED = """products, scaled, weights, z = attention(q, k, v, seen)
scores = list(zip(products[token].tolist(), scaled[token].tolist()))
weights, z = weights[token].tolist(), z[token].tolist()"""


def selfattention_code(
    spec: ModelSpec, ledger: LayerLedger, encoding: Encoding, head: int, token: int, *, loops: bool
) -> str:
    """Prints q . k, scaled and weight of every key, then z: by loops in plain Python, or by matrices."""
    part, names = ("attention.self", ("query", "key", "value")) if spec.segments else ("attention", _DISTIL)
    seen = "torch.ones(n, n).tril().bool()" if ledger.causal else "torch.ones(n, n).bool()"
    if ledger.padding:
        seen += " & inputs.attention_mask[0].bool()"
    projections = ", ".join(f"part.{name}(x)[:, columns]" for name in names)
    function, called = (LOOPS, LOOPS_CALLED) if loops else (MATRICES, MATRICES_CALLED)
    needed, source = model_lines(spec)
    pads = f'padding="max_length", max_length={len(encoding) + ledger.padding}'
    length = pads if ledger.padding else f"max_length={MAX_TOKENS}"
    return f"""import math

{needed}import torch
from transformers import AutoModel, AutoTokenizer


{function}

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()
inputs = tokenizer({texts_of(encoding)}, truncation=True, {length}, return_tensors="pt")

layer, head, token = {ledger.layer}, {head}, {token}  # {from_zero(layer=ledger.layer, head=head)}
with torch.inference_mode():
    x = model(**inputs, output_hidden_states=True).hidden_states[layer][0]  # [n, d]: what enters the layer
    n, d_k = len(x), x.shape[1] // model.config.num_attention_heads
    part = {_stack(spec)}[layer].{part}
    columns = slice(head * d_k, (head + 1) * d_k)  # this head's part
    q, k, v = {projections}
seen = {seen}  # whether query i may see key j

{called}
for name, (product, scaled_product), weight in zip(inputs.tokens(), scores, weights):
    print(name, round(product, 4), round(scaled_product, 4), round(weight, 6))
print("z", [round(number, 4) for number in z])
"""


_DISTIL = ("q_lin", "k_lin", "v_lin")


def block_code(spec: ModelSpec, encoding: Encoding, layer: int, token: int, number: int) -> str:
    """Prints norm and one number of T1 to H for a token, and how far H is from the model's own."""
    if spec.segments:
        attention, names = "block.attention.self", ("query", "key", "value")
        output, norm1 = "block.attention.output.dense", "block.attention.output.LayerNorm"
        inner, outer, norm2 = "block.intermediate.dense", "block.output.dense", "block.output.LayerNorm"
    else:
        attention, names, output, norm1 = "block.attention", _DISTIL, "block.attention.out_lin", "block.sa_layer_norm"
        inner, outer, norm2 = "block.ffn.lin1", "block.ffn.lin2", "block.output_layer_norm"
    projections = ", ".join(f"heads(attention.{name}(x))" for name in names)
    return f"""{begin(spec, texts_of(encoding))}
layer, token, number = {layer}, {token}, {number}  # {from_zero(layer=layer)}


def layer_norm(t, norm):
    mean = t.mean(dim=-1, keepdim=True)
    deviation = (((t - mean) ** 2).mean(dim=-1, keepdim=True) + norm.eps).sqrt()
    return (t - mean) / deviation * norm.weight + norm.bias  # gain, offset


def gelu(t):
    return t * (1 + torch.erf(t / 2**0.5)) / 2


def heads(t):  # [n, d] -> [heads, n, d_k]
    return t.view(len(t), model.config.num_attention_heads, -1).transpose(0, 1)


with torch.inference_mode():
    hidden_states = model(**inputs, output_hidden_states=True).hidden_states
    x = hidden_states[layer][0]  # [n, d]
    block = {_stack(spec)}[layer]
    attention = {attention}
    q, k, v = {projections}
    weights = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(dim=-1)  # [heads, n, n]
    z = (weights @ v).transpose(0, 1).reshape(x.shape)  # the heads side by side
    T1 = {output}(z)
    T2 = x + T1
    T3 = layer_norm(T2, {norm1})
    T4 = {outer}(gelu({inner}(T3)))
    T5 = T3 + T4
    H = layer_norm(T5, {norm2})

for name, t in dict(x=x, T1=T1, T2=T2, T3=T3, T4=T4, T5=T5, H=H).items():
    print(name, round(t[token].norm().item(), 4), round(t[token, number].item(), 4))
print("difference", (H - hidden_states[layer + 1][0]).abs().max().item())
"""


def matrices_code(spec: ModelSpec, encoding: Encoding, layer: int, head: int) -> str:
    """Prints the shape of every matrix of a head, and how far T1, from all heads, is from the model's own."""
    if spec.segments:
        part, names, output = "attention.self", ("query", "key", "value"), "attention.output.dense"
    else:
        part, names, output = "attention", _DISTIL, "attention.out_lin"
    products = "\n    ".join(
        f"{letter} = X @ W_{letter} + part.{name}.bias[columns]" for letter, name in zip("QKV", names, strict=True)
    )
    weights = "\n    ".join(
        f"W_{letter} = part.{name}.weight[columns].T" for letter, name in zip("QKV", names, strict=True)
    )
    return f"""{begin(spec, texts_of(encoding))}
layer, head = {layer}, {head}  # {from_zero(layer=layer, head=head)}
block = {_stack(spec)}[layer]
part, output = block.{part}, block.{output}
heads = model.config.num_attention_heads
own = {{}}  # the model's T1, read by a hook
output.register_forward_hook(lambda module, args, result: own.update(T1=result[0]))
with torch.inference_mode():
    X = model(**inputs, output_hidden_states=True).hidden_states[layer][0]  # [n, d]
d_k = X.shape[1] // heads


def attention(head):
    columns = slice(head * d_k, (head + 1) * d_k)
    # nn.Linear stores W transposed, [outputs, inputs], and computes x W + b as x @ weight.T + bias
    {weights}
    {products}
    S = Q @ K.T / d_k**0.5
    alpha = S.softmax(dim=-1)
    return dict(X=X, W_Q=W_Q, Q=Q, K=K, V=V, S=S, alpha=alpha, Z=alpha @ V)


with torch.inference_mode():
    for name, matrix in attention(head).items():
        print(name, *matrix.shape)
    Z = torch.cat([attention(number)["Z"] for number in range(heads)], dim=1)  # the heads side by side
    T1 = Z @ output.weight.T + output.bias
print("all heads", *Z.shape)
print("T1", *T1.shape, "difference", (T1 - own["T1"]).abs().max().item())
"""


def _stack(spec: ModelSpec) -> str:
    return "model.encoder.layer" if spec.segments else "model.transformer.layer"
