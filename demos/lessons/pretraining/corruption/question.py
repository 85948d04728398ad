"""The question about tokens that are chosen but not masked, answered with their numbers in the reader's sentence."""

from __future__ import annotations

from demos.bert.model.encoding import encode
from demos.bert.pretraining.corruption import PAPER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The numbers of the paper's shares, for the bar's sentence."""
    tokens = len(encode(services.loaded(sentence.model).tokenizer, sentence.text, sentence.text_pair))
    chosen = max(1, round(tokens * PAPER.chosen))
    numbers = [chosen * share for share in PAPER.kinds]
    kinds = dict(zip(("masked", "random", "same"), numbers, strict=True))
    return Answer(facts={"tokens": tokens, "chosen": chosen, **kinds})
