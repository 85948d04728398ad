"""Temperature, top-k and top-p against the processors of transformers' `generate`."""

import math
from collections.abc import Sequence

import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from demos.bert.decoding.sampling import Sampling, reshape, sample
from demos.errors import UserError

LOGITS = torch.randn(5, 40, generator=torch.Generator().manual_seed(0)) * 3


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("top_k", [0, 1, 7, 100])
@pytest.mark.parametrize("top_p", [0.05, 0.6, 0.95, 1.0])
def test_the_distribution_is_that_of_transformers(temperature: float, top_k: int, top_p: float) -> None:
    processors = [TemperatureLogitsWarper(temperature)] if temperature != 1 else []
    processors += [TopKLogitsWarper(top_k)] if top_k else []
    processors += [TopPLogitsWarper(top_p)] if top_p < 1 else []
    for logits in LOGITS:
        scores = logits[None]
        for processor in processors:
            scores = processor(None, scores)
        shares = reshape(logits, Sampling(temperature, top_k, top_p).check())
        torch.testing.assert_close(shares.final, scores[0].softmax(-1), atol=1e-6, rtol=1e-5)
        assert torch.equal(shares.allowed, scores[0] > -math.inf)
        torch.testing.assert_close(shares.original, logits.softmax(-1))


def test_what_is_drawn_has_the_frequencies_of_the_distribution() -> None:
    sampling, logits = Sampling(0.8, 4), LOGITS[0]
    wanted = reshape(logits, sampling).final
    drawn = [one for (one,) in sample(lambda texts: logits.expand(len(texts), -1), sampling, -1, 1, range(2_000))]
    counts = torch.bincount(torch.tensor([one.token for one in drawn]), minlength=40)
    torch.testing.assert_close(counts / 2_000, wanted, atol=0.04, rtol=0)
    assert all(one.probability == wanted[one.token].item() and one.choices == 4 for one in drawn)
    assert drawn[0].log_probability == pytest.approx(logits.log_softmax(-1)[drawn[0].token].item())


def test_a_text_ends_with_its_end_and_is_the_same_for_its_seed() -> None:
    def follows(prefixes: Sequence[tuple[int, ...]]) -> torch.Tensor:
        return torch.stack([LOGITS[len(prefix) % 5] for prefix in prefixes])

    one, again, other = sample(follows, Sampling(), 3, 12, (1, 1, 2))
    assert [other] == sample(follows, Sampling(), 3, 12, [2])  # whatever is drawn beside it
    assert one == again != other
    assert all(token.token != 3 for token in one[:-1])
    assert len(one) == 12 or one[-1].token == 3
    (endless,) = sample(follows, Sampling(top_k=1), -1, 12, [0])
    assert len(endless) == 12


@pytest.mark.parametrize(
    "sampling", [Sampling(0.0), Sampling(float("nan")), Sampling(9.0), Sampling(1, -1), Sampling(1, 0, 0.0)]
)
def test_bounds(sampling: Sampling) -> None:
    with pytest.raises(UserError):
        sampling.check()
