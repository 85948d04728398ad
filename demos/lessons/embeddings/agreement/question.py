"""The question about the sentence vectors that agree best with people."""

from __future__ import annotations

from scipy.stats import spearmanr

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.training.data.rated_pairs import our_pairs


def answer(services: Services, sentence: Sentence) -> Answer:
    """Spearman's rho of the cosines and the ratings of this app's own pairs, for three choices."""
    loaded, pairs = services.loaded(sentence.model), our_pairs().pairs
    last = loaded.spec.num_layers
    choices = {"cls": Choice("cls", last), "mean": Choice("mean", last), "input": Choice("mean", 0)}
    texts = [text for pair in pairs for text in (pair.first, pair.second)]
    vectors = services.vectors.get(loaded, texts, list(choices.values()))
    scores = [pair.score for pair in pairs]
    rho = {
        name: float(spearmanr(cosine(rows[::2], rows[1::2]), scores).statistic)
        for name, rows in zip(choices, vectors, strict=True)
    }
    return Answer(facts={"pairs": len(pairs), **rho})
