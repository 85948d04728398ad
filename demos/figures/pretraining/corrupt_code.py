"""The programs of "The corruption machine" and "Supervised or not?": the same draw, the same losses."""

from __future__ import annotations

from dataclasses import dataclass

from demos.bert.catalogue import ModelSpec
from demos.bert.encoding import MAX_TOKENS, Encoding
from demos.figures.code import texts_of
from demos.figures.pretraining.fill_code import HEADS, OURS, THEIRS

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


@dataclass(frozen=True)
class Settings:
    """What one draw is made with."""

    seed: int
    chosen: float
    masked: float
    replaced: float
    whole_words: bool


def begin_lines(spec: ModelSpec) -> str:
    """A program's first lines: `tokenizer`, `encoder` and `head`. `spec` is the encoder's own, as in `Pretrained`."""
    return THEIRS.format(name=spec.hub_id, revision=spec.revision, head=HEADS[spec.segments]) if spec.hub_id else OURS


def choose_lines(settings: Settings) -> str:
    """The lines that corrupt `ids` with `rng`, leaving `places` and `labels`."""
    until = round(settings.masked + settings.replaced, 6)
    key = "inputs.word_ids()[place]" if settings.whole_words else "place"
    return CHOOSE.format(key=key, chosen=settings.chosen, masked=settings.masked, until=until)


def corrupt_code(spec: ModelSpec, encoding: Encoding, settings: Settings) -> str:
    """Prints each chosen token, what is read in its place, and its loss; then the mean."""
    return f"""import numpy as np
{begin_lines(spec)}
inputs = tokenizer({texts_of(encoding)}, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
ids = inputs["input_ids"][0].numpy()  # what is changed in it is changed in inputs
rng = np.random.default_rng({settings.seed})
{choose_lines(settings)}
with torch.inference_mode():
    states = encoder(**inputs).last_hidden_state[0, places]
    losses = torch.nn.functional.cross_entropy(head(states), torch.tensor(labels), reduction="none")
for place, label, loss in zip(places, labels.tolist(), losses.tolist()):
    print(place, *tokenizer.convert_ids_to_tokens([label, ids[place]]), round(loss, 4))
print("mean", round(losses.mean().item(), 4))
"""
