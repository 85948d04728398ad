"""Lesson: the tokens that each token attends to. Its parts are the folders beside this file."""

import numpy as np

from demos.bert.attention.queries_keys import check_head, check_layer
from demos.bert.model.encoding import truncation_notice
from demos.errors import UserError
from demos.files import Json
from demos.page.lesson import Lesson, Page
from demos.page.parts import parts_of
from demos.page.past_runs import give_back
from demos.page.services import Sentence

ALL_HEADS = -1
MOST_NUMBERS = 300_000  # in an answer: 3 MB of JSON


def build(page: Page) -> None:
    """Above the parts: the model that this reader has fine-tuned is given back. Also the API's endpoint."""
    give_back(page)
    offer_endpoint(page)


def offer_endpoint(page: Page) -> None:
    """The API's `attention`."""
    services = page.services

    def attention(text: str, text_pair: str = "", layer: int = 0, model: str = "", head: int = -1) -> Json:
        """Tokens, and one layer's attention as heads x n x n nested lists, a row a query, rounded to 6 digits.

        layer counts as transformers' attentions do, negative ones from the end; text_pair may be empty; model is a
        catalogue key, empty for the default. head is counted from 0, and -1 means all of them. An answer has at most
        300,000 weights: 12 heads of 158 tokens, or one head of 512. Beyond 512 tokens the input is cut, and "notice"
        says so.
        """
        run = services.run(Sentence(text, text_pair, model))
        weights = run.attentions[check_layer(layer, run.num_layers)]
        if head != ALL_HEADS:
            place = check_head(head, run.num_heads)
            weights = weights[place : place + 1]
        if weights.size > MOST_NUMBERS:
            raise UserError(
                f"All heads of {weights.shape[-1]} tokens are {weights.size:,} weights; an answer has at most "
                f"{MOST_NUMBERS:,}. Ask for one head, 0 to {run.num_heads - 1}, or for a shorter text."
            )
        result: Json = {
            "tokens": list(run.encoding.tokens),
            "attention": np.round(weights.astype(np.float64), 6).tolist(),
        }
        if notice := truncation_notice(run.encoding):
            result["notice"] = notice
        return result

    # One at a time: it holds some 10 MB until it is fetched.
    page.endpoint(attention, concurrency_id="attention", concurrency_limit=1)


LESSON = Lesson(
    slug="attention",
    order=2,
    tab="Attention",
    question="Which tokens does each token attend to?",
    look=(
        "In every head, each token splits a total weight of 1 across all tokens; the head's output is the weighted sum "
        "of their value vectors. Some heads attend mostly to the previous token, others to the next. A large weight on "
        "a short vector adds little, so weights alone do not explain the output."
    ),
    build=build,
    parts=parts_of(__name__),
)
