"""The question about the properties that a map of vectors keeps."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The width of the reader's model."""
    return Answer(facts={"width": services.loaded(sentence.model).model.config.hidden_size})
