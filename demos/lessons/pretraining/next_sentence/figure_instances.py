"""How pre-training makes its pairs: two documents, two instances, and what the coin gave in many tosses (HTML)."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.next_sentence import LABELS, Drawn
from demos.lessons.pretraining.next_sentence.figure import sequence_html


@dataclass(frozen=True)
class Instance:
    """A drawn pair as the model gets it: some tokens chosen for the masked-word task."""

    drawn: Drawn
    encoding: Encoding  # corrupted
    chosen: Collection[int]  # places of the tokens that the model is asked about


def made_html(instances: Sequence[Instance], documents: Sequence[Sequence[str]], kinds: Sequence[str]) -> str:
    """Each instance beside the documents that its two sentences came from."""
    return f'<div class="next-made">{"".join(_instance(one, documents, kinds) for one in instances)}</div>'


def _instance(one: Instance, documents: Sequence[Sequence[str]], kinds: Sequence[str]) -> str:
    drawn = one.drawn
    at = dict.fromkeys([drawn.first_at[0], drawn.second_at[0]])
    cards = "".join(
        f"<figure><figcaption>document {number + 1}, {html.escape(kinds[number])}</figcaption><ol>"
        + "".join(_line(sentence, (number, place), drawn) for place, sentence in enumerate(documents[number]))
        + "</ol></figure>"
        for number in at
    )
    label = LABELS[drawn.label]
    return (
        f'<section class="next-instance" aria-label="An instance labelled {label}">'
        f'<div class="next-cards">{cards}</div>'
        f"{sequence_html(one.encoding, f'Input labelled {label}', one.chosen, bare=True)}"
        f'<p class="next-label">Label = <b>{label}</b></p></section>'
    )


def _line(sentence: str, at: tuple[int, int], drawn: Drawn) -> str:
    side = {drawn.first_at: "a", drawn.second_at: "b"}.get(at, "")
    name = f"<b>{side.upper()}</b> " if side else ""
    return f'<li class="{side}">{name}{html.escape(sentence)}</li>'


def coin_html(tosses: int, said_next: int) -> str:
    """What became of the coin, and what the outlines mean."""
    return (
        f'<p class="aside">Of {tosses:,} pairs drawn like this, {said_next:,} are IsNext. Nobody labelled anything: '
        "the place in the text is the label. Outlined tokens serve the other task at the same time: a mask, a random "
        "word or the word itself stands there, and the model is asked for the true one.</p>"
    )
