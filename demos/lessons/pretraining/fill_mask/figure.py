"""A hidden word's guesses: the sentence to click on, the likeliest words as bars, every layer's; and the program."""

from collections.abc import Collection, Sequence

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.bert.pretraining.lens import Distribution, leads_from
from demos.counting import state_names
from demos.figures.numbers import percent
from demos.figures.program import texts_of
from demos.figures.token_chips import hue_style, token_label, visible
from demos.lessons.pretraining.program_lines import begin_lines
from demos.templates import templates
from demos.widgets.token_picker.figure import PICKED_AMONG

TEXT = templates(__file__)
LENS_WORDS = 5
FILL_MODEL = "fill = model"
OUR_FILL_MODEL = """# The same model without the head for pairs
fill = BertForMaskedLM._from_config(model.config, dtype=torch.float32).eval()
fill.load_state_dict(model.state_dict(), strict=False)
fill.tie_weights()"""
FILL = """
# The same by a pipeline: a text with [MASK] in, words and their probabilities out
from transformers import BertForMaskedLM, pipeline

{model}
fill = pipeline("fill-mask", model=fill, tokenizer=tokenizer, top_k={top})
for guess in fill(tokenizer.decode(inputs["input_ids"][0, 1:-1])){hidden}:
    print(guess["token_str"], round(guess["score"], 5))
"""


def sentence_html(whole: Encoding, places: Collection[int], focus: int, marks: Sequence[str], mask_token: str) -> str:
    """The first 128 tokens as switches, hidden ones pressed; script.js reads `data-mark`."""
    chips = []
    for place, token in enumerate(whole.tokens[:PICKED_AMONG]):
        kinds = {"hidden": place in places, "focus": place == focus, "joined": token.startswith("##")}
        chips.append(
            {
                "place": place,
                "token": token,
                "visible": visible(token),
                "special": whole.special_tokens_mask[place],
                "hidden": place in places,
                "focus": place == focus,
                "kind": " ".join(["fill-chip", *(kind for kind, holds in kinds.items() if holds)]),
                "style": hue_style(whole, place),
                "mark": f"{place}.{whole.input_ids[place]}",
            }
        )
    return TEXT.sentence(
        chips=chips,
        marks=marks,
        mask_token=mask_token,
        left=len(whole) - PICKED_AMONG,
        focus_below=focus if focus >= PICKED_AMONG else None,
        several=len(places) > 1,
        picked=not marks and mask_token not in (whole.tokens[place] for place in places),
    )


def best_html(guesses: Distribution, known: bool, style: str = "", widest: float = 0.0) -> str:
    """The likeliest words as bars, the longest first; the true word, where it is `known`, is framed, or added below.

    The longest bar is `widest`, or where that is smaller the first word's probability.
    """
    return TEXT.best(guesses, known, style, max(widest, guesses.best[0].probability), token_label, percent)


def summary_html(guesses: Distribution, place: int, known: bool, vocabulary: int) -> str:
    """The place, the true word's rank and probability, the entropy and the best ones' share, in three lines."""
    return TEXT.summary(guesses, place, known, vocabulary, np.log(vocabulary), token_label, percent)


def lens_html(layers: Sequence[Distribution], known: bool, style: str = "") -> str:
    """Every layer's first words, darker for a higher probability, and the target word's rank: one row per state."""
    last = len(layers) - 1
    nearest = min(range(len(layers)), key=lambda number: (layers[number].rank, -number))
    return TEXT.lens(
        layers=_named(layers),
        shown=LENS_WORDS,
        known=known,
        style=style,
        first=leads_from(layers),
        nearest=nearest if nearest < last else None,
        token_label=token_label,
        percent=percent,
    )


def numbers_html(guesses: Distribution, layers: Sequence[Distribution]) -> str:
    """The likeliest words and the layers, as tables of numbers."""
    shares = np.cumsum([guess.probability for guess in guesses.best])
    return TEXT.numbers(list(zip(guesses.best, shares, strict=True)), _named(layers), token_label)


def _named(layers: Sequence[Distribution]) -> list[dict[str, object]]:
    """Each layer's distribution with the name of its state."""
    names = state_names(len(layers) - 1)
    return [vars(layer) | {"name": name} for name, layer in zip(names, layers, strict=True)]


def fill_code(spec: ModelSpec, encoding: Encoding, places: Sequence[int], focus: int, top: int) -> str:
    """Prints `top` guesses for the token `focus` with these `places` hidden, then each layer's first word.

    `spec` is the encoder's own, as in `Pretrained`. Of one text, it prints the guesses of transformers' pipeline too.
    """
    hidden = f"[{sorted(places).index(focus)}]" if len(places) > 1 else ""  # a list of guesses for each [MASK]
    masked = FILL_MODEL if spec.hub_id else OUR_FILL_MODEL
    pipeline = "" if encoding.text_pair else FILL.format(model=masked, top=top, hidden=hidden)
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
{pipeline}"""
