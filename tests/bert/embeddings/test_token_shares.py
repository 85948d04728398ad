"""How much of each token is in the vector: sums to one, and for max counts the numbers that each token wins."""

from __future__ import annotations

import numpy as np
import pytest

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.token_shares import token_shares
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError


def test_shares_of_every_pooling(tiny: LoadedModel) -> None:
    (run,) = run_model(tiny, [encode(tiny.tokenizer, "The kettle sings.")])
    n = len(run.encoding)
    assert token_shares(run, Choice("cls", 1)).tolist() == token_shares(run, Choice("pooler", 2)).tolist()
    assert token_shares(run, Choice("cls", 1)).tolist() == [1, *[0] * (n - 1)]
    np.testing.assert_allclose(token_shares(run, Choice("mean", "sum_all")), np.full(n, 1 / n))
    np.testing.assert_allclose(token_shares(run, Choice("mean_no_special", 2)), [0, *[1 / (n - 2)] * (n - 2), 0])
    side_by_side = np.concatenate([run.hidden_states[1], run.hidden_states[2]], axis=1)  # all layers that tiny has
    won = [sum(side_by_side[:, k].argmax() == token for k in range(64)) / 64 for token in range(n)]
    np.testing.assert_allclose(token_shares(run, Choice("max", "concat_last_four")), won)


def test_what_has_no_share_is_refused(tiny: LoadedModel) -> None:
    (run,) = run_model(tiny, [encode(tiny.tokenizer, "")])
    with pytest.raises(UserError, match="no token besides"):
        token_shares(run, Choice("mean_no_special", 2))
    with pytest.raises(UserError, match="There is no pooling 'median'"):
        token_shares(run, Choice("median", 2))
