"""What switching heads off changes, in words and in tables of bars (HTML, escaped): the same for eyes and ears."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np

from demos.bert.attention.saliency import agreement
from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.guesses import Guess
from demos.figures.numbers import state_names
from demos.figures.palette import CLASSES
from demos.figures.short_text import short_html
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.attention.ablation.figure import SHOWN

SHOWN_CLASSES = 10
SHOWN_TABLE_TOKENS = 64


def changed_html(cosines: np.ndarray, encoding: Encoding, off: int, heads: int, missing: Sequence[str] = ()) -> str:
    """What the picture shows, in two sentences. `cosines` [L + 1, n]; `off` of `heads` heads are switched off."""
    lost = f"<p>This model has no {_listed(missing)}; that changes nothing here.</p>" if missing else ""
    if not off:
        return f"{lost}<p>All {heads} heads are on. Click one on the left to switch it off.</p>"
    last = 1 - cosines[-1]
    furthest = html.escape(encoding.tokens[int(last.argmax())])
    layers = np.flatnonzero((1 - cosines).max(axis=1) > 0)
    said = f"<b>{off} of {heads} heads {'is' if off == 1 else 'are'} off.</b>"
    if not len(layers):
        return f"{lost}<p>{said} No state moved.</p>"
    first = state_names(len(cosines) - 1)[layers[0]]
    return (
        f"{lost}<p>{said} States move from {first} on; after the last layer a token's cosine with its state before is "
        f"{cosines[-1].mean():.3f} on average and {cosines[-1].min():.3f} for <q>{furthest}</q>, "
        "which moved furthest.</p>"
    )


def similarities_html(compared: Sequence[str], similarities: np.ndarray, second: bool) -> str:
    """Cosines of the sentence vector with the others', [2, m], before and after; `second` marks the bar's own."""
    if not compared:
        return "<p>Write a second sentence in the bar, or one a line under “Compare with”, to see similarities.</p>"
    rows = "".join(
        _row(
            f"{'◆ ' if second and number == 0 else ''}{short_html(text, 90)}",
            float(similarities[0, number]),
            float(similarities[1, number]),
            signed=True,
        )
        for number, text in enumerate(compared)
    )
    mark = " ◆ is the bar's second one." if second else ""
    return _table(
        f"Cosine of the sentence's vector (mean of its tokens) with each other one's, all read alone.{mark}", rows
    )


def guesses_html(word: str, place: int, before: Sequence[Guess], after: Sequence[Guess], title: str) -> str:
    """The top words for a hidden place, side by side: the likeliest with all heads on, and with some off."""
    columns = "".join(
        f'<div><h4>{name}</h4><ol class="cause-guesses">'
        + "".join(
            f"<li{'' if guess.token_id in held else ' class=new'}><span>{html.escape(guess.token)}</span>"
            f"{_bar(guess.probability, 1.0)}<b>{guess.probability:.1%}</b></li>"
            for guess in guesses
        )
        + "</ol></div>"
        for name, guesses, held in (
            ("All heads on", before, {one.token_id for one in before}),
            ("Some off", after, {one.token_id for one in before}),
        )
    )
    hidden = "[MASK]" if word == "[MASK]" else f"<q>{html.escape(word)}</q>, hidden"
    return (
        f'<p class="aside">{html.escape(title)} guesses token {place} ({hidden}); new words are framed.</p>'
        f'<div class="cause-sides">{columns}</div>'
    )


def classes_html(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """A fine-tuned classifier's probabilities, whole and with the same heads of its own encoder off."""
    ordered = sorted(before, key=lambda label: -before[label])[:SHOWN_CLASSES]
    hues = {label: CLASSES[number % len(CLASSES)] for number, label in enumerate(before)}
    rows = "".join(_row(short_html(label, 40), before[label], after[label], hue=hues[label]) for label in ordered)
    first, then = (max(chances, key=lambda label: chances[label]) for chances in (before, after))
    told = (
        f"It stays with “{short_html(first, 24)}”."
        if first == then
        else f"“{short_html(first, 24)}” becomes “{short_html(then, 24)}”."
    )
    return _table(f"Probabilities of the classifier that you fine-tuned. {told}", rows)


