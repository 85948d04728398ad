"""Packed spans as bars, one hue per sentence; and the masked places of one example, one row per pass over the data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.spans import Instance, Piece
from demos.figures.palette import word_colour
from demos.figures.program import model_lines
from demos.figures.short_text import short
from demos.files import read_beside
from demos.templates import templates

TEXT = templates(__file__)
CHOSEN = 0.15  # of the tokens
SHOWN_ROWS, SHOWN_TOKENS = 12, 96
PROGRAM = read_beside(__file__, "program.txt")


@dataclass(frozen=True)
class Drawn:
    """The sentences of documents, the instances of one of them, and the length that they were packed to."""

    documents: Sequence[Sequence[str]]
    instances: Sequence[Instance]
    length: int

    def _piece(self, piece: Piece) -> dict[str, object]:
        return {
            "text": self.documents[piece.document][piece.sentence],
            "short": short(self.documents[piece.document][piece.sentence], 60),
            "hue": word_colour(piece.sentence),
            "width": 100 * piece.tokens / self.length,
            "tokens": piece.tokens,
            "other": piece.document != 0,
            "cut": piece.front + piece.back,
        }

    def rows(self) -> list[dict[str, object]]:
        """Each instance as the page shows it."""
        return [
            {
                "spans": [[self._piece(piece) for piece in span] for span in (instance.first, instance.second)],
                "is_next": instance.is_next,
                "tokens": instance.tokens,
                "padding": self.length - instance.tokens,
                "target": instance.target,
                "special": 100 / self.length,
            }
            for instance in self.instances
        ]


def packed_html(drawn: Drawn) -> str:
    """One bar per instance: [CLS] A [SEP] B [SEP] and padding, to scale."""
    rows = drawn.rows()
    used = sum(instance.tokens for instance in drawn.instances)
    single = sum(len(document) for document in drawn.documents[:1])
    return TEXT.packed(rows[:SHOWN_ROWS], len(rows), drawn.length, used / (len(rows) * drawn.length), single)


def masked_at(tokens: int, instance: Instance, passes: int, copies: int | None, seed: int) -> list[frozenset[int]]:
    """The chosen places of `instance`, with `tokens` tokens, in each pass: 15%, never [CLS] or [SEP].

    With `copies`, as many masks are drawn and used in turn (BERT); without, each pass draws its own (Liu et al. 2019,
    section 4.1).
    """
    border = 1 + sum(piece.tokens for piece in instance.first)
    free = [place for place in range(1, tokens - 1) if place != border]
    rng = np.random.default_rng([seed, 1])
    count = min(len(free), max(1, round(CHOSEN * tokens)))
    draws = [frozenset(rng.choice(free, count, replace=False).tolist()) for _ in range(min(passes, copies or passes))]
    return [draws[at % len(draws)] for at in range(passes)]


def strips_html(places: Sequence[frozenset[int]], tokens: int, copies: int | None) -> str:
    """One row per pass, one cell per token."""
    shown = min(tokens, SHOWN_TOKENS)
    rows = [[at in chosen for at in range(shown)] for chosen in places]
    first = {chosen: at for at, chosen in reversed([*enumerate(places)])}
    repeats = [first[chosen] if first[chosen] < at else None for at, chosen in enumerate(places)]
    return TEXT.strips(list(zip(rows, repeats, strict=True)), tokens, shown, copies)


def spans_code(spec: ModelSpec, sentences: Sequence[str], length: int, seed: int) -> str:
    """Prints each example's spans; it reads the other texts from a file of Inside BERT."""
    needed, source = model_lines(spec)
    listed = "".join(f"    {sentence!r},\n" for sentence in sentences)
    return PROGRAM.format(needed=needed, source=source, sentences=listed, length=length, seed=seed)
