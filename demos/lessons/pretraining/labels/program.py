"""The program of "Supervised or not?": the labels that this text gives in this pass, with a tokenizer alone."""

from __future__ import annotations

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.pretraining.corruption import PAPER
from demos.figures.program import model_lines
from demos.lessons.pretraining.program_lines import choose_lines


def labels_code(spec: ModelSpec, sentences: list[str], others: tuple[str, ...], seed: int) -> str:
    """Prints the label of each masked word, and then of the next sentence."""
    needed, source = model_lines(spec)
    return f"""{needed}import numpy as np
from transformers import AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
rng = np.random.default_rng({seed})
sentences = {sentences!r}
others = {others!r}
border = int(rng.integers(1, len(sentences))) if len(sentences) > 1 else 1
is_next = len(sentences) > 1 and bool(rng.random() < 0.5)
first = " ".join(sentences[:border])
second = " ".join(sentences[border:]) if is_next else others[int(rng.integers(len(others)))]

inputs = tokenizer(first, second, truncation=True, max_length={MAX_TOKENS})
ids = np.array(inputs["input_ids"])
{choose_lines(PAPER)}
for place, label in zip(places, labels.tolist()):
    print(place, *tokenizer.convert_ids_to_tokens([ids[place], label]))
print("IsNext" if is_next else "NotNext")
"""
