"""The part on targets: each place's cost and their mean are torch's cross-entropy."""

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from demos.bert.translation.bundled import bundled
from demos.bert.translation.cost import costs
from demos.bert.translation.grammar import held_out
from demos.bert.translation.six_words import STEPS, learned
from demos.bert.translation.vocabulary import padded, shifted
from demos.lessons.translation.targets.figure import six_words_code, targets_code
from demos.lessons.translation.targets.part import OURS, SIX, Targets, beginner
from demos.page.services import Sentence
from demos.page.view import On
from tests.shown_values import shown_values

EMPTY, PAIR = Sentence("", "", ""), held_out()[3]
TYPED = " ".join(PAIR.source[:-1])


NAMES = ("example", "targets_english", "targets_word", "steps", "targets_translator")
NO_SERVICES: Any = None  # it reads no model


def drawn(sentence: Sentence, *chosen: Any) -> dict[str, Any]:
    return shown_values(Targets().shown(NO_SERVICES, sentence, **dict(zip(NAMES, chosen, strict=True))))


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
    shown = drawn(EMPTY, OURS, TYPED, 2, STEPS, "additive")
    found = costs(bundled("additive"), PAIR.source, PAIR.target)
    target, before, after = ([float(y) for y in bar.y] for bar in shown["bars"].data)
    assert target == [1, 0, 0, 0, 0, 0]
    assert after[0] == pytest.approx(found.distributions[1, found.targets[1]].item(), abs=1e-4)
    assert after[0] > before[0]
    assert f"{sum(found.costs):.3f}" in shown["costs"]
    assert drawn(EMPTY, OURS, TYPED, 10**6, None, "additive")["targets_word"]["value"] == len(PAIR.target) + 1


@pytest.mark.parametrize("kind", ["additive", "none", "transformer"])
def test_the_program_prints_the_costs(kind: str) -> None:
    printed, program = StringIO(), targets_code(kind, PAIR.source, PAIR.target)
    assert "demos." not in program.replace("python -m demos.", "")
    with redirect_stdout(printed):
        exec(program, {})
    found = costs(bundled(kind), PAIR.source, PAIR.target)
    numbers = [float(line.split()[-1]) for line in printed.getvalue().splitlines()]
    assert numbers == pytest.approx([*found.costs, found.loss], abs=1e-3)


def test_the_six_words_are_shown_as_they_were_computed() -> None:
    found = learned()
    for step in (0, 40, STEPS):
        shown = drawn(EMPTY, SIX, TYPED, 2, step, "additive")
        matrices = [np.array(one.z, float) for one in shown["places"]["value"].data]
        for drawn_values, values in zip(matrices, (found.targets, *map(found.distributions, (0, step))), strict=True):
            np.testing.assert_allclose(drawn_values, values, atol=6e-5)
        bars = [[float(y) for y in bar.y] for bar in shown["bars"].data]
        np.testing.assert_allclose(bars, [one[1] for one in matrices], atol=6e-5)
        assert list(shown["bars"].data[0].x) == ["a", "am", "i", "thanks", "student", "&lt;eos&gt;"]
        sums = [float(found.costs(one).sum()) for one in (0, step)]
        assert all(f"{one:.3f}" in shown["costs"] and f"{one:.3f}" in shown["said"] for one in sums)
        assert "0 1 0 0 0 0 (one-hot)" in shown["said"]


@pytest.mark.parametrize("step", [0, 25, STEPS])
def test_the_six_words_program_prints_the_costs(step: int) -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(six_words_code(step), {})
    costs_there = [float(line.split()[-1]) for line in printed.getvalue().splitlines()[-6:]]
    here = learned().costs(step)
    assert costs_there == pytest.approx([*here.tolist(), here.sum().item()], abs=1e-3)


def test_the_example_decides_what_is_on_the_page() -> None:
    six, ours = (drawn(EMPTY, example, TYPED, None, None, "none") for example in (SIX, OURS))
    assert [six[name]["visible"] for name in ("places", "steps", "targets_english")] == [True, True, False]
    assert [ours[name]["visible"] for name in ("places", "steps", "targets_english")] == [False, False, True]
    assert six["targets_word"]["maximum"] == 5
    assert f"after {STEPS} steps" in six["places"]["value"].layout.annotations[2].text
    assert drawn(EMPTY, SIX, None, 10**9, -5, "none")["targets_word"]["value"] == 5


def test_what_is_not_on_offer_is_what_the_part_begins_with() -> None:
    c = Targets().read(
        On(NO_SERVICES, EMPTY), {"example": "seven", "targets_english": "<b>", "targets_translator": None}
    )
    assert (c.example, c.targets_english, c.targets_translator) == (SIX, "i am a student", "additive")
