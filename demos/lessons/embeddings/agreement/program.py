"""A program that prints the picked choice's Spearman correlation, with transformers and scipy alone."""

from __future__ import annotations

from demos.bert.embeddings.pooling import Choice
from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import encode_lines, model_lines, rows_lines
from demos.training.data.rated_pairs import Form


def agreement_code(spec: ModelSpec, choice: Choice, path: str, form: Form) -> str:
    """Prints Spearman's rho for this choice over the pairs in the file at `path`."""
    imports, rows = rows_lines(path, form)
    needed, source = model_lines(spec)
    return f"""{imports}{needed}import torch
from scipy.stats import spearmanr
from transformers import AutoModel, AutoTokenizer

{source}
{encode_lines(spec, choice)}

{rows}
cosines = []
for at in range(0, len(scores), 32):
    a, b = encode(first[at:at + 32]), encode(second[at:at + 32])
    cosines += torch.cosine_similarity(a.double(), b.double()).tolist()
print(round(spearmanr(cosines, scores).statistic, 3))
"""
