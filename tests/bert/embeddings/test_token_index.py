"""An index of token vectors: equal to the texts read one by one, made once, within its bounds."""

import numpy as np
import pytest

from demos.bert.embeddings import token_index
from demos.bert.embeddings.late_interaction import max_sims, token_vectors
from demos.bert.embeddings.token_index import TokenIndexes
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

TEXTS = [f"The bank of river {number}." for number in range(40)]


def test_both_scores_are_those_of_single_texts(tiny: LoadedModel) -> None:
    (query,) = token_vectors(tiny, ["A river bank"])
    by_mean, by_token = TokenIndexes().get(tiny, TEXTS).scores(query)
    alone = [token_vectors(tiny, [text])[0] for text in TEXTS]
    np.testing.assert_allclose(by_token, max_sims([query], alone)[0], atol=1e-5)
    cosines = [one.mean @ query.mean / np.linalg.norm(one.mean) / np.linalg.norm(query.mean) for one in alone]
    np.testing.assert_allclose(by_mean, cosines, atol=1e-5)


def test_an_index_is_made_once_and_its_progress_told(tiny: LoadedModel) -> None:
    kept = TokenIndexes()
    steps = kept.steps(tiny, TEXTS)
    assert [(step.done, step.total) for step in steps] == [(32, 40), (40, 40)]
    assert kept.get(tiny, TEXTS) is kept.get(tiny, list(TEXTS))
    assert kept.get(tiny, TEXTS[:3]) is not kept.get(tiny, TEXTS)


def test_texts_and_lists_have_a_bound(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Budget(1e9)
    kept = TokenIndexes(memory)
    index = kept.get(tiny, ["river " * 300])
    assert index.token_count == token_index.MOST_TOKENS - 2  # [CLS] and [SEP] are read, but not compared
    assert memory.usage() == {"token vectors": index.nbytes}
    with pytest.raises(UserError, match="of memory, but the server has only"):
        TokenIndexes(Budget(100_000)).get(tiny, TEXTS)
    with pytest.raises(UserError, match="at most 500 sentences for it; this one has 501"):
        kept.get(tiny, [str(number) for number in range(501)])
    monkeypatch.setattr(token_index, "MAX_CACHE_BYTES", index.nbytes * 3 // 2)
    small = TokenIndexes(memory)
    first = small.get(tiny, ["river " * 300])
    assert small.get(tiny, ["river " * 300]) is first
    small.get(tiny, ["bank " * 300])
    del first
    assert memory.usage()["token vectors"] <= index.nbytes + token_index.MAX_CACHE_BYTES
