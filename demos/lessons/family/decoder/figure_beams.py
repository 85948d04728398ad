"""A beam's texts beside the greedy one and a random one, each with its log-probability; repetitions underlined."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from demos.bert.decoding.beam import Search
from demos.figures.token_chips import token_label, visible
from demos.templates import templates

TEXT = templates(__file__)
EQUAL = 5e-4  # log-probabilities that float32 alone makes differ


@dataclass(frozen=True)
class Text:
    """The text that one method wrote."""

    name: str  # the method's name; none for a further text of the beam
    tokens: Sequence[str]
    repeated: Sequence[bool]  # of each token
    log_probability: float

    @property
    def pieces(self) -> list[dict[str, object]]:
        """The tokens to show, each joined to the token before it if it continues that token's word."""
        shown = [self.tokens[0], *(token.removeprefix("##") for token in self.tokens[1:])]
        return [
            {"text": visible(text), "joined": text != token, "repeated": mark}
            for text, token, mark in zip(shown, self.tokens, self.repeated, strict=True)
        ]


def beams_html(texts: Sequence[Text]) -> str:
    """The greedy text, the beam's, the likeliest first, and the random one; and how the first two compare."""
    greedy, best = texts[0], texts[1]
    gain = best.log_probability - greedy.log_probability
    return TEXT.beams(texts, gain if abs(gain) > EQUAL else 0.0, math.exp(gain))


def candidates_html(result: Search, word: Callable[[int], str]) -> str:
    """The best candidates of each step as a table."""
    rows = [
        (at, [token_label(word(token)) for token in candidate.hypothesis.tokens], candidate)
        for at, step in enumerate(result.steps, start=1)
        for candidate in step
    ]
    return TEXT.candidates(rows)
