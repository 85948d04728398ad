"""The question about two runs whose difference may be chance."""

from __future__ import annotations

from scipy.stats import binomtest

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(_: Services, __: Sentence) -> Answer:
    """The two-sided p of 6 and of 10 wins in 10 disagreements (McNemar's exact test)."""
    return Answer(facts={"p": binomtest(6, 10).pvalue, "clear": binomtest(10, 10).pvalue})
