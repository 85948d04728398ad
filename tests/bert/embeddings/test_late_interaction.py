"""Token vectors against transformers, one text at a time; MaxSim against a loop over its definition."""

import numpy as np
import pytest
import torch

from demos.bert.embeddings.late_interaction import interaction, max_sims, token_vectors
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

TEXTS = ["The bank of the river.", "A river bank, far away!", "Money.", "...", "What is unbelievable about rivers?"]


def test_a_vector_a_word_piece(tiny: LoadedModel) -> None:
    for text, vectors in zip(TEXTS, token_vectors(tiny, TEXTS), strict=True):
        inputs = tiny.tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            states = tiny.model(**inputs).last_hidden_state[0]
        names = tiny.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        words = [at for at, name in enumerate(names) if name not in ("[CLS]", "[SEP]", ".", ",", "!", "?")]
        assert list(vectors.labels.names) == [names[at] for at in words]
        expected = (states / states.norm(dim=1, keepdim=True))[words].numpy()
        np.testing.assert_allclose(vectors.units, expected, atol=1e-5)
        np.testing.assert_allclose(vectors.mean, states.mean(0).numpy(), atol=1e-5)


def test_maxsim(tiny: LoadedModel) -> None:
    vectors = token_vectors(tiny, TEXTS)
    queries = [one for one in vectors if len(one)]
    scores = max_sims(queries, vectors)
    for query, row in zip(queries, scores, strict=True):
        for sentence, score in zip(vectors, row, strict=True):
            cosines = [[float(a @ b) for b in sentence.units] for a in query.units]
            expected = sum(max(line) for line in cosines) if len(sentence) else 0
            assert score == pytest.approx(expected, abs=1e-4)
            if len(sentence):
                found = interaction(query, sentence)
                assert found.score == pytest.approx(expected, abs=1e-4)
                np.testing.assert_allclose(found.cosines, cosines, atol=1e-5)
                assert [line[at] for line, at in zip(cosines, found.best, strict=True)] == pytest.approx(
                    [max(line) for line in cosines], abs=1e-5
                )
    itself = interaction(queries[0], queries[0])
    assert itself.score == pytest.approx(len(queries[0]), abs=1e-4)


def test_without_a_word(tiny: LoadedModel) -> None:
    empty, full = token_vectors(tiny, ["!?", "Rivers."])
    assert len(empty) == 0
    with pytest.raises(UserError, match="no word"):
        interaction(empty, full)
    with pytest.raises(UserError, match="no word"):
        max_sims([empty], [full])
    assert max_sims([full], [empty]).tolist() == [[0.0]]
