"""A kept model into a person's own account on the Hub, with the token that they signed in with, used once."""

import re
from functools import partial
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from demos.bert.model.fetching import DaemonThreads
from demos.errors import UserError

LONGEST = 60  # characters of a name
ASK_SECONDS, UPLOAD_SECONDS = 30.0, 900.0  # after which the Hub counts as away: its client waits for ever
THREADS = DaemonThreads("hub")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[._-](?=[A-Za-z0-9]))*")
_FULL = re.compile(r"storage|quota", re.IGNORECASE)
UNNAMED = (
    f"Name the model first: at most {LONGEST} letters and digits, with single dots, dashes or underscores between them."
)
SIGN_IN = "Sign in with your Hub account first."
TAKEN = "You already have a model with this name, and it was not changed; choose another name."
FULL = "The Hub refused the model: your account has no storage left for it."
WHY = {
    401: "Your sign-in is no longer valid on the Hub; sign in again.",
    402: FULL,
    403: "This sign-in may not write to your account; sign in again and allow it.",
    409: TAKEN,
    413: "The Hub refused the model: it is too large.",
    429: "The Hub received too many requests; try again in a few minutes.",
    507: FULL,
}
UNREACHED = "The Hub could not be reached, so nothing was published; try again."
BROKE_OFF = "The upload was interrupted, and nothing was kept on the Hub; try again."
LEFT = "The upload was interrupted and left an empty model in your account; delete it there, or choose another name."


def repository_of(account: str, name: str) -> str:
    """The name of a repository in the account: "ann/my-bert". Raises UserError for one that the Hub would not take."""
    name = str(name or "").strip()
    if len(name) > LONGEST or not _NAME.fullmatch(name) or name.endswith((".git", ".ipynb")):
        raise UserError(UNNAMED)
    return f"{account}/{name}"


def check_new(repository: str, token: str) -> None:
    """Raises UserError where the account has a model of that name, or where the Hub does not say."""
    try:
        answer = THREADS.submit(lambda: HfApi(token=token).repo_exists(repository, repo_type="model"))
        there = answer.result(ASK_SECONDS)
    except Exception as error:
        raise UserError(_why(error, UNREACHED)) from None
    if there:
        raise UserError(TAKEN)


def push(folder: Path, repository: str, token: str, private: bool = True) -> str:
    """Make the repository with the token of its account and upload the folder; its address.

    One that is there already is never written to, and one whose upload broke off is deleted again. Raises UserError, in
    one sentence that holds no token: the errors themselves may hold the request.
    """
    api, named = HfApi(token=token), {"repo_id": repository, "repo_type": "model"}
    try:
        made = THREADS.submit(lambda: api.create_repo(**named, private=private, exist_ok=False)).result(ASK_SECONDS)
    except Exception as error:
        raise UserError(_why(error, UNREACHED)) from None
    uploaded = partial(api.upload_folder, **named, folder_path=folder, commit_message="Fine-tuned in Inside BERT")
    try:
        THREADS.submit(uploaded).result(UPLOAD_SECONDS)
    except Exception as error:
        try:
            THREADS.submit(lambda: api.delete_repo(**named)).result(ASK_SECONDS)
        except Exception:
            raise UserError(LEFT) from None
        raise UserError(_why(error, BROKE_OFF)) from None
    return str(made.url)


def _why(error: Exception, otherwise: str) -> str:
    """The Hub's own reason in a sentence; its client raises many kinds of error where it can't be reached."""
    status = getattr(error.response, "status_code", 0) if isinstance(error, HfHubHTTPError) else 0
    if status == 403 and _FULL.search(str(error)):  # the Hub's answer where an account is full
        return FULL
    return WHY.get(status, otherwise)
