"""The program of the part: both norms by PyTorch's own classes."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import begin


def norms_code(spec: ModelSpec, texts: Sequence[str]) -> str:
    """Prints the first numbers of the first sentence's second token, by both norms."""
    return f"""{begin(spec, repr(texts[0]))}# The batch: all sentences, padded to the longest.
inputs = tokenizer({list(texts)!r}, padding=True, truncation=True, max_length=14, return_tensors="pt")
layer = model.embeddings
x = layer.word_embeddings(inputs["input_ids"]) + layer.position_embeddings.weight[: inputs["input_ids"].shape[1]]
if hasattr(layer, "token_type_embeddings"):
    x = x + layer.token_type_embeddings(inputs["token_type_ids"])
b, n, d = x.shape
layer_norm = torch.nn.LayerNorm(d, elementwise_affine=False)
batch_norm = torch.nn.BatchNorm1d(d, affine=False)  # padding counts here
with torch.inference_mode():
    by_layer, by_batch = layer_norm(x), batch_norm(x.reshape(b * n, d)).reshape(b, n, d)
for name, normed in (("layer norm", by_layer), ("batch norm", by_batch)):
    print(name, *[f"{{number:.4f}}" for number in normed[0, 1, :6].tolist()])
"""
