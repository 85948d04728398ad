"""Lines that several programs of this lesson begin with: the model with its heads, and how tokens are corrupted."""

from __future__ import annotations

from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.corruption import Shares

OURS = """import torch
from demos.bert.model.models import ModelStore
from demos.bert.pretraining.heads import our_heads  # in this project's folder: they are packed in assets/pretraining

found = our_heads(ModelStore().get("minilm"))
"""
OUR_WORDS = "tokenizer, encoder, head = found.tokenizer, found.encoder.model, found.word_logits\n"
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
CHOOSE = """never = set(tokenizer.all_special_ids) - {{tokenizer.unk_token_id}}
units = {{}}  # what is chosen at once
for place, number in enumerate(ids.tolist()):
    if number not in never:
        units.setdefault({key}, []).append(place)
units = list(units.values())
count, places = max(1, round(len(ids) * {chosen})), []
order = rng.permutation(len(units))
for index in order:
    if len(places) < count and len(places) + len(units[index]) <= count:
        places += units[index]
places = sorted(places or units[order[0]])
labels = ids[places].copy()  # the text's own tokens
drawn = rng.random(len(places))
replaced = [place for place, number in zip(places, drawn) if {masked} <= number < {until}]
ids[[place for place, number in zip(places, drawn) if number < {masked}]] = tokenizer.mask_token_id
ids[replaced] = rng.integers(tokenizer.vocab_size, size=len(replaced))
"""


def begin_lines(spec: ModelSpec) -> str:
    """A program's first lines: `tokenizer`, `encoder` and `head`. `spec` is the encoder's own, as in `Pretrained`."""
    if not spec.hub_id:
        return OURS + OUR_WORDS
    return THEIRS.format(name=spec.hub_id, revision=spec.revision, head=HEADS[spec.segments])


def choose_lines(shares: Shares, whole_words: bool = False) -> str:
    """The lines that corrupt `ids` with `rng`, leaving `places` and `labels`."""
    until = round(shares.masked + shares.replaced, 6)
    key = "inputs.word_ids()[place]" if whole_words else "place"
    return CHOOSE.format(key=key, chosen=shares.chosen, masked=shares.masked, until=until)
