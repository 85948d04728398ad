"""The door for text: what a person typed, made safe for a tokenizer, or refused in one sentence."""

import re

from demos.errors import UserError

MAX_CHARACTERS = 20_000
MASK = "[MASK]"  # also typed in small letters, which are replaced: as long, so that offsets hold
_ANY_MASK = re.compile(r"\[mask\]", re.IGNORECASE | re.ASCII)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean_text(text: str | None, name: str = "The text") -> str:
    """Return `text` with [mask] in any letters as [MASK], and lone surrogates (TypeError in tokenizers) as U+FFFD.

    Raises UserError if it has more than MAX_CHARACTERS characters: a longer text costs seconds in the tokenizer,
    and BERT reads 512 tokens of it at most.
    """
    if text is None:
        return ""
    if not isinstance(text, str):
        raise UserError(f"{name} must be text.")
    if len(text) > MAX_CHARACTERS:
        raise UserError(f"{name} has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}.")
    return _ANY_MASK.sub(MASK, _LONE_SURROGATE.sub("\ufffd", text))


def small_mask(*texts: str) -> str:
    """The first [mask] in these texts that `clean_text` replaces, as it is typed; "" where there is none."""
    typed = (mask for text in texts for mask in _ANY_MASK.findall(text) if mask != MASK)
    return next(typed, "")
