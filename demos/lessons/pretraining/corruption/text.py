"""A corrupted text to look at: what stood there, what is read instead, and what each guess costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.corruption import Corruption, Shares
from demos.bert.pretraining.draws import Draws, Fit
from demos.bert.pretraining.lens import Distribution
from demos.figures.numbers import percent
from demos.figures.token_chips import hue_style, visible
from demos.lessons.pretraining.figure_kinds import KINDS, MARKS, NAMES
from demos.templates import templates

TEXT = templates(__file__)
SHOWN = 128  # tokens in the picture


def picture_html(
    encoding: Encoding, corruption: Corruption, read: Sequence[str], guesses: Mapping[int, Distribution]
) -> str:
    """The text's tokens above, what BERT reads below (`read`, n tokens), and under those with `guesses` their loss."""
    return TEXT.picture(
        tokens=[
            {
                "own": visible(token),
                "style": hue_style(encoding, place),
                "kind": corruption.kinds[place],
                "read": visible(read[place]),
                "loss": guesses[place].loss if place in guesses else None,
            }
            for place, token in enumerate(encoding.tokens[:SHOWN])
        ],
        names=NAMES,
        marks=MARKS,
        priced=bool(guesses),
        left=len(encoding) - SHOWN,
        left_chosen=(corruption.kinds[SHOWN:] > 0).sum(),
        dropped=len(encoding.dropped),
        length=len(encoding),
    )


def legend_html(corruption: Corruption, special: Sequence[int], asked: Shares) -> str:
    """How many tokens were chosen, and of each kind how many beside the share asked for."""
    counts = np.bincount(corruption.kinds, minlength=4)[1:]
    kinds = _kinds(count=counts, share=asked.kinds)
    return TEXT.legend(len(corruption.chosen), len(corruption.kinds), asked.chosen, sum(special), kinds)


def rest_html(asked: Shares) -> str:
    """The three shares as one bar; what the two sliders leave is kept."""
    return TEXT.rest(_kinds(share=asked.kinds))


def answers_html(
    guesses: Mapping[int, Distribution], corruption: Corruption, read: Sequence[str], vocabulary: int
) -> str:
    """Every chosen token: what was read there, the best guess, the true token's probability, and the loss; the mean."""
    losses = [guess.loss for guess in guesses.values()]
    highest, mean = max(*losses, 1e-9), sum(losses) / len(losses)
    even = math.exp(min(mean, 700))
    return TEXT.answers(
        rows=[
            {"guess": guess, "kind": corruption.kinds[place], "read": read[place], "share": guess.loss / highest}
            for place, guess in guesses.items()
        ],
        names=NAMES,
        marks=MARKS,
        mean=mean,
        choices=f"{even:.1f}" if even < 100 else f"{even:,.0f}",
        vocabulary=vocabulary,
        blind=math.log(vocabulary),
        visible=visible,
        percent=percent,
    )


def shares_html(draws: Draws, kinds: Fit | None, places: Fit | None, whole_words: bool) -> str:
    """What both figures show, in words, with the p values and what they mean."""
    per_draw = (draws.kinds > 0).sum(axis=1)
    return TEXT.shares(
        draws=len(draws.kinds),
        length=len(draws.free),
        kinds=_kinds(count=draws.counts[-1], share=draws.running[-1]),
        free=draws.free.sum(),
        fewest=per_draw.min(),
        most=per_draw.max(),
        whole_words=whole_words,
        kinds_fit=kinds,
        places_fit=places,
    )


def numbers_html(draws: Draws, asked: Shares, encoding: Encoding) -> str:
    """The kinds' counts beside what was expected, then each token's."""
    counts = np.stack([(draws.kinds == kind).sum(axis=0) for kind in (1, 2, 3)], axis=1)  # [n, 3]
    return TEXT.numbers(
        len(draws.kinds),
        _kinds(count=draws.counts[-1], share=draws.running[-1], asked=asked.kinds),
        [
            {"place": place, "name": encoding.tokens[place], "counts": counts[place]}
            for place in np.flatnonzero(draws.free)
        ],
    )


def _kinds(**values: Any) -> list[dict[str, Any]]:
    """Name and mark of masked, random and kept, each with its entry of the values."""
    return [
        {"name": name, "mark": mark} | {key: value[number] for key, value in values.items()}
        for number, (name, mark, *_) in enumerate(KINDS)
    ]
