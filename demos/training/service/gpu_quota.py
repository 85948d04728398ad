"""ZeroGPU's quota: the seconds for which a run requests a GPU, and one sentence on why it got none or lost it."""

import math
import re

from spaces.utils import gradio_request_var
from spaces.zero.config import get_config
from spaces.zero.utils import jwt_payload

from demos.training.data.splits import Splits
from demos.training.settings import Settings

VISITOR_SECONDS = 120  # a day, without an account
ACCOUNT_SECONDS = 300  # with a free one; PRO has 2,400, but the page cannot distinguish the two
TOKEN_HEADER = "x-ip-token"  # by which ZeroGPU distinguishes a visitor from an account
START_SECONDS = 25  # a cold worker: CUDA, the weights, the first kernels
KEEP_SECONDS = 8  # between a run's own end and the GPU's: the last step, the test, the weights' way to the disk
SENTENCES_PER_SECOND = 150  # a careful figure for BERT base, until a run like it was measured
MARGIN = 1.5  # times what the run is expected to take
LEAST_SECONDS = 40  # a visitor has two of these a day, on the dearest hardware as well

# The messages of spaces' client (title, then message), and our sentences for them.
REASONS = {
    r"runs limit": "You have used all the runs that ZeroGPU allows you for now.",
    r"reached its GPU limit": "ZeroGPU could not identify your account; open this Space on huggingface.co.",
    r"pending credits": "Your other runs on ZeroGPU reserve all of your GPU time until they end.",
    r"illegal duration": "This run needs more GPU time than ZeroGPU allows for one run.",
    r"No GPU was available": "No GPU is free at this moment.",
    r"Expired ZeroGPU proxy token": "Your ZeroGPU session expired while the run waited; click Start again.",
    r"Connection closed": "The page was closed while the run waited for a GPU.",
    r"worker error.*aborted": "The process on the GPU ended during the run; nothing of the run was saved.",
    r"worker error": "The run failed on the GPU; nothing of it was saved.",
}
EXPIRED = "The run lost its GPU after {} seconds and stopped; nothing of it was saved."
DUPLICATE = "To train on hardware of your choice, choose “Duplicate this Space” in this Space’s menu on huggingface.co."
NO_ANSWER = "ZeroGPU does not answer at this moment."
_QUOTA = re.compile(r"\((\d+)s requested vs\. (-?\d+)s left\)\. Try again in (?:(\d+) days?, )?(\d+):(\d+)")


def day_seconds() -> int:
    """The daily GPU seconds of the reader who presses the button, as far as the page knows who that is."""
    request = gradio_request_var().get(None)
    token = request.headers.get(TOKEN_HEADER) if request is not None else None
    try:
        user = jwt_payload(token).get("user") if token else None
    except Exception:  # a token of another form
        user = None
    return ACCOUNT_SECONDS if user else VISITOR_SECONDS


def work_seconds(dataset: Splits, settings: Settings, examples_per_second: float = 0.0) -> float:
    """The seconds of a run on a lent GPU once it has begun; by the speed of the last similar one, if there was one.

    A score costs a third of a step.
    """
    looks = settings.epochs * settings.evaluations + 1
    work = settings.epochs * len(dataset.train) + (looks * len(dataset.validation) + len(dataset.test)) / 3
    return work / examples_per_second if examples_per_second else work * dataset.sentences / SENTENCES_PER_SECOND


def seconds_to_ask(work: float) -> int:
    """For how long to borrow a GPU for a run of so many seconds: no longer than the reader's whole day allows.

    ZeroGPU counts a second as `duration_factor` seconds, by the hardware that the Space is on.
    """
    most = int(day_seconds() / get_config()["duration_factor"])
    return min(most, max(LEAST_SECONDS, START_SECONDS + KEEP_SECONDS + math.ceil(MARGIN * work)))


def reason(error: Exception, lent: int, seconds: float) -> str:
    """The reason why a run that was lent a GPU for `lent` seconds has none, `seconds` after its request."""
    message = f"{getattr(error, 'title', '')}: {getattr(error, 'message', error)}"
    if quota := _QUOTA.search(message):
        requested, left, days, hours, minutes = (int(number or 0) for number in quota.groups())
        wait = f"{24 * days + hours} h {minutes} min" if days or hours else f"{minutes + 1} min"
        said = f"This run needs {requested} s of GPU time; you have {max(0, left)} s left, and get more in {wait}."
        return f"{said} {DUPLICATE}"
    if "aborted" in message and seconds >= lent:
        return EXPIRED.format(lent)
    return next((sentence for words, sentence in REASONS.items() if re.search(words, message)), NO_ANSWER)
