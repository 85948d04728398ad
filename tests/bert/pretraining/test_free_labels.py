"""The labels a text gives by itself: the text's own tokens and order, 15 % and one, whatever the text is."""

import numpy as np
import pytest
from scipy.stats import binomtest

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.free_labels import free_labels, sentences_of
from demos.errors import UserError

TEXT = "The kettle sang. Nobody heard it! Was anyone at home? The cat was."
OTHERS = ("Trains leave at nine.", "Fold the flour in.")


def test_sentences() -> None:
    assert sentences_of(TEXT) == ["The kettle sang.", "Nobody heard it!", "Was anyone at home?", "The cat was."]
    assert sentences_of("one line\n\nanother 3.5 one") == ["one line", "another 3.5 one"]
    assert sentences_of(" \n ") == []


def test_every_label_is_the_texts_own(tiny: LoadedModel) -> None:
    rng = np.random.default_rng(0)
    following, borders = 0, set()
    for _ in range(200):
        found = free_labels(tiny.tokenizer, TEXT, OTHERS, rng)
        plain = encode(tiny.tokenizer, found.first, found.second)
        assert found.encoding == plain
        chosen = found.corruption.chosen
        assert found.corruption.labels[chosen].tolist() == [plain.input_ids[place] for place in chosen]
        assert found.count == max(1, round(0.15 * len(plain))) + 1
        if found.is_next:
            assert f"{found.first} {found.second}" == TEXT
        else:
            assert TEXT.startswith(found.first)
            assert found.second in OTHERS
        following += found.is_next
        borders.add(found.first)
    assert binomtest(following, 200, 0.5).pvalue > 0.01
    assert len(borders) == 3


def test_one_sentence_has_no_next_one(tiny: LoadedModel) -> None:
    rng = np.random.default_rng(0)
    assert not any(free_labels(tiny.tokenizer, "One only.", OTHERS, rng).is_next for _ in range(20))
    with pytest.raises(UserError, match="no text to derive"):
        free_labels(tiny.tokenizer, " \n", OTHERS, rng)
    with pytest.raises(UserError, match="limit is 20,000"):
        free_labels(tiny.tokenizer, "word. " * 4_000, OTHERS, rng)
    long = free_labels(tiny.tokenizer, "word " * 3_000, OTHERS, rng)
    assert len(long.encoding) == 512
