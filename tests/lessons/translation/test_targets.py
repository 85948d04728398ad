"""The part on targets: each place's cost and their mean are torch's cross-entropy."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import pytest
import torch
from torch.nn.functional import cross_entropy

from demos.bert.translation.bundled import bundled
from demos.bert.translation.cost import costs
from demos.bert.translation.grammar import held_out
from demos.bert.translation.vocabulary import padded, shifted
from demos.errors import UserError
from demos.lessons.translation.targets.part import beginner, drawn
from demos.lessons.translation.targets.program import targets_code
from demos.page.services import Sentence

EMPTY, PAIR = Sentence("", "", ""), held_out()[3]
TYPED = " ".join(PAIR.source[:-1])


@pytest.mark.parametrize("kind", ["additive", "none", "transformer"])
def test_costs_are_torchs_cross_entropy(kind: str) -> None:
    for trained in (bundled(kind), beginner(kind)):
        found = costs(trained, PAIR.source, PAIR.target)
        given, wanted = shifted([PAIR.target], trained.target)
        logits = trained.model(padded([PAIR.source], trained.source), given)[0]
        torch.testing.assert_close(torch.tensor(found.costs), cross_entropy(logits, wanted[0], reduction="none"))
        assert found.loss == pytest.approx(cross_entropy(logits, wanted[0]).item(), abs=1e-6)
        one_hot = torch.nn.functional.one_hot(wanted[0], logits.shape[-1]).float()
        assert found.loss == pytest.approx(cross_entropy(logits, one_hot).item(), abs=1e-6)


def test_what_is_shown() -> None:
    shown = drawn(EMPTY, TYPED, 2, "additive")
    found = costs(bundled("additive"), PAIR.source, PAIR.target)
    target, before, after = ([float(y) for y in bar.y] for bar in shown["bars"].data)
    assert target == [1, 0, 0, 0, 0, 0]
    assert after[0] == pytest.approx(found.distributions[1, found.targets[1]].item(), abs=1e-4)
    assert after[0] > before[0]
    assert f"{sum(found.costs):.3f}" in shown["costs"]
    assert drawn(EMPTY, TYPED, 10**6, "additive")["place"]["value"] == len(PAIR.target) + 1


def test_the_program_prints_the_costs() -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(targets_code("transformer", PAIR.source, PAIR.target), {})
    found = costs(bundled("transformer"), PAIR.source, PAIR.target)
    numbers = [float(line.split()[-1]) for line in printed.getvalue().splitlines()]
    assert numbers == pytest.approx([*found.costs, found.loss], abs=1e-3)


@pytest.mark.parametrize(("sentence", "kind"), [("<b>", "additive"), (None, "none"), (TYPED, "lstm")])
def test_bad_choices_are_one_sentence(sentence: object, kind: str) -> None:
    with pytest.raises(UserError):
        drawn(EMPTY, sentence, 1, kind)
