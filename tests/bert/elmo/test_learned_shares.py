"""Learned shares: the optimum that scipy finds too, and what can't be learned from."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from demos.bert.elmo.bundled import bundled
from demos.bert.elmo.learned_shares import layers_of_uses, learn_shares
from demos.bert.elmo.mixing import mixed, read
from demos.bert.elmo.words import split_words
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.word_occurrences import Use
from demos.bert.embeddings.word_senses import bundled_uses
from demos.errors import UserError


def test_they_are_the_optimum_and_the_word_alone_gets_no_share() -> None:
    labelled = [example for example in bundled_uses() if example.word in ("stick", "bank", "bat")]
    layers = layers_of_uses(bundled(), [example.use for example in labelled])
    words, senses = [example.word for example in labelled], [example.sense for example in labelled]
    learned = learn_shares(layers, words, senses)
    pairs = [(i, j) for j in range(len(words)) for i in range(j) if words[i] == words[j]]
    same = np.array([senses[i] == senses[j] for i, j in pairs])
    first, second = np.array(pairs).T

    def loss(numbers: np.ndarray) -> float:
        vectors = mixed(layers.swapaxes(0, 1), softmax(numbers[:3]))
        return float(log_loss(same, expit(numbers[3] * cosine(vectors[first], vectors[second]) + numbers[4])))

    assert learned.pairs == len(pairs)
    at = np.array([*np.log(np.maximum(learned.shares, 1e-12)), learned.scale, learned.offset])
    assert learned.loss == pytest.approx(loss(at), abs=1e-6)
    by_scipy = minimize(loss, np.array([0, 0, 0, 1.0, 0]), method="Nelder-Mead", options={"maxiter": 4_000})
    assert learned.loss <= by_scipy.fun + 1e-4
    assert learned.guessing_loss == pytest.approx(log_loss(same, np.full(len(same), same.mean())))
    assert learned.loss < learned.guessing_loss
    assert learned.shares.sum() == pytest.approx(1)


def test_with_all_sentences_the_top_layer_has_the_largest_share() -> None:
    labelled = bundled_uses()
    layers = layers_of_uses(bundled(), [example.use for example in labelled])
    learned = learn_shares(layers, [example.word for example in labelled], [example.sense for example in labelled])
    assert learned.shares[0] < 0.05 < learned.shares[1] < learned.shares[2]
    assert learned.loss < learned.guessing_loss


def test_a_use_s_states_are_those_of_its_word() -> None:
    sentence = "Let's stick to the plan, or find a stick."
    layers = layers_of_uses(bundled(), [Use(sentence, 35, 40), Use(sentence, 6, 11)])
    states = read(bundled(), split_words(sentence)).layers
    places = [at for at, word in enumerate(split_words(sentence)) if word == "stick"]
    np.testing.assert_array_equal(layers, [states[:, places[1]], states[:, places[0]]])
    with pytest.raises(UserError, match="“tick” is not a word"):
        layers_of_uses(bundled(), [Use(sentence, 7, 11)])
    with pytest.raises(UserError, match="same sense and pairs with different"):
        learn_shares(layers, ["stick", "stick"], ["hold", "hold"])
