"""What a training did, in words and tables: maps' numbers, heads that moved, an error's tokens, calibration (HTML)."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
from plotly.colors import sample_colorscale

from demos.bert.embeddings.maps import Layout, own_share
from demos.bert.model.encoding import Encoding
from demos.figures.palette import colour_scale
from demos.figures.short_text import short, short_html
from demos.figures.tables import column_heads, scrolling_table
from demos.figures.token_chips import token_label
from demos.lessons.finetune.results.figure import FEW
from demos.training.metrics import Calibration
from demos.training.tasks.classification.data import Example

UNMOVED = 5e-4  # a share of attention below this shows as 0.0 %
SHOWN_TOKENS = 256


def map_heading(title: str, layout: Layout, classes: np.ndarray, chance: float) -> str:
    """A map's name and its number: which share of each point's nearest neighbours is of its own class."""
    share = float(own_share(layout.nearest, classes).mean())
    return (
        f'<h3>{html.escape(title)}</h3><p class="after-number"><b>{share:.0%}</b> of each one\'s '
        f"{layout.nearest.shape[1]} nearest neighbours are of its class (by chance {chance:.0%})</p>"
    )


def waiting_html(noun: str) -> str:
    """What stands where the second map will be."""
    return (
        "<h3>After your training</h3>"
        f'<div class="after-waiting"><p>Train a model in the part “Train”, then come back:<br>here the same {noun} '
        "will lie as your model reads them.</p></div>"
    )


def maps_told(before: Layout, after: Layout, classes: np.ndarray) -> str:
    """Whether the classes came apart, measured."""
    first, then = (own_share(one.nearest, classes).mean() for one in (before, after))
    if then - first > 0.01:
        said = f"The classes came apart: from {first:.0%} to {then:.0%} of the neighbours are of one's own class."
    elif then - first < -0.01:
        said = f"The classes lie less apart than before: {first:.0%} of the neighbours were of one's own class, "
        said += f"now {then:.0%}."
    else:
        said = f"The classes lie as they did: {then:.0%} of the neighbours are of one's own class."
    return f"<p>{said}</p>"


def maps_table(layouts: Sequence[Layout], classes: np.ndarray, labels: Sequence[str]) -> str:
    """The neighbours' number class by class, before and after; and how much of the vectors each map shows."""
    shares = [own_share(layout.nearest, classes) for layout in layouts]
    names = ("before", "after")[: len(layouts)]
    rows = "".join(
        f'<tr><th scope="row">{html.escape(label)}</th><td>{int((classes == number).sum()):,}</td>'
        + "".join(f"<td>{share[classes == number].mean():.1%}</td>" for share in shares)
        + "</tr>"
        for number, label in enumerate(labels)
        if (classes == number).any()
    )
    shown = "".join(f"<td>{layout.explained.sum():.1%}</td>" for layout in layouts)
    foot = f'<tr><th scope="row">variance that the map shows</th><td></td>{shown}</tr>'
    head = column_heads(("class", "test examples", *names))
    caption = "Neighbours of one's own class, by cosine over all dimensions"
    return scrolling_table(caption, head, rows, foot=foot, kind="lesson-table")


def attention_told(heads: np.ndarray, layer: int, head: int, text: str, full: float | None = None) -> str:
    """Which head moved most, and how much each layer did: heads [L, H]. `full` is where two pictures' scale ends."""
    if heads.max() < UNMOVED:
        return (
            "<p><b>No head moved.</b> The layers that make these weights did not train, so they look where they "
            "looked before.</p>"
        )
    layers = heads.mean(axis=1)
    mean = ", ".join(f"layer {number} {share:.1%}" for number, share in enumerate(layers))
    most, least = int(layers.argmax()), int(layers.argmin())
    scale = f" Both pictures are on one scale: the strongest colour is a weight of {full:.2f}." if full else ""
    return (
        f"<p><b>Layer {layer}, head {head} moved most:</b> {heads[layer, head]:.0%} of its attention lies "
        f"elsewhere now. On average a head of layer {most} moved {layers[most]:.1%}, "
        f"one of layer {least} {layers[least]:.1%}.</p>"
        f'<p class="aside">The sentence: “{short_html(text, 90)}” Each layer’s mean: {mean}.{scale} “Two at once” in '
        "the lesson Attention shows every head of your model beside its base.</p>"
    )


def heads_table(heads: np.ndarray) -> str:
    """How much of its attention each head moved [L, H]."""
    rows = "".join(
        f'<tr><th scope="row">layer {number}</th>' + "".join(f"<td>{share:.1%}</td>" for share in row) + "</tr>"
        for number, row in enumerate(heads)
    )
    head = f"<td></td>{column_heads([f'head {number}' for number in range(heads.shape[1])])}"
    return scrolling_table("Attention that lies elsewhere after the training", head, rows)


def error_name(example: Example, truth: str, answer: str, probability: float) -> str:
    """An error in a menu: plain text, which the menu escapes."""
    text = " / ".join(filter(None, (example.text, example.pair)))
    return f"{probability:.0%} {short(answer, 24)}, in truth {short(truth, 24)}: “{short(text, 110)}”"


