"""The program of one head by contribution: it prints the norms, with transformers alone."""

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.bert.model.layer_weights import LAYERS, PARTS, values_of
from demos.counting import from_zero
from demos.figures.program import begin, texts_of


def contribution_code(spec: ModelSpec, encoding: Encoding, layer: int, head: int) -> str:
    """Prints the norms |alpha_ij f(x_j)| of this head, one row per query; then that all heads add up to the model's.

    The last line is the largest difference between the sum of all vectors, with W_O's bias, and what the layer's own
    output projection returns.
    """
    bias = "output.bias"
    if spec.architecture == "modernbert":  # as published, it has none
        bias = "(0 if output.bias is None else output.bias)"
    call = "layer" if spec.architecture == "albert" else 0  # its one module is called once a layer
    return f"""{begin(spec, texts_of(encoding), attentions=True)}
layer, head = {layer}, {head}  # {from_zero(layer=layer, head=head)}
block = {LAYERS[spec.architecture]}[layer]
output = block.{PARTS[spec.architecture]["output"]}  # nn.Linear stores W_O transposed
projected = []
output.register_forward_hook(lambda module, args, result: projected.append(result[0]))  # what attention really adds
with torch.inference_mode():
    run = model(**inputs, output_hidden_states=True, output_attentions=True)
    x, weights = run.hidden_states[layer][0], run.attentions[layer][0]  # [n, d], [heads, n, n]
    heads, d_k = len(weights), x.shape[1] // len(weights)
    values = {values_of(spec.architecture)}.view(len(x), heads, d_k).transpose(0, 1)  # [heads, n, d_k]
    slices = output.weight.view(-1, heads, d_k).transpose(0, 1)  # [heads, d, d_k]: W_O^(h), transposed
    transformed = values @ slices.transpose(1, 2)  # f(x_j) = (x_j W_V + b_V) W_O: [heads, n, d]
    norms = weights * transformed.norm(dim=-1)[:, None, :]  # |alpha_ij f(x_j)| = alpha_ij |f(x_j)|
    added = (weights @ transformed).sum(dim=0) + {bias}  # [n, d]
for token, row in zip(inputs.tokens(), norms[head]):
    print(token, [round(norm, 3) for norm in row.tolist()])
print("largest difference", (added - projected[{call}]).abs().max().item())
"""
