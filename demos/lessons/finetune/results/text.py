"""The effect of a training in words and tables: maps, heads that changed, an error's tokens, calibration (HTML)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.maps import Layout, own_share
from demos.bert.model.encoding import Encoding
from demos.figures.palette import swatch
from demos.figures.scores_text import LABEL_LENGTH, one_line
from demos.figures.short_text import short
from demos.figures.token_chips import token_label
from demos.lessons.finetune.results.figure import FEW
from demos.templates import templates
from demos.training.metrics import Calibration
from demos.training.tasks.classification.data import Example

TEXT = templates(__file__)
UNMOVED = 5e-4  # a share of attention below this shows as 0.0%
SHOWN_TOKENS = 256
EVIDENCE_WORDS = 3  # that speak most for a class


def map_heading(title: str, layout: Layout, classes: np.ndarray, chance: float) -> str:
    """A map's name and its number: the share of each point's nearest neighbors that have its class."""
    return TEXT.heading(title, own_share(layout.nearest, classes).mean(), layout.nearest.shape[1], chance)


def maps_summary(before: Layout, after: Layout, classes: np.ndarray) -> str:
    """Whether the classes came apart, measured."""
    return TEXT.maps_summary(*(own_share(layout.nearest, classes).mean() for layout in (before, after)))


def maps_table(layouts: Sequence[Layout], classes: np.ndarray, labels: Sequence[str]) -> str:
    """The neighbours' number class by class, before and after; and how much of the vectors each map shows."""
    shares = [own_share(layout.nearest, classes) for layout in layouts]
    rows = [
        (label, int(members.sum()), [share[members].mean() for share in shares])
        for number, label in enumerate(labels)
        if (members := classes == number).any()
    ]
    explained = [layout.explained.sum() for layout in layouts]
    return TEXT.maps_table(["before", "after"][: len(layouts)], rows, explained)


def attention_summary(heads: np.ndarray, layer: int, head: int, text: str, full: float | None = None) -> str:
    """The head that changed most, and each layer's change: heads [L, A]. `full` is the end of both pictures' scale."""
    if heads.max() < UNMOVED:
        return TEXT.nothing_moved()
    layers = heads.mean(axis=1)
    return TEXT.attention(
        layer=layer,
        head=head,
        share=heads[layer, head],
        layers=layers.tolist(),
        most=int(layers.argmax()),
        least=int(layers.argmin()),
        sentence=short(text, 90),
        full=full,
    )


def heads_table(heads: np.ndarray) -> str:
    """The share of its attention that each head moved [L, A]."""
    return TEXT.heads_table(heads.tolist())


def error_name(example: Example, truth: str, answer: str, probability: float) -> str:
    """An error in a menu: plain text, which the menu escapes."""
    answer, truth = short(answer, LABEL_LENGTH), short(truth, LABEL_LENGTH)
    return f"{probability:.0%} {answer}, true class {truth}: “{short(one_line(example), 110)}”"


def tokens_html(values: np.ndarray, encoding: Encoding, answer: str, truth: str) -> str:
    """The tokens shaded by gradient x input [n]: blue for the answer, brown for the true class, their number below."""
    shares = values / (np.abs(values).max() or 1.0)
    tokens = [
        {
            "label": token_label(token),
            "value": _signed(value),
            "swatch": swatch("signed", 0.5 + share / 2),
        }
        for token, value, share in list(zip(encoding.tokens, values, shares, strict=True))[:SHOWN_TOKENS]
    ]
    names = [short(label, LABEL_LENGTH) for label in (answer, truth)]
    return TEXT.tokens(tokens, len(encoding), *names, swatches=[swatch("signed", 0.875), swatch("signed", 0.125)])


def evidence_summary(
    values: np.ndarray, encoding: Encoding, margin: float, empty: float, answer: str, truth: str
) -> str:
    """The words with the largest numbers, and the difference between the sum of all numbers and the logits."""
    words = [(value, token) for value, token, special in
             zip(values, encoding.tokens, encoding.special_tokens_mask, strict=True) if not special]  # fmt: skip

    def strongest(sign: int) -> list[str]:
        ordered = sorted(words, key=lambda word: -sign * word[0])
        return [token for value, token in ordered[:EVIDENCE_WORDS] if sign * value > 0]

    return TEXT.evidence(
        answer=short(answer, LABEL_LENGTH),
        truth=short(truth, LABEL_LENGTH),
        speaking_for=strongest(1),
        speaking_against=strongest(-1),
        margin=margin,
        empty=_signed(empty),
        explained=_signed(margin - empty),
        total=_signed(values.sum()),
    )


def tokens_table(values: np.ndarray, encoding: Encoding) -> str:
    """Gradient x input [n], a row a token."""
    return TEXT.tokens_table(zip(encoding.tokens, [_signed(value, 4) for value in values], strict=True))


def calibration_summary(calibration: Calibration, noun: str, stored: int, total: int) -> str:
    """The expected calibration error, and whether the model is overconfident or underconfident."""
    bins = [bar for bar in calibration.bins if bar.count]
    counts, confidence, accuracy = np.array([(bar.count, bar.confidence, bar.accuracy) for bar in bins]).T
    count = counts.sum()
    sure, right = (np.average(shares, weights=counts) for shares in (confidence, accuracy))
    # What a perfectly calibrated model would show: each answer right by the toss of a coin with its own confidence.
    spread = counts * confidence * (1 - confidence)
    room = max(0.02, 1.96 * np.sqrt(spread.sum()) / count)
    return TEXT.calibration(
        error=calibration.error,
        count=int(count),
        noun=noun,
        chance=np.sqrt(2 / np.pi * spread).sum() / count,  # E|X| of a normal X, bar by bar
        lean=int(sure - right > room) - int(right - sure > room),
        sure=sure,
        right=right,
        thin=int((counts < FEW).sum()),
        bars=len(bins),
        few=FEW,
        stored=stored,
        total=total,
    )


def _signed(value: float, digits: int = 2) -> str:
    written = f"{value:+.{digits}f}"
    return written.replace("-", "−") if float(written) else f"{0:.{digits}f}"
