"""The program that prints the mean cosine of strangers on each layer, every pair written out."""

from demos.bert.embeddings.vector_space import CLS, MEAN, MOST_TOKENS, TOP, WORDS
from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import model_lines

TAKEN = {
    WORDS: """chosen = (~special).nonzero()  # [words' tokens, 2]: sentence, place
drawn = np.sort(np.random.default_rng(0).permutation(len(chosen))[:{most}])
rows, places = chosen[torch.from_numpy(drawn)].T""",
    MEAN: "rows = torch.arange(len(sentences))",
    CLS: "rows = torch.arange(len(sentences))",
}
VECTORS = {
    WORDS: "states[rows, places]",
    MEAN: "(states * mask).sum(dim=1) / mask.sum(dim=1)",
    CLS: "states[:, 0]",
}


def shape_code(spec: ModelSpec, sentences: int, kind: str, layer: int) -> str:
    """Prints each layer's mean cosine of strangers, and on the picked one the dimensions that contribute most."""
    needed, source = model_lines(spec)
    return f"""{needed}import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

{source}
with open("assets/data/library.tsv", encoding="utf-8") as file:  # a file of Inside BERT
    sentences = [line.rstrip("\\n").split("\\t")[1] for line in file][1:{sentences + 1}]
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()

inputs = tokenizer(sentences, padding=True, return_special_tokens_mask=True, return_tensors="pt")
special = inputs.pop("special_tokens_mask").bool()  # [CLS], [SEP] and padding
mask = inputs["attention_mask"][..., None]
with torch.inference_mode():
    hidden_states = model(**inputs, output_hidden_states=True).hidden_states
{TAKEN[kind].format(most=MOST_TOKENS)}
strangers = rows[:, None] != rows[None, :]  # pairs from two sentences
for layer, states in enumerate(hidden_states):
    vectors = ({VECTORS[kind]}).double()
    units = vectors / vectors.norm(dim=1, keepdim=True)
    print(layer, round((units @ units.T)[strangers].mean().item(), 4))
    if layer == {layer}:
        of_sentence = torch.zeros(len(sentences), units.shape[1]).double().index_add(0, rows, units)
        parts = (units.sum(dim=0) ** 2 - (of_sentence**2).sum(dim=0)) / strangers.sum()
        for dimension in parts.argsort(descending=True)[:{TOP}].tolist():
            print("  dimension", dimension, "adds", round(parts[dimension].item(), 4))
"""
