"""The tokens nearest to one in its sentence, against transformers' own hidden states and plain numpy."""

import numpy as np
import pytest
import torch

from demos.bert.embeddings import similar_tokens
from demos.bert.embeddings.similar_tokens import MOST_TOKENS, LayerIndexes, common, nearest, others
from demos.bert.model.encoding import encode
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel

TEXTS = ["The river bank.", "A bank of the river.", "The bank sat by the river and the bank.", "Money [SEP] in a bank"]
QUERY = "She sat by the bank."


def states_of(loaded: LoadedModel, text: str, layer: int) -> tuple[list[int], np.ndarray]:
    """Token ids and the hidden states [n, d] of one layer, by transformers alone."""
    inputs = loaded.tokenizer(text, truncation=True, max_length=MOST_TOKENS, return_tensors="pt")
    with torch.inference_mode():
        states = loaded.model(**inputs, output_hidden_states=True).hidden_states[layer][0]
    return inputs["input_ids"][0].tolist(), states.numpy().astype(np.float64)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_cosines_ranks_and_what_is_common_are_those_of_plain_numpy(tiny: LoadedModel, layer: int) -> None:
    texts = [*TEXTS, QUERY, "river " * 200]
    encoding = encode(tiny.tokenizer, QUERY, max_length=MOST_TOKENS)
    ids, states = states_of(tiny, QUERY, layer)
    place = encoding.tokens.index("bank")
    special = set(tiny.tokenizer.all_special_ids) - {tiny.tokenizer.mask_token_id, tiny.tokenizer.unk_token_id}
    expected = []  # sentence, position, cosine, same token, position, before, after
    for number, text in enumerate(texts):
        theirs, vectors = states_of(tiny, text, layer)
        for at, token in enumerate(theirs):
            if token not in special:
                norms = np.linalg.norm(vectors[at]) * np.linalg.norm(states[place])
                same = (
                    token == ids[place],
                    at == place,
                    theirs[at - 1] == ids[place - 1],
                    theirs[at + 1] == ids[place + 1],
                )
                expected.append((number, at, vectors[at] @ states[place] / norms, *same))
    index = LayerIndexes().get(tiny, texts, layer)
    assert index.units.dtype == np.float16
    assert [*zip(index.sentences, index.positions, strict=True)] == [row[:2] for row in expected]
    cosines = np.array([row[2] for row in expected])
    np.testing.assert_allclose(index.cosines(states[place]), cosines, atol=1e-3)
    shared = common(index, encoding, place)
    for flags, column in zip((shared.token, shared.position, shared.left, shared.right), range(3, 7), strict=True):
        assert flags.tolist() == [row[column] for row in expected]
    allowed = others(index, encoding, place)
    assert [expected[row][:2] for row in np.flatnonzero(~allowed)] == [(len(TEXTS), place)]  # itself, in the list
    result = nearest(index, states[place], allowed, 5)
    best = np.argsort(-np.where(allowed, cosines, -np.inf), kind="stable")[:5]
    np.testing.assert_allclose(cosines[result.rows], cosines[best], atol=1e-3)
    assert result.ranks[result.rows].tolist() == [1, 2, 3, 4, 5]
    assert len(nearest(index, states[place], allowed, 10**6).rows) == len(index) - 1


def test_an_index_is_made_once_a_layer_and_its_progress_told(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Budget(1e9)
    indexes = LayerIndexes(memory)
    texts = [f"The bank of river {number}." for number in range(200)]
    steps = [(step.done, step.total) for step in indexes.steps(tiny, texts, 1)]
    assert len(steps) > 1
    assert steps[-1] == (200, 200)
    assert steps == sorted(set(steps))
    index = indexes.get(tiny, texts, 1)
    assert index is indexes.get(tiny, list(texts), 1)
    assert index is not indexes.get(tiny, texts, 2)
    assert memory.usage() == {similar_tokens.KIND: 2 * index.nbytes}
    with pytest.raises(Exception, match="of memory, but the server has only"):
        LayerIndexes(Budget(1_000)).get(tiny, texts, 1)


def test_a_search_that_is_closed_keeps_nothing_and_can_begin_again(tiny: LoadedModel) -> None:
    memory = Budget(1e9)
    indexes = LayerIndexes(memory)
    texts = [f"The bank of river {number}." for number in range(200)]
    steps = indexes.steps(tiny, texts, 1)
    next(steps)
    assert memory.usage()
    steps.close()
    assert memory.usage() == {}
    assert len(indexes.get(tiny, texts, 1)) > 200
