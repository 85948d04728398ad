"""The program of "The corruption machine": the same draw, the same losses."""

from __future__ import annotations

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.bert.pretraining.corruption import Shares
from demos.figures.program import texts_of
from demos.lessons.pretraining.program_lines import begin_lines, choose_lines


def corrupt_code(spec: ModelSpec, encoding: Encoding, seed: int, shares: Shares, whole_words: bool) -> str:
    """Prints each chosen token, what is read in its place, and its loss; then the mean."""
    return f"""import numpy as np
{begin_lines(spec)}
inputs = tokenizer({texts_of(encoding)}, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
ids = inputs["input_ids"][0].numpy()  # what is changed in it is changed in inputs
rng = np.random.default_rng({seed})
{choose_lines(shares, whole_words)}
with torch.inference_mode():
    states = encoder(**inputs).last_hidden_state[0, places]
    losses = torch.nn.functional.cross_entropy(head(states), torch.tensor(labels), reduction="none")
for place, label, loss in zip(places, labels.tolist(), losses.tolist()):
    print(place, *tokenizer.convert_ids_to_tokens([label, ids[place]]), round(loss, 4))
print("mean", round(losses.mean().item(), 4))
"""
