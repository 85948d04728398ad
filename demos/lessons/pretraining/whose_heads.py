"""Which pre-training heads are at work, and who trained them."""

from __future__ import annotations

import html
from collections.abc import Mapping

OURS = (
    "The bundled model came without heads for words and next sentences. This project trained a pair, and the layers "
    "beneath on with them: {tokens:.0f} million tokens of old books and Wikipedia; BERT read some 43,000 million. "
    "It guesses, and often badly."
)
THEIRS = "The heads are {title}'s own, trained by {trained_by} with the encoder."


def whose_html(title: str, about: Mapping[str, str]) -> str:
    """One line about the heads; `about` as in `Pretrained`, `tokens` a count.

    43,000 million: 1,000,000 steps of 256 sequences, of 128 tokens in nine steps of ten, else of 512 (Devlin et al.
    2019, A.2); padding counted.
    """
    if "tokens" in about:
        said = OURS.format(tokens=int(about["tokens"]) / 1e6)
    else:
        said = THEIRS.format(title=html.escape(title), trained_by=html.escape(about["trained_by"]))
    return f'<p class="aside">{said}</p>'
