"""The programs of "Fill the mask": the same guesses with transformers, or with our heads."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.figures.program import texts_of
from demos.lessons.pretraining.program_lines import begin_lines


def fill_code(spec: ModelSpec, encoding: Encoding, places: Sequence[int], focus: int, top: int) -> str:
    """Prints `top` guesses for the token `focus` with these `places` hidden, then each layer's first word.

    `spec` is the encoder's own, as in `Pretrained`.
    """
    return f"""{begin_lines(spec)}
inputs = tokenizer({texts_of(encoding)}, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
inputs["input_ids"][0, {list(places)}] = tokenizer.mask_token_id
with torch.inference_mode():
    states = encoder(**inputs, output_hidden_states=True).hidden_states  # layers + 1 of [1, tokens, width]
    logits = head(torch.stack(states)[:, 0, {focus}])  # [layers + 1, words]
chances = logits.softmax(dim=-1)
for index in chances[-1].topk({top}).indices.tolist():
    print(tokenizer.convert_ids_to_tokens(index), round(chances[-1, index].item(), 5))
print([tokenizer.convert_ids_to_tokens(index) for index in logits.argmax(dim=-1).tolist()])
"""
