"""The question about the cosine between a token's embedding and its states after the first and the last layer."""

from __future__ import annotations

from demos.bert.embeddings.similarity import cosine
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick

TIE = 0.02  # cosines that differ by less are the same


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The cosines of a token's embedding output with its first and with its last hidden state."""
    run = services.run(sentence)
    at = pick(run.encoding, token)
    first, last = (cosine(run.hidden_states[0], run.hidden_states[layer]) for layer in (1, -1))  # [n] each
    key = "falls" if last[at] < first[at] - TIE else "rises" if last[at] > first[at] + TIE else "same"
    facts = {"piece": run.encoding.tokens[at], "first": first[at], "last": last[at], "layers": run.num_layers}
    return Answer(keys=frozenset({key}), facts=facts | {"mean_first": first.mean(), "mean_last": last.mean()})
