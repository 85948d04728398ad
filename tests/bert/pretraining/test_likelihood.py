"""Pseudo-log-likelihood against a plain loop over the tokens with transformers' own model."""

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.encoding import encode
from demos.bert.pretraining import likelihood
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.likelihood import pseudo_likelihood
from demos.errors import UserError

Headed = tuple[Pretrained, BertForPreTraining]


def test_it_is_a_loop_over_the_tokens(headed: Headed, monkeypatch: pytest.MonkeyPatch) -> None:
    found, whole = headed
    encoding = encode(found.tokenizer, "The unflappable miller slept.", "It rained.")
    monkeypatch.setattr(likelihood, "PASS_TOKENS", 4 * len(encoding))
    grown = list(pseudo_likelihood(found, encoding))
    ids = torch.tensor([encoding.input_ids])
    expected = []
    for place in range(1, len(encoding)):
        if encoding.tokens[place] == "[SEP]":
            continue
        one = ids.clone()
        one[0, place] = found.tokenizer.mask_token_id
        with torch.no_grad():
            logits = whole(one, token_type_ids=torch.tensor([encoding.token_type_ids])).prediction_logits[0, place]
        expected.append(logits.double().log_softmax(-1)[ids[0, place]].item())
    last = grown[-1]
    assert len(grown) == 3  # 11 tokens, four at a time
    assert [one.done for one in grown] == [False, False, True]
    assert [encoding.tokens[place] for place in last.places] == [
        token for token in encoding.tokens if token not in ("[CLS]", "[SEP]")
    ]
    np.testing.assert_allclose(last.log_probabilities, expected, atol=1e-4)
    np.testing.assert_allclose(grown[0].log_probabilities, expected[:4], atol=1e-4)
    assert last.total == pytest.approx(sum(expected), abs=1e-3)
    assert last.perplexity == pytest.approx(np.exp(-np.mean(expected)), rel=1e-3)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "no word to score"), ("A [MASK] slept.", "contains .MASK."), ("long " * 200, "here the limit is 128")],
)
def test_what_can_not_be_scored(headed: Headed, text: str, said: str) -> None:
    found, _ = headed
    with pytest.raises(UserError, match=said):
        next(pseudo_likelihood(found, encode(found.tokenizer, text)))
