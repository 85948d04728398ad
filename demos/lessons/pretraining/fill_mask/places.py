"""The masked words of a sentence: those that a reader clicked on, its own [MASK]s, or one that is picked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.guesses import place_to_guess
from demos.bert.pretraining.lens import hide
from demos.errors import UserError
from demos.widgets.token_picker.figure import PICKED_AMONG

MAX_HIDDEN = 16
LONGEST = 400  # characters of marks that are read
MARK = re.compile(r"\b(\d{1,3})\.(\d{1,7})\b")
NOTHING = "There is no word to mask; type a sentence. You may write [MASK] for a missing word."


@dataclass(frozen=True)
class Gaps:
    """A sentence with words hidden."""

    whole: Encoding  # as it was typed
    hidden: Encoding  # with [MASK] at `places`
    places: tuple[int, ...]
    focus: int  # the place that is looked at
    marks: tuple[str, ...]  # the reader's own choices that hold for this sentence, the focus first
    truth: int | None  # the id of the token hidden at the focus; None where the sentence has its own [MASK] there

    @property
    def side(self) -> int:
        """The sentence of a pair that is looked at: 0 is the first."""
        return self.whole.sequence_ids[self.focus] or 0

    @property
    def on_side(self) -> list[int]:
        """The hidden places in that sentence."""
        return _on(self.whole, self.places, self.side)


def gaps(tokenizer: Any, encoding: Encoding, marks: str = "", side: int | None = None) -> Gaps:
    """The sentence with its hidden words, of a pair at least one in the sentence `side` where that is given.

    `marks` as script.js writes them: "12.2314, 5.2003". A mark is a token's place and its id, so that
    it means nothing in another sentence; the first is looked at. Without any, the sentence's own [MASK]s are hidden, or
    else one word is picked. Raises UserError if there is no word.
    """
    own = [index for index, token_id in enumerate(encoding.input_ids) if token_id == tokenizer.mask_token_id]
    clicked = _valid(encoding, marks)
    places = sorted({*clicked, *own})
    if not _on(encoding, places, side):
        picked = place_to_guess(encoding, tokenizer.mask_token, PICKED_AMONG, side)
        words = [index for index, special in enumerate(encoding.special_tokens_mask) if not special]
        if picked is None and not _on(encoding, words, side):
            raise UserError(NOTHING)
        places = sorted({*places, _on(encoding, words, side)[0] if picked is None else picked})
    focus = clicked[0] if clicked else _on(encoding, places, side)[0]
    truth = encoding.input_ids[focus]
    return Gaps(
        whole=encoding,
        hidden=hide(tokenizer, encoding, [place for place in places if place not in own]),
        places=tuple(places),
        focus=focus,
        marks=tuple(f"{place}.{encoding.input_ids[place]}" for place in clicked),
        truth=None if truth == tokenizer.mask_token_id else truth,
    )


def _on(encoding: Encoding, places: Sequence[int], side: int | None) -> list[int]:
    """The places that are in this sentence of a pair; all for None."""
    return [place for place in places if side is None or encoding.sequence_ids[place] == side]


def with_gap(gaps: Gaps, mask_token: str) -> str:
    """The sentence that is looked at as text with [MASK] for what is hidden in it, to be changed by hand."""
    text = gaps.whole.text_pair if gaps.side else gaps.whole.text
    spans = [gaps.whole.offsets[place] for place in gaps.on_side]
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}{mask_token}{text[end:]}"
    return text


def _valid(encoding: Encoding, marks: str) -> list[int]:
    """The marks that hold for this sentence, as places in the order of the marks."""
    pairs: Sequence[tuple[str, str]] = MARK.findall((marks or "")[:LONGEST])
    places = [
        int(place)
        for place, token in pairs
        if int(place) < min(len(encoding), PICKED_AMONG)
        and encoding.input_ids[int(place)] == int(token)
        and not encoding.special_tokens_mask[int(place)]
    ]
    return list(dict.fromkeys(places))[:MAX_HIDDEN]
