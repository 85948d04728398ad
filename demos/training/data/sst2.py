"""The file and the published numbers of "A Visual Guide to Using BERT for the First Time".

Jay Alammar 2019, https://jalammar.github.io/a-visual-guide-to-using-bert-for-the-first-time/ and its notebook.
"""

import hashlib
import http.client
import urllib.request
from functools import lru_cache

from huggingface_hub import constants

from demos.errors import UserError

URL = "https://github.com/clairett/pytorch-sentiment-classification/raw/master/data/SST2/train.tsv"
SHA256 = "ec192f833a64da08f475488a77b0d0b47db47acd0f458bd18433fc793b569920"
MAX_BYTES = 2 * 2**20
SECONDS = 6.0  # for the server to answer
PUBLISHED = (  # accuracy: the first two are the notebook's, the last two the text's
    ("guessing", 0.527),
    ("DistilBERT's [CLS], frozen", 0.824),
    ("DistilBERT, fine-tuned", 0.907),
    ("BERT-large, fine-tuned", 0.949),
)
OUT_OF_REACH = (
    "SST-2 could not be downloaded just now. If you have the train.tsv of Alammar's guide, choose it as your own file."
)


def is_guide(data: bytes) -> bool:
    """Whether these bytes are the guide's train.tsv: 6,920 sentences of film reviews, each 0 or 1."""
    return hashlib.sha256(data).hexdigest() == SHA256


@lru_cache(maxsize=1)  # a failure is not kept
def fetch_guide() -> bytes:
    """The guide's file from where the guide has it. Raises UserError where that can't be had, or is another file."""
    if constants.HF_HUB_OFFLINE:
        raise UserError(OUT_OF_REACH)
    try:
        with urllib.request.urlopen(URL, timeout=SECONDS) as answer:
            data: bytes = answer.read(MAX_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise UserError(OUT_OF_REACH) from error
    if not is_guide(data):
        raise UserError("The downloaded file for SST-2 differs from that of Alammar's guide, so it is not used.")
    return data
