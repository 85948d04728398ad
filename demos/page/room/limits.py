"""Limits on how often something may be done, and on the content of a text."""

import re
import time
from collections.abc import Callable

from demos.errors import UserError

# Controls, marks of the writing's direction (which would turn the text beside them), and halves of pairs.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class Allowance:
    """`most` at once, and `per_second` more after that (a token bucket)."""

    def __init__(self, most: float, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.per_second, self.clock = most, per_second, clock
        self.left, self.at = most, clock()

    def take(self) -> bool:
        """Whether one more is allowed now; it is counted."""
        now = self.clock()
        self.left, self.at = min(self.most, self.left + (now - self.at) * self.per_second), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


def checked_text(value: object, what: str, most: int) -> str:
    """A text that somebody sent, on one line. Raises UserError where it is none, empty, or longer than `most`."""
    if not isinstance(value, str) or len(value) > 4 * most:
        raise UserError(f"{what} has at most {most} characters.")
    text = " ".join(UNSEEN.sub(" ", value).split())
    if not text:
        raise UserError(f"{what} is empty.")
    if len(text) > most:
        raise UserError(f"{what} may have at most {most} characters; this one has {len(text)}.")
    return text
