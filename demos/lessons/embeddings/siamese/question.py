"""The question about the number of encoders in a siamese training."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The parameters of the reader's encoder."""
    model = services.loaded(sentence.model).model
    return Answer(facts={"parameters": f"{sum(weights.numel() for weights in model.parameters()):,}"})
