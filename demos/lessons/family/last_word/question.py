"""The question about the states that change with a word."""

from __future__ import annotations

from demos.bert.causal.last_word import changes
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence, other_word: str) -> Answer:
    """In the decoder and in BERT, after the last layer."""
    bert = changes(services.loaded(sentence.model), sentence.text, other_word)
    decoder = changes(services.decoder().encoder, sentence.text, other_word, decoder=True)
    before = bert.replaced[0] if bert.replaced else len(bert.encoding)
    facts = {"before": before, "bert": bert.changed(before), "changed": decoder.changed(before)}
    return Answer(facts=facts | {"other": other_word})
