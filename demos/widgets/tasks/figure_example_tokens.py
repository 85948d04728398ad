"""Examples as BERT reads them: token chips with their segments, and two tables that every task shows (HTML)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from demos.bert.model.encoding import Encoding, encode
from demos.figures.token_chips import hue, token_label
from demos.training.metrics import Calibration
from demos.widgets.tasks.figure import Looks

MAX_CHIPS = 64  # of one sequence


def lent_html(model: str) -> str:
    """Said where the model's own tokenizer is not at hand: whose cut is shown."""
    return (
        f'<p class="aside">The pieces above are the bundled model’s: {html.escape(model)} and its own tokenizer are '
        "not on this machine yet.</p>"
    )


def encoded(text: str, pair: str, tokenizer: Any) -> Encoding:
    """One sequence of at most MAX_CHIPS tokens."""
    return encode(tokenizer, text, pair, MAX_CHIPS)


def segment_chips(encoding: Encoding, segment: int, label: str) -> str:
    """One segment's tokens as a list: one hue a word, continuations joined to their word, special tokens grey."""
    words = encoding.word_index
    items = []
    for at, token in enumerate(encoding.tokens):
        if encoding.token_type_ids[at] != segment:
            continue
        word = words[at]
        joined = " joined" if at and word is not None and words[at - 1] == word else ""
        items.append(f'<li class="chip {hue(word)}{joined}"><span class="piece">{token_label(token)}</span></li>')
    return f'<ol class="chips" aria-label="{html.escape(label)}">{"".join(items)}</ol>'


def looks_table(looks: Looks, per_epoch: int, score: str) -> str:
    """Every look at the validation examples; `score` is what their score is called."""

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    names = ("step", "epoch", "training loss since the last look", "validation loss", f"validation {score}")
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{look[0]:.0f}</th><td>{(look[0] or 0) / max(1, per_epoch):.2f}</td>'
        + "".join(f"<td>{number(value)}</td>" for value in look[1:4])
        + "</tr>"
        for look in looks
    )
    return (
        f'<table class="plain"><caption>Looks at the validation examples</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def calibration_table(found: Calibration | None) -> str:
    """Test answers by how sure the model was, and how often it was right; with the expected calibration error."""
    if found is None or not any(one.count for one in found.bins):
        return ""
    rows = "".join(
        f'<tr><th scope="row">{one.low:.0%} to {one.high:.0%}</th><td>{one.count:,}</td>'
        f"<td>{one.confidence:.1%}</td><td>{one.accuracy:.1%}</td></tr>"
        for one in found.bins
        if one.count
    )
    names = ("its probability", "test answers", "mean probability", "right")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<table class="plain"><caption>How sure it is, and how often right: expected calibration error '
        f"{found.error:.3f} (0: as often right as it is sure)</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def sizes_told(name: str, noun: str, splits: Sequence[Sequence[object]]) -> str:
    """What a data set is called and how large its splits are, escaped."""
    train, watch, test = (f"{len(split):,}" for split in splits)
    return f"<b>{html.escape(name)}</b>: {train} {noun} to train on, {watch} to watch, {test} to test at the end."
