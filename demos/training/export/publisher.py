"""The right to publish a run's model: it belongs to the browser that began the run, and to the account signed in there.

Kept as a file beside the model, hashed, so that it names nobody and is there after a restart.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from demos.errors import UserError

FILE = "publisher.json"
ANOTHERS = "This model was trained in another browser; publish it there, or train it here first."
OTHER_ACCOUNT = "This model was trained while another account was signed in; sign in with that one, or train it again."


@dataclass(frozen=True)
class Publisher:
    """A browser by the key that only it sends, "" where it sends none; and an account's name, "" for nobody."""

    browser: str = ""
    account: str = ""


def keep_publisher(folder: Path, publisher: Publisher) -> None:
    """Note in the run's folder who began it; nothing where no browser is known, since then nobody may publish it."""
    if publisher.browser:
        known = [_hashed(publisher.browser), _hashed(publisher.account)]
        (folder / FILE).write_text(json.dumps(known), encoding="utf-8")


def check_publisher(folder: Path, publisher: Publisher) -> None:
    """Raises UserError unless this is who began the run, signed in by now with the same account if with any then."""
    try:
        browser, account = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UserError(ANOTHERS) from None
    if not publisher.browser or browser != _hashed(publisher.browser):
        raise UserError(ANOTHERS)
    if account not in (_hashed(""), _hashed(publisher.account)):
        raise UserError(OTHER_ACCOUNT)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
