"""The program of "Many heads as one": prints the numbers on the page for this input and these choices."""

from __future__ import annotations

from demos.bert.attention.rollout import Recipe
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.figures.program import model_lines, texts_of

ROLLOUT = """weights = np.eye(n)
for layer in attentions[:{end}]:
    weights = ({rest} * layer.mean(axis=0) + {residual} * np.eye(n)) @ weights"""
WORDS = """
words = list(zip(inputs.sequence_ids(0), inputs.word_ids(0)))
starts = [i for i in range(n) if i == 0 or words[i][1] is None or words[i] != words[i - 1]]
weights = np.add.reduceat(weights, starts, axis=1)  # to a split word: the sum over its pieces
weights = np.add.reduceat(weights, starts, axis=0) / np.diff([*starts, n])[:, None]  # from it: their mean
names = [names[a] + "".join(name.removeprefix("##") for name in names[a + 1 : b])
         for a, b in zip(starts, [*starts[1:], n])]
special, segments = special[starts], segments[starts]
"""
HIDE = """
shown = np.flatnonzero(special == 0)
weights, segments = weights[np.ix_(shown, shown)], segments[shown]
names = [names[i] for i in shown]
"""
RENORMALISE = "weights /= weights.sum(axis=1, keepdims=True)\n"
QUARTER = """
rows, columns = np.flatnonzero(segments == {rows}), np.flatnonzero(segments == {columns})
weights, names = weights[np.ix_(rows, columns)], [names[i] for i in rows]
"""


def together_code(spec: ModelSpec, encoding: Encoding, recipe: Recipe) -> str:
    """Prints the recipe's matrix, a row a query, and each row's sum."""
    needed, source = model_lines(spec)
    keep = "" if spec.segments else '\ndel inputs["token_type_ids"]  # this model has no segments'
    return f"""{needed}import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, attn_implementation="eager").eval()

inputs = tokenizer({texts_of(encoding)}, truncation=True, max_length={MAX_TOKENS},
                   return_special_tokens_mask=True, return_token_type_ids=True, return_tensors="pt")
special = inputs.pop("special_tokens_mask")[0].numpy()
segments = inputs["token_type_ids"][0].numpy(){keep}
with torch.inference_mode():
    attentions = torch.cat(model(**inputs, output_attentions=True).attentions)
attentions = attentions.double().numpy()  # [layers, heads, tokens, tokens]
names, n = inputs.tokens(), len(special)

{_joined(recipe)}
{_steps(recipe, encoding)}
for name, row in zip(names, weights):
    print(name, row.round(3).tolist(), "sum", row.sum().round(3))
"""


def _joined(recipe: Recipe) -> str:
    """The lines that set `weights` [n, n]."""
    if recipe.what == "rollout":
        return ROLLOUT.format(
            end=recipe.layer + 1, rest=round(1 - recipe.residual, 2), residual=round(recipe.residual, 2)
        )
    if recipe.what == "head":
        return f"weights = attentions[{recipe.layer}, {recipe.head}]"
    over, how = recipe.what.split("-")
    return {
        "heads": f"weights = attentions[{recipe.layer}].{how}(axis=0)",
        "layers": f"weights = attentions[:, {recipe.head}].{how}(axis=0)",
        "all": f"weights = attentions.{how}(axis=(0, 1))",
    }[over]


def _steps(recipe: Recipe, encoding: Encoding) -> str:
    """The lines that follow: words, hidden special tokens, a pair's quarter."""
    lines = WORDS if recipe.words else ""
    if recipe.specials != "show":
        lines += HIDE + (RENORMALISE if recipe.specials == "renormalise" else "")
    if recipe.quarter != "all" and encoding.sentence_b_start is not None:
        lines += QUARTER.format(rows="AB".index(recipe.quarter[0]), columns="AB".index(recipe.quarter[-1]))
    return lines
