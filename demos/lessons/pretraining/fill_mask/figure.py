"""A hidden word's guesses: the sentence to click on, the likeliest words as bars, every layer's guesses (HTML)."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.guesses import Guess
from demos.bert.pretraining.lens import Distribution, leads_from
from demos.figures.numbers import percent, state_names
from demos.figures.tables import column_heads, scrolling_table
from demos.figures.token_chips import hue_style, token_label, visible
from demos.widgets.token_picker.figure import PICKED_AMONG

HINT = "Click a word to hide it; click it again to show it."
PICKED = "One word is hidden to begin with; click another to hide that instead."
HINTS = "Click a hidden word to see its guesses, once more to show it."
LENS_WORDS = 5


def sentence_html(whole: Encoding, places: Collection[int], focus: int, marks: Sequence[str], mask_token: str) -> str:
    """The first 128 tokens as switches, hidden ones pressed; script.js reads `data-mark`."""
    chips = []
    for index, token in enumerate(whole.tokens[:PICKED_AMONG]):
        if whole.special_tokens_mask[index]:
            chips.append(f'<span class="fill-special">{html.escape(token)}</span>')
            continue
        hidden = index in places
        own = token == mask_token
        kind = " ".join(
            ["fill-chip", *(["hidden"] if hidden else []), *(["focus"] if index == focus else [])]
            + (["joined"] if token.startswith("##") else [])
        )
        under = f"<small>{visible(token)}</small>" if hidden and not own else ""
        said = f"{token}, token {index}" + (", looked at" if index == focus else "")
        shown = html.escape(mask_token) if hidden else visible(token)
        chips.append(
            f'<button type="button" class="{kind}" style="{hue_style(whole, index)}" data-mark="{index}.'
            f'{whole.input_ids[index]}" aria-pressed="{str(hidden).lower()}" aria-label="{html.escape(said)}">'
            f"<span>{shown}</span>{under}</button>"
        )
    rest = len(whole) - PICKED_AMONG
    there = f" The hidden one that is looked at is token {focus}, among them." if focus >= PICKED_AMONG else ""
    more = f"<p>{rest} more tokens can't be hidden here.{there}</p>" if rest > 0 else ""
    picked = not marks and mask_token not in (whole.tokens[place] for place in places)
    hint = PICKED if picked else HINTS if len(places) > 1 else HINT
    return (
        f'<div class="fill-sentence" role="group" aria-label="Words to hide" data-marks="{" ".join(marks)}">'
        f"{''.join(chips)}</div>{more}<p>{hint}</p>"
    )


def best_html(found: Distribution, known: bool, style: str = "", widest: float = 0.0) -> str:
    """The likeliest words as bars, the longest first; the true word, where it is `known`, is framed, or added below.

    The longest bar is `widest`, or where that is smaller the first word's probability.
    """
    widest = max(widest, found.best[0].probability)
    rows = [_bar(guess, rank, widest, known and guess == found.watched) for rank, guess in enumerate(found.best, 1)]
    if known and found.rank > len(found.best):
        rows.append(f'<li class="gap" aria-hidden="true">⋮</li>{_bar(found.watched, found.rank, widest, True)}')
    return f'<ol class="fill-best" style="{style}">{"".join(rows)}</ol>'


def told_html(found: Distribution, place: int, known: bool, vocabulary: int) -> str:
    """The place, the true word's rank and probability, the entropy and the best ones' share, in three lines."""
    title = f"Token {place}"
    if known:
        true = token_label(found.watched.token)
        title += (
            f" was <q>{true}</q>: guess <b>{found.rank:,}</b> of {vocabulary:,}, "
            f"<b>{percent(found.watched.probability)}</b>"
        )
    else:
        title += f": first guess <q>{token_label(found.watched.token)}</q>, <b>{percent(found.watched.probability)}</b>"
    count = len(found.best)
    choices = f"{found.choices:,.0f}" if found.choices >= 9.95 else f"{found.choices:.1f}"
    return (
        f'<p class="fill-key">{title}.</p><p>Entropy <b>{found.entropy:.1f}</b> of {np.log2(vocabulary):.1f} bits, as '
        f"unsure as among {choices} equally likely words. The first {count} hold "
        f"<b>{percent(found.covered)}</b> together.</p>"
    )


def lens_html(layers: Sequence[Distribution], known: bool, style: str = "") -> str:
    """Every layer's first words, darker for a higher probability, and the watched word's rank: a row a state."""
    names = state_names(len(layers) - 1)
    watched = layers[-1].watched
    label = token_label(watched.token)
    first = leads_from(layers)
    nearest = min(range(len(layers)), key=lambda number: (layers[number].rank, -number))
    if first is not None:
        said = f"<q>{label}</q> is first from {names[first]} on."
    else:
        said = f"<q>{label}</q> is not first at the end, but {layers[-1].rank:,}."
        if nearest < len(layers) - 1:
            said += f" It was nearest at {names[nearest]}, rank {layers[nearest].rank:,}."
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="rank"><b>{one.rank:,}</b></td>'
        + "".join(_cell(guess, guess.token_id == watched.token_id) for guess in one.best[:LENS_WORDS])
        + "</tr>"
        for name, one in zip(names, layers, strict=True)
    )
    heads = column_heads(["state", f"rank of <q>{label}</q>", *(f"{number}." for number in range(1, LENS_WORDS + 1))])
    what = "the true word" if known else "the final guess"
    return (
        f'<p class="fill-key">{said}</p><div class="fill-scroll" tabindex="0" role="region" '
        f'aria-label="Guesses at every layer"><table class="fill-lens" style="{style}">'
        f"<caption>The same head on the states of each layer; {what} is framed.</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def numbers_html(found: Distribution, layers: Sequence[Distribution]) -> str:
    """The likeliest words and the layers, as tables of numbers."""
    shares = np.cumsum([guess.probability for guess in found.best])
    words = "".join(
        f'<tr><th scope="row">{rank}</th><td>{token_label(guess.token)}</td><td>{guess.token_id:,}</td>'
        f"<td>{guess.logit:.3f}</td><td>{guess.probability:.5f}</td><td>{share:.5f}</td></tr>"
        for rank, (guess, share) in enumerate(zip(found.best, shares, strict=True), 1)
    )
    names = state_names(len(layers) - 1)
    states = "".join(
        f'<tr><th scope="row">{name}</th><td>{one.watched.probability:.3g}</td><td>{one.rank:,}</td>'
        f"<td>{one.entropy:.3f}</td></tr>"
        for name, one in zip(names, layers, strict=True)
    )
    label = token_label(layers[-1].watched.token)
    return scrolling_table(
        "The last layer's likeliest words",
        column_heads(("rank", "token", "id", "logit", "probability", "all so far")),
        words,
    ) + scrolling_table(
        f"<q>{label}</q> by layer",
        column_heads(("state", "probability", "rank", "entropy, bits")),
        states,
        name="The watched word by layer",
    )


def _bar(guess: Guess, rank: int, widest: float, framed: bool) -> str:
    kind = ' class="true"' if framed else ""
    return (
        f'<li{kind} value="{rank}"><span class="rank">{rank:,}</span>'
        f'<span class="word">{token_label(guess.token)}</span>'
        f'<span class="track"><span style="width:{100 * guess.probability / widest:.1f}%"></span></span>'
        f"<b>{percent(guess.probability)}</b></li>"
    )


def _cell(guess: Guess, framed: bool) -> str:
    kind = ' class="true"' if framed else ""
    return (
        f'<td{kind} style="--share:{100 * guess.probability:.0f}%">{token_label(guess.token)} '
        f"<small>{percent(guess.probability)}</small></td>"
    )
