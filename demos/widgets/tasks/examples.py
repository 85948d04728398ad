"""Examples as BERT reads them: tokens as chips, in their segments; and the table of calibration."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demos.bert.model.encoding import Encoding, encode
from demos.figures.token_chips import hue, token_label
from demos.templates import templates
from demos.training.metrics import Calibration

TEXT = templates(__file__)
MAX_CHIPS = 64  # of one sequence


@dataclass(frozen=True)
class Chip:
    """One token: one hue per word, a continuation joined to its word, special tokens grey."""

    piece: str  # HTML
    hue: str  # a CSS class
    joined: bool
    below: str = ""
    colour: str = ""  # of the labels below
    marked: bool = False


def chips(
    tokens: Sequence[str],
    words: Sequence[int | None],
    places: Iterable[int],
    below: Mapping[int, str] | None = None,
    colours: Mapping[int, str] | None = None,
    marked: range = range(0),
) -> list[Chip]:
    """The tokens at these places; `below` are the labels under them, in `colours`, and `marked` a range of them."""
    return [
        Chip(
            piece=token_label(tokens[at]),
            hue=hue(words[at]),
            joined=at > 0 and words[at] is not None and words[at - 1] == words[at],
            below=(below or {}).get(at, ""),
            colour=(colours or {}).get(at, ""),
            marked=at in marked,
        )
        for at in places
    ]


def encoded(text: str, pair: str, tokenizer: Any) -> Encoding:
    """One sequence of at most MAX_CHIPS tokens."""
    return encode(tokenizer, text, pair, MAX_CHIPS)


def segment_chips(encoding: Encoding, segment: int) -> list[Chip]:
    """One segment's tokens."""
    places = [at for at, other in enumerate(encoding.token_type_ids) if other == segment]
    return chips(encoding.tokens, encoding.word_index, places)


def lent_html(model: str) -> str:
    """Said where the model's own tokenizer is not at hand: whose cut is shown."""
    return TEXT.lent(model)


def calibration_table(calibration: Calibration | None) -> str:
    """Test answers by how sure the model was, and how often it was right; with the expected calibration error."""
    return TEXT.calibration(calibration)
