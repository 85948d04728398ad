"""A kept model into a person's own account on the Hub, with the token that they signed in with, used once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from demos.errors import UserError

LONGEST = 60  # characters of a name
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[._-](?=[A-Za-z0-9]))*")
UNNAMED = (
    f"Name the model first: letters and digits, with single dots, dashes or underscores between, at most {LONGEST}."
)
SIGN_IN = "Sign in with your Hub account first."
WHY = {
    401: "The Hub does not know this sign-in any more; sign in again.",
    403: "This sign-in may not write to your account; sign in again and allow it.",
    409: "You have a model of that name already; choose another.",
    413: "The Hub refused the model: it is too large.",
    429: "The Hub asks to wait; try again in a few minutes.",
}
UNREACHED = "The Hub could not be reached; nothing was kept there, try again."
BROKE_OFF = "The upload broke off; nothing was kept on the Hub, try again."
LEFT = (
    "The upload broke off, and an empty model of that name is left in your account; delete it there, or choose another."
)


def checked_name(name: str) -> str:
    """The repository's name. Raises UserError for one that the Hub would not take."""
    name = str(name or "").strip()
    if len(name) > LONGEST or not _NAME.fullmatch(name) or name.endswith((".git", ".ipynb")):
        raise UserError(UNNAMED)
    return name


def push(folder: Path, name: str, token: str | None, private: bool = True, make: Callable[..., Any] = HfApi) -> str:
    """Make the repository `name` in the account that `token` is of and upload the folder; its address.

    One that is there already is never written to, and one whose upload broke off is deleted again. Raises UserError, in
    one sentence that holds no token: the errors themselves may hold the request.
    """
    name = checked_name(name)
    if not token:
        raise UserError(SIGN_IN)
    api = make(token=token)
    try:
        made = api.create_repo(repo_id=name, repo_type="model", private=private, exist_ok=False)
    except Exception as error:
        raise UserError(_why(error, UNREACHED)) from None
    repository = {"repo_id": made.repo_id, "repo_type": "model"}
    try:
        api.upload_folder(**repository, folder_path=str(folder), commit_message="Fine-tuned in Inside BERT")
    except Exception as error:
        try:
            api.delete_repo(**repository)
        except Exception:
            raise UserError(LEFT) from None
        raise UserError(_why(error, BROKE_OFF)) from None
    return str(made.url)


def _why(error: Exception, otherwise: str) -> str:
    """The Hub's own reason in a sentence; its client raises many kinds of error where it can't be reached."""
    status = getattr(error.response, "status_code", 0) if isinstance(error, HfHubHTTPError) else 0
    return WHY.get(status, otherwise)
