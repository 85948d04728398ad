"""The token picker's chips (HTML, every text escaped): a radio group in which each token keeps its word's hue."""

from __future__ import annotations

import html

from demos.bert.model.encoding import Encoding
from demos.figures.token_chips import hue, visible

PICKED_AMONG = 128  # tokens; more chips than that are a wall


def picker_html(encoding: Encoding, chosen: int, label: str) -> str:
    """The first 128 tokens as chips, the one numbered `chosen` marked."""
    chips = "".join(
        f'<span role="radio" class="pick {hue(encoding.word_index[number])}" data-token="{number}" '
        f'aria-checked="{str(number == chosen).lower()}" tabindex="{0 if number == chosen else -1}">'
        f"{visible(token)}<sub>{number}</sub></span>"
        for number, token in enumerate(encoding.tokens[:PICKED_AMONG])
    )
    rest = len(encoding) - PICKED_AMONG
    more = f"<p>{rest} more tokens can't be chosen here.</p>" if rest > 0 else ""
    name = html.escape(label)
    return f'<div role="radiogroup" aria-label="{name}"><b aria-hidden="true">{name}</b>{chips}</div>{more}'
