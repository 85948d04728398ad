"""The question about unknown words, answered with the words of the reader's sentence."""

from __future__ import annotations

from collections import Counter

from demos.bert.model.encoding import encode
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of words, of cut words, of unknown words and of tokens."""
    tokenizer = services.loaded(sentence.model).tokenizer
    encoding = encode(tokenizer, sentence.text, sentence.text_pair)
    pieces = Counter(word for word in encoding.word_index if word is not None)
    return Answer(
        facts={
            "words": len(pieces),
            "cut": sum(count > 1 for count in pieces.values()),
            "unknown": encoding.tokens.count(tokenizer.unk_token),
            "tokens": len(encoding),
        }
    )
