"""Next sentences against transformers' own BertForPreTraining, and the paper's way to make pairs."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, chisquare
from transformers import BertConfig, BertForPreTraining

from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT, draw_pair, next_probabilities, next_steps
from demos.errors import UserError

PAIRS = [
    ("The kettle had boiled dry.", "Nobody smelled it, for they were all in the garden behind the house."),
    ("Nobody smelled it, for they were all in the garden behind the house.", "The kettle had boiled dry."),
    ("Rain.", "Rain."),
    ("🙂 <script>", "${x} Übung"),
]
DOCUMENTS = [["a0", "a1", "a2"], ["b0", "b1"], ["c0", "c1"], ["d0", "d1", "d2", "d3"]]


@pytest.fixture(scope="module")
def loud(headed: tuple[Pretrained, BertForPreTraining]) -> tuple[Pretrained, BertForPreTraining]:
    """Another one, random too, whose weights are large enough for its answers to differ."""
    found, quiet = headed
    torch.manual_seed(2)
    config = BertConfig.from_dict(quiet.config.to_dict() | {"initializer_range": 0.3})
    whole = BertForPreTraining(config).eval().requires_grad_(False)
    encoder = replace(found.encoder, model=whole.bert)
    return replace(found, encoder=encoder, pooler=whole.bert.pooler, relation=whole.cls.seq_relationship), whole


def test_logits_probabilities_and_losses_equal_transformers_own(
    loud: tuple[Pretrained, BertForPreTraining], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, whole = loud
    monkeypatch.setattr("demos.bert.pretraining.next_sentence.BATCH_TOKENS", 40)  # so that there are several batches
    answers = next_probabilities(found, PAIRS)
    for row, (first, second) in enumerate(PAIRS):
        inputs = found.tokenizer(first, second, return_tensors="pt")  # each alone, without padding
        with torch.no_grad():
            theirs = whole(**inputs).seq_relationship_logits[0]
            losses = []
            for label in (IS_NEXT, NOT_NEXT):
                unasked = torch.full_like(inputs["input_ids"], -100)
                asked = unasked.clone()
                asked[0, 1] = inputs["input_ids"][0, 1]
                both, words = (
                    whole(**inputs, labels=asked, next_sentence_label=torch.tensor([label])).loss,
                    torch.nn.functional.cross_entropy(whole(**inputs).prediction_logits[0, 1], asked[0, 1]),
                )
                losses.append((both - words).item())
        np.testing.assert_allclose(answers.logits[row], theirs, atol=2e-5)
        np.testing.assert_allclose(answers.probabilities[row], theirs.softmax(-1), atol=1e-5)
        np.testing.assert_allclose(answers.losses[row], losses, atol=2e-5)
        assert answers.is_next[row] == (theirs[0] > theirs[1])
    assert len({round(float(value), 3) for value in answers.logits[:, 0]}) == len(PAIRS)  # order matters to it
    steps = list(next_steps(found, PAIRS))
    assert len(steps) > 1
    assert steps[-1] == (4, 4)


def test_huge_logits_cost_no_infinity(loud: tuple[Pretrained, BertForPreTraining]) -> None:
    answers = replace(next_probabilities(loud[0], PAIRS[:1]), logits=np.array([[90.0, -90.0]], dtype=np.float32))
    np.testing.assert_allclose(answers.losses, [[0, 180]], atol=1e-6)
    np.testing.assert_allclose(answers.probabilities.sum(axis=1), 1)


def test_what_cannot_be_asked(headed: tuple[Pretrained, BertForPreTraining]) -> None:
    found = headed[0]
    with pytest.raises(UserError, match="not pre-trained on next sentences"):
        next_probabilities(replace(found, pooler=None, relation=None), PAIRS)


def test_half_of_the_pairs_follow_and_the_others_come_from_another_document() -> None:
    rng = np.random.default_rng(5)
    drawn = [draw_pair(DOCUMENTS, rng) for _ in range(4_000)]
    follows = [one for one in drawn if one.label == IS_NEXT]
    assert binomtest(len(follows), len(drawn), 0.5).pvalue > 0.01
    for one in drawn:
        assert one.first == DOCUMENTS[one.first_at[0]][one.first_at[1]]
        assert one.second == DOCUMENTS[one.second_at[0]][one.second_at[1]]
        if one.label == IS_NEXT:
            assert one.second_at == (one.first_at[0], one.first_at[1] + 1)
        else:
            assert one.label == NOT_NEXT
            assert one.second_at[0] != one.first_at[0]
    assert chisquare(np.bincount([one.first_at[0] for one in drawn])).pvalue > 0.01
    assert {one.second for one in drawn if one.label == NOT_NEXT} == {text for one in DOCUMENTS for text in one}
    again = np.random.default_rng(5)
    assert [draw_pair(DOCUMENTS, again) for _ in range(50)] == drawn[:50]
