"""How much of a token's first vector is left after the last layer."""

from __future__ import annotations

from demos.bert.embeddings.similarity import cosine
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick

CLOSE, FAR = 0.8, 0.3


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The cosine of a token's embedding output and its last hidden state."""
    run = services.run(sentence)
    at = pick(run.encoding, token)
    alike = cosine(run.hidden_states[0], run.hidden_states[-1])  # [n]
    key = "close" if alike[at] > CLOSE else "far" if alike[at] < FAR else "half"
    facts = {"piece": run.encoding.tokens[at], "cosine": alike[at], "mean": alike.mean()}
    return Answer(keys=frozenset({key}), facts=facts)