def saliency_html(values: np.ndarray, attention: np.ndarray, encoding: Encoding, output: str, received: str) -> str:
    """Gradient x input [n], signed, beside the attention each token gets [n]: a row a token, both bars side by side."""
    n = min(len(encoding), SHOWN)
    widest, most = float(np.abs(values).max()) or 1.0, float(attention.max()) or 1.0
    digits = int(np.clip(2 - np.floor(np.log10(widest)), 2, 6))  # three digits of the largest one
    rows = "".join(
        f'<tr style="{_hue(encoding, index)}"><th scope="row"><span class="token">{_token(encoding, index)}</span></th>'
        f'<td class="signed"><span class="{"minus" if values[index] < 0 else "plus"}" '
        f'style="width:{50 * abs(values[index]) / widest:.1f}%"></span></td><td>{values[index]:+.{digits}f}</td>'
        f'<td class="bar"><span style="width:{100 * attention[index] / most:.1f}%"></span></td>'
        f"<td>{attention[index]:.3f}</td></tr>"
        for index in range(n)
    )
    cut = f" (the first {n} of {len(encoding)} tokens)" if n < len(encoding) else ""
    return (
        '<div class="cause-scroll" tabindex="0" role="region" aria-label="Gradient x input beside attention">'
        f'<table class="cause-saliency"><caption>Output: {html.escape(output)}{cut}.</caption><thead><tr>'
        '<th scope="col">token</th><th scope="col" colspan="2">gradient × input</th>'
        f'<th scope="col" colspan="2">{html.escape(received)}</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def agreement_html(values: np.ndarray, attention: np.ndarray, encoding: Encoding) -> str:
    """How well |gradient x input| and attention [n] agree on the order of this sentence's tokens."""
    words = np.array(encoding.special_tokens_mask) == 0
    parts = []
    for name, kept in (("all tokens", np.ones(len(words), dtype=bool)), ("words only", words)):
        found = agreement(np.abs(values)[kept], attention[kept])
        if found.spearman is not None and found.kendall is not None:
            parts.append(
                f"{name} ({found.count}): Spearman <b>{found.spearman:+.2f}</b>, Kendall <b>{found.kendall:+.2f}</b>"
            )
    if not parts:
        return "<p>There are too few tokens here to compare two orders.</p>"
    return f"<p>Do they agree on which tokens matter (by size, +1 the same order, 0 none)? {'; '.join(parts)}.</p>"


def cosine_table(cosines: np.ndarray, encoding: Encoding) -> str:
    """Cosines [L + 1, n] as an HTML table: a row a token, a column a hidden state."""
    n = min(len(encoding), SHOWN_TABLE_TOKENS)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(encoding.tokens[index])}</th>'
        + "".join(f"<td>{value:.4f}</td>" for value in cosines[:, index])
        + "</tr>"
        for index in range(n)
    )
    cut = f", the first {n} of {len(encoding)} tokens" if n < len(encoding) else ""
    caption = f"Cosine of each token's state before and after{cut}"
    head = f"<td></td>{column_heads(state_names(len(cosines) - 1))}"
    return scrolling_table(f"{caption}.", head, rows, name=caption)


def board_html(effects: Mapping[tuple[int, int], float], total: int) -> str:
    """Each head's effect on the sentence vector when it alone is off, a row a layer; `total` heads will be tried."""
    if not effects:
        return ""
    most = max(effects.values()) or 1.0
    layers = sorted({layer for layer, _ in effects})
    heads = sorted({head for _, head in effects})
    best = max(effects, key=lambda head: effects[head])

    def cell(layer: int, head: int) -> str:
        if (layer, head) not in effects:
            return "<td>…</td>"
        value = effects[layer, head]
        mark = " class=first" if (layer, head) == best else ""
        return f'<td{mark} style="--share:{100 * value / most:.0f}%">{value:.4f}</td>'

    rows = "".join(
        f'<tr><th scope="row">layer {layer}</th>' + "".join(cell(layer, head) for head in heads) + "</tr>"
        for layer in layers
    )
    names = "".join(f'<th scope="col">{head}</th>' for head in heads)
    told = (
        f"Layer {best[0]}, head {best[1]} changes the sentence vector most when it alone is off: 1 − cosine is "
        f"{effects[best]:.4f}."
        if len(effects) == total
        else f"{len(effects)} of {total} heads tried…"
    )
    caption = "1 − cosine of the sentence vector with and without one head: a row a layer, a column a head."
    return (
        f'<p role="status">{told}</p><div class="cause-scroll" tabindex="0" role="region" aria-label="Each head off">'
        f'<table class="cause-board"><caption class="aside">{caption}</caption><thead><tr><td></td>{names}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _table(caption: str, rows: str) -> str:
    return (
        f'<table class="cause-pairs"><caption class="aside">{caption}</caption><thead><tr><td></td>'
        '<th scope="col" colspan="2">all heads on</th><th scope="col" colspan="2">some off</th>'
        f'<th scope="col">change</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(name: str, before: float, after: float, hue: str = "", signed: bool = False) -> str:
    """`name` is escaped already."""
    style = f' style="--hue:{hue}"' if hue else ""
    written = "{:.3f}" if signed else "{:.1%}"
    change = f"{after - before:+.3f}" if signed else f"{100 * (after - before):+.1f}"
    cells = "".join(
        f'<td class="bar {side}">{_bar(max(0.0, value), 1.0)}</td><td>{written.format(value)}</td>'
        for side, value in (("before", before), ("after", after))
    )
    return f'<tr{style}><th scope="row">{name}</th>{cells}<td><b>{change}</b></td></tr>'


def _bar(value: float, full: float) -> str:
    return f'<span class="amount"><span style="width:{100 * min(1.0, value / full):.1f}%"></span></span>'


def _hue(encoding: Encoding, index: int) -> str:
    word = encoding.word_index[index]
    return "--hue:var(--special)" if word is None else f"--hue:var(--word-{word % 8})"


def _token(encoding: Encoding, index: int) -> str:
    token = html.escape(encoding.tokens[index])
    return f"<i>{token}</i>" if encoding.special_tokens_mask[index] else token


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"head{'s' if len(names) > 1 else ''} {html.escape(shown)}"
