"""The program of the part: the changes that another last word makes in the decoder."""

from __future__ import annotations

from demos.bert.encoder.masks import with_last_word
from demos.lessons.family.program_decoder import DECODER


def changes_code(text: str, word: str) -> str:
    """Prints 1 - cosine of the last layer's states before and after, up to the first token that differs."""
    return f"""{DECODER}
states = []
for text in ({text!r}, {with_last_word(text, word)!r}):
    ids = torch.tensor([tokenizer(text)["input_ids"][:-1]])  # without [SEP]
    with torch.inference_mode():
        hidden = model.bert(ids, output_hidden_states=True, use_cache=False).hidden_states
    states.append((ids[0].tolist(), hidden[-1][0]))
(old_ids, old), (new_ids, new) = states
for at, (old_id, new_id) in enumerate(zip(old_ids, new_ids)):
    change = 1 - torch.cosine_similarity(old[at], new[at], dim=0).item()
    print(tokenizer.convert_ids_to_tokens(old_id), round(change, 4))
    if old_id != new_id:
        break
"""
