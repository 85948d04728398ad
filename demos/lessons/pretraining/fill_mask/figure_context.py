"""The effect of a sentence's words: each removed in turn, two contexts side by side, and each token's likelihood."""

import numpy as np

from demos.bert.pretraining.context import Removal, Removals
from demos.bert.pretraining.lens import Distribution
from demos.bert.pretraining.likelihood import Likelihood
from demos.figures.numbers import percent
from demos.figures.short_text import short
from demos.figures.token_chips import hue_style, token_label, visible
from demos.lessons.pretraining.fill_mask.figure import TEXT, best_html
from demos.templates import signed


def removals_html(removals: Removals) -> str:
    """A strip of the sentence's words coloured by what the first candidate loses or gains without each; a table.

    Changes are in points: 62% to 20% are -42.
    """

    def change_by(removal: Removal) -> float:
        return float(removal.probabilities[0] - removals.before[0])

    changes = {place: change_by(removal) for removal in removals.each for place in removal.places}
    most = max(map(abs, changes.values()), default=0.0) or 1.0
    encoding = removals.encoding
    cells = [
        {
            "token": visible(encoding.tokens[place]),
            "style": hue_style(encoding, place),
            "change": changes.get(place),  # None for the masked word itself
            "share": 100 * abs(changes.get(place, 0.0)) / most,
            "points": _points(changes.get(place, 0.0)),
        }
        for place in range(len(encoding))
        if not encoding.special_tokens_mask[place]
    ]
    key = min(removals.each, key=change_by)
    return TEXT.removals(removals, cells, key if change_by(key) < 0 else None, token_label, percent)


def beside_html(here: tuple[str, Distribution], there: tuple[str, Distribution], style: str) -> str:
    """Two sentences' five likeliest words beside each other, and the same word's probability in both.

    What is looked at in `there` must be what is looked at in `here`.
    """
    both = here, there
    widest = max(guesses.best[0].probability for _, guesses in both)  # bars of both are one measure
    sides = [
        {
            "text": short(text, 90),
            "best": best_html(guesses, True, style, widest),
            "chance": percent(guesses.target.probability),
        }
        for text, guesses in both
    ]
    return TEXT.beside(token_label(here[1].target.token), sides)


def likelihood_html(likelihood: Likelihood) -> str:
    """Each token with the logarithm of its probability, the less likely the darker; the sum, and what it means."""
    tokens, known = likelihood.encoding.tokens, likelihood.log_probabilities
    deepest = max(1.0, -float(known.min(initial=0.0)))
    cells = [
        {
            "token": visible(tokens[place]),
            "logarithm": signed(value, ".2f"),
            "share": -100 * value / deepest,
            "chance": percent(float(np.exp(value))),
        }
        for place, value in zip(likelihood.places, known, strict=False)
    ]
    cells += [{"token": visible(tokens[place]), "logarithm": ""} for place in likelihood.places[len(known) :]]
    return TEXT.likelihood(
        cells=cells,
        likelihood=likelihood,
        known=len(known),
        hardest=visible(tokens[likelihood.places[int(known.argmin())]]),
        hardest_chance=percent(float(np.exp(known.min()))),
        total=signed(likelihood.total, ".2f"),
    )


def _points(change: float) -> str:
    return signed(100 * change, "+.1f")
