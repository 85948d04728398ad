"""The program behind a word's curves: prints their numbers layer by layer, with transformers alone."""

from collections.abc import Sequence

from demos.bert.embeddings.word_occurrences import Use
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.figures.program import model_lines


def word_code(
    spec: ModelSpec, uses: Sequence[Use], senses: Sequence[str], picked: tuple[int, int], averaged: bool
) -> str:
    """Prints each layer's average cosine of one sense and of different senses, or the picked pair's, and the static."""
    needed, source = model_lines(spec)
    listed = "".join(
        f"    ({use.sentence!r}, {use.start}, {use.end}, {None if use.sense is None else senses[use.sense]!r}),\n"
        for use in uses
    )
    i, j = picked
    printed = f"""for layer, row in enumerate(cosine[:, {i}, {j}]):
    print(layer, round(row.item(), 3))"""
    if averaged:
        printed = """known = [i for i, use in enumerate(uses) if use[3] is not None]
pairs = [(i, j) for i in known for j in known if i < j]
same = [(i, j) for i, j in pairs if uses[i][3] == uses[j][3]]
different = [(i, j) for i, j in pairs if uses[i][3] != uses[j][3]]
for layer, matrix in enumerate(cosine):
    averages = [sum(matrix[i, j].item() for i, j in kind) / len(kind) for kind in (same, different)]
    print(layer, *[round(average, 3) for average in averages])"""
    return f"""{needed}import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()

uses = [  # the sentence, where the word begins and ends in it, its sense
{listed}]
vectors, static = [], []
for sentence, start, end, sense in uses:
    inputs = tokenizer(sentence, truncation=True, max_length={MAX_TOKENS}, return_offsets_mapping=True,
                       return_tensors="pt")
    offsets = inputs.pop("offset_mapping")[0].tolist()
    pieces = [k for k, (a, b) in enumerate(offsets) if a < end and b > start]  # the word's own tokens
    with torch.inference_mode():
        hidden_states = model(**inputs, output_hidden_states=True).hidden_states
        vectors.append(torch.stack([states[0, pieces].mean(dim=0) for states in hidden_states]))
        static.append(model.get_input_embeddings().weight[inputs["input_ids"][0, pieces]].mean(dim=0))
vectors = normalize(torch.stack(vectors), dim=-1)  # [uses, layers, width]
cosine = torch.einsum("ild,jld->lij", vectors, vectors)  # [layers, uses, uses]
static = normalize(torch.stack(static), dim=-1)
print("static", round((static[{i}] @ static[{j}]).item(), 3))
{printed}
"""
