"""The effect of switching heads off, in words and in tables of bars that a screen reader can read as well."""

from collections.abc import Collection, Mapping, Sequence
from itertools import cycle

import numpy as np

from demos.bert.attention.ablation import Head
from demos.bert.attention.saliency import agreement
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.bert.model.layer_weights import LAYERS, PARTS
from demos.counting import state_names
from demos.figures.palette import CLASSES
from demos.figures.program import begin
from demos.figures.short_text import short
from demos.figures.token_chips import hue_style
from demos.lessons.attention.ablation.figure import SHOWN
from demos.templates import templates

TEXT, PROGRAM = templates(__file__), templates(__file__, "program.txt")
SHOWN_CLASSES = 10
SHOWN_TABLE_TOKENS = 64
ROUNDING = 1e-6  # of gradient x input in float32, where the true value is 0


def changed_html(cosines: np.ndarray, encoding: Encoding, off: int, heads: int, missing: Sequence[str] = ()) -> str:
    """The picture in two sentences. `cosines` [L + 1, n]; `off` of `heads` heads are switched off."""
    moved = np.flatnonzero((cosines < 1).any(axis=1))
    return TEXT.changed(
        off=off,
        heads=heads,
        missing=missing,
        first=state_names(len(cosines) - 1)[moved[0]] if len(moved) else "",
        mean=cosines[-1].mean(),
        lowest=cosines[-1].min(),
        token=encoding.tokens[int(cosines[-1].argmin())],
    )


def similarities_html(compared: Sequence[str], similarities: np.ndarray, second: bool) -> str:
    """Cosines of the sentence vector with the others', [2, m], before and after; `second` marks the bar's own."""
    rows = [
        {"name": ("◆ " if second and number == 0 else "") + short(text, 90), "before": before, "after": after}
        for number, (text, before, after) in enumerate(zip(compared, *similarities.tolist(), strict=True))
    ]
    return TEXT.similarities(rows, second)


def classes_html(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """A fine-tuned classifier's probabilities, whole and with the same heads of its encoder off."""
    hues = dict(zip(before, cycle(CLASSES), strict=False))
    rows = [
        {"name": short(label, 40), "before": before[label], "after": after[label], "hue": hues[label]}
        for label in sorted(before, key=before.__getitem__, reverse=True)[:SHOWN_CLASSES]
    ]
    first, then = (short(max(chances, key=chances.__getitem__), 24) for chances in (before, after))
    return TEXT.classes(rows, first, then)


def saliency_html(values: np.ndarray, attention: np.ndarray, encoding: Encoding, output: str, received: str) -> str:
    """Gradient x input [n], signed, beside each token's attention [n]: one row per token, both bars side by side."""
    widest, most = float(np.abs(values).max()) or 1.0, float(attention.max()) or 1.0
    rows = [
        {
            "token": token,
            "special": encoding.special_tokens_mask[index],
            "hue": hue_style(encoding, index),
            "value": values[index],
            "length": abs(values[index]) / widest / 2,
            "attention": attention[index],
            "share": attention[index] / most,
        }
        for index, token in enumerate(encoding.tokens[:SHOWN])
    ]
    digits = int(np.clip(2 - np.floor(np.log10(widest)), 2, 6))  # three digits of the largest number
    return TEXT.saliency(output, received, rows, len(encoding), digits)


def agreement_html(values: np.ndarray, attention: np.ndarray, encoding: Encoding) -> str:
    """The rank correlations of |gradient x input| [n] and attention [n] over this sentence's tokens.

    Values that are zero but for rounding have no order: those of the cosine of a sentence with itself.
    """
    if np.abs(values).max(initial=0.0) < ROUNDING:
        return TEXT.flat()
    words = np.array(encoding.special_tokens_mask) == 0
    orders = [
        ("all tokens", agreement(np.abs(values), attention)),
        ("words only", agreement(np.abs(values)[words], attention[words])),
    ]
    return TEXT.agreement([(name, both) for name, both in orders if both.spearman is not None])


def cosine_table(cosines: np.ndarray, encoding: Encoding) -> str:
    """Cosines [L + 1, n] as an HTML table: one row per token, one column per hidden state."""
    rows = list(zip(encoding.tokens, cosines.T.tolist(), strict=True))[:SHOWN_TABLE_TOKENS]
    return TEXT.cosines(state_names(len(cosines) - 1), rows, len(encoding))


def board_html(effects: Mapping[Head, float], total: int) -> str:
    """Each head's effect on the sentence vector if it alone is off, one row per layer; `total` heads are tried."""
    if not effects:
        return ""
    layers, heads = (sorted(set(numbers)) for numbers in zip(*effects, strict=True))
    best = max(effects, key=effects.__getitem__)
    return TEXT.board(effects, total, layers, heads, best, effects[best] or 1.0)


def ablation_code(spec: ModelSpec, encoding: Encoding, off: Collection[Head]) -> str:
    """Prints each token's cosine before and after, for every hidden state, with these heads off."""
    mixing = f"{LAYERS[spec.architecture]}[layer].{PARTS[spec.architecture]['output']}"
    return PROGRAM.program(begin(spec, repr(encoding.text)), sorted(off), mixing, spec.architecture == "albert")
