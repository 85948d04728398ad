"""The programs of "Fill the mask": the same guesses with transformers, or with our heads."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.catalogue import ModelSpec
from demos.bert.encoding import MAX_TOKENS, Encoding
from demos.figures.code import texts_of

OURS = """import torch
from demos.bert.models import ModelStore
from demos.bert.pretraining.heads import our_heads  # in this project's folder: they are packed in assets/pretraining

found = our_heads(ModelStore().get("minilm"))
tokenizer, encoder, head = found.tokenizer, found.encoder.model, found.word_logits
"""
THEIRS = """import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

name, revision = {name!r}, {revision!r}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModelForMaskedLM.from_pretrained(name, revision=revision).eval()
encoder, head = model.base_model, {head}
"""
HEADS = {
    True: "model.cls",  # BERT
    False: "lambda x: model.vocab_projector(model.vocab_layer_norm(model.activation(model.vocab_transform(x))))",
}


def fill_code(spec: ModelSpec, encoding: Encoding, places: Sequence[int], focus: int, top: int) -> str:
    """Prints `top` guesses for the token `focus` with these `places` hidden, then each layer's first word.

    `spec` is the encoder's own, as in `Pretrained`.
    """
    begin = THEIRS.format(name=spec.hub_id, revision=spec.revision, head=HEADS[spec.segments]) if spec.hub_id else OURS
    return f"""{begin}
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