def tokens_html(values: np.ndarray, encoding: Encoding, answer: str, truth: str) -> str:
    """The tokens shaded by gradient x input [n]: blue for the answer, brown for the true class, their number below."""
    widest = float(np.abs(values).max()) or 1.0
    items = "".join(
        f'<li><span class="after-token" style="--shade:{_shade(value / widest)};'
        f'--on:{"#ffffff" if abs(value) > 0.72 * widest else "#000000"}">{token_label(token)}</span>'
        f"<span>{_signed(float(value))}</span></li>"
        for token, value in zip(encoding.tokens[:SHOWN_TOKENS], values[:SHOWN_TOKENS], strict=True)
    )
    more = len(encoding) - SHOWN_TOKENS
    cut = f'<p class="aside">The first {SHOWN_TOKENS} of {len(encoding)} tokens.</p>' if more > 0 else ""
    return (
        f'<p class="after-key"><span><i style="--shade:{_shade(0.75)}"></i>speaks for its answer, '
        f'<b>{short_html(answer, 24)}</b></span><span><i style="--shade:{_shade(-0.75)}"></i>speaks for the truth, '
        f"<b>{short_html(truth, 24)}</b></span></p>"
        f'<ol class="after-tokens" aria-label="Gradient x input of each token">{items}</ol>'
        f"{cut}"
    )


def evidence_told(values: np.ndarray, encoding: Encoding, margin: float, empty: float, answer: str, truth: str) -> str:
    """Which words weigh most, and how far their numbers are from adding up."""
    words = [at for at, special in enumerate(encoding.special_tokens_mask) if not special]
    for_it = [at for at in sorted(words, key=lambda at: -values[at])[:3] if values[at] > 0]
    against = [at for at in sorted(words, key=lambda at: values[at])[:3] if values[at] < 0]

    def listed(places: Sequence[int]) -> str:
        return ", ".join(f"<q>{html.escape(encoding.tokens[at])}</q>" for at in places) or "no word"

    total = float(values.sum())
    return (
        f"<p>For <b>{short_html(answer, 24)}</b>: {listed(for_it)}. "
        f"For <b>{short_html(truth, 24)}</b>: {listed(against)}.</p>"
        f'<p class="aside">Its logit is {margin:.2f} above the true class’s. With every word’s embedding set to zero '
        f"that is {_signed(empty)}, so {_signed(margin - empty)} is to be explained; the tokens’ numbers add up to "
        f"{_signed(total)}. They need not agree: a gradient tells how the difference begins to move, not how far it "
        "would go.</p>"
    )


def tokens_table(values: np.ndarray, encoding: Encoding) -> str:
    """Gradient x input [n], a row a token."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(token)}</th><td>{_signed(float(value), 4)}</td></tr>'
        for token, value in zip(encoding.tokens, values, strict=True)
    )
    head = column_heads(("token", "gradient × input"))
    return scrolling_table("Gradient × input of each token", head, rows, kind="lesson-table")


def calibration_told(found: Calibration, noun: str, kept: int, total: int) -> str:
    """The expected calibration error, and whether it is too sure or not sure enough."""
    counts = np.array([one.count for one in found.bins])
    filled = [one for one in found.bins if one.count]
    sure = sum(one.confidence * one.count for one in filled) / counts.sum()
    right = sum(one.accuracy * one.count for one in filled) / counts.sum()
    # What a perfectly calibrated model would show: each answer right by the toss of a coin with its own confidence.
    spread = [one.count * one.confidence * (1 - one.confidence) for one in filled]
    room = max(0.02, 1.96 * math.sqrt(sum(spread)) / counts.sum())
    chance = sum(math.sqrt(2 / math.pi * one) for one in spread) / counts.sum()  # E|X| of a normal X, bar by bar
    lean = (
        "too sure of itself"
        if sure - right > room
        else "not sure enough"
        if right - sure > room
        else "about as sure as it is right, as far as so many answers tell"
    )
    some = f" Of the {total:,} test examples the first are kept." if kept < total else ""
    few = sum(one.count < FEW for one in filled)
    thin = (
        f" {few} of the {len(filled)} bars stand for fewer than {FEW} {noun}: they are pale, and would "
        "look different on other tests."
        if few
        else ""
    )
    return (
        f'<p class="after-number"><b>{found.error:.3f}</b> expected calibration error: its percentages are '
        f"{100 * found.error:.1f} points away from how often it is right, on average. With {counts.sum():,} {noun} "
        f"even a perfectly calibrated model would show about {chance:.3f}.</p>"
        f"<p>Taken together it is <b>{lean}</b>: {sure:.1%} sure on average, {right:.1%} right.</p>"
        '<p class="aside">A bar that ends below the dashed line: of the answers that it was so sure of, fewer were '
        f"right than it claimed. The number above a bar counts its {noun}.{thin}{some}</p>"
    )


def _shade(share: float) -> str:
    """The colour of -1..1 on the signed scale."""
    return str(sample_colorscale(colour_scale("signed"), [0.5 + share / 2], colortype="rgb")[0])


def _signed(value: float, digits: int = 2) -> str:
    written = f"{value:+.{digits}f}"
    return written.replace("-", "−") if float(written) else f"{0:.{digits}f}"
