"""The door for text: what a person typed, made safe for a tokenizer, or refused in one sentence."""

from __future__ import annotations

import re

from demos.errors import UserError

MAX_CHARACTERS = 20_000
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean_text(text: str | None, name: str = "The text") -> str:
    """Return `text` with lone surrogates replaced by U+FFFD (the fast tokenizer raises TypeError on them).

    Raises UserError if it has more than MAX_CHARACTERS characters: a longer text costs seconds in the tokenizer,
    and BERT reads 512 tokens of it at most.
    """
    if text is None:
        return ""
    if not isinstance(text, str):
        raise UserError(f"{name} must be text.")
    if len(text) > MAX_CHARACTERS:
        raise UserError(f"{name} has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}.")
    return _LONE_SURROGATE.sub("\ufffd", text)
