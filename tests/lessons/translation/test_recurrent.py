"""The part on writing: its picture, its step, its numbers and its program are the network's."""

import html
import math
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.recurrent.bundled import bundled
from demos.bert.recurrent.writing import read_beginning, write
from demos.bert.translation.gru import END
from demos.errors import UserError
from demos.figures.numbers import percent
from demos.lessons.translation.recurrent.part import BEGINNINGS, PLURAL, SINGULAR, Recurrent
from demos.page.questions import questions
from demos.page.services import Sentence, Services
from tests.shown_values import shown_values

EMPTY, SERVICES = Sentence("", "", ""), Services(ModelStore(), BUNDLED)
WORDS = bundled().vocabulary.words[END:]


def drawn(**choices: Any) -> dict[str, Any]:
    return shown_values(Recurrent().shown(SERVICES, EMPTY, **choices))


def test_the_picture_holds_each_state_and_the_word_that_follows() -> None:
    steps = write(bundled(), read_beginning(bundled(), PLURAL))
    plot = drawn()["picture"]
    np.testing.assert_allclose(np.array(plot.data[0].z, float), [step.state.numpy() for step in steps], atol=5e-5)
    names = [text.replace("&lt;", "<").replace("&gt;", ">") for text in plot.layout.yaxis.ticktext]
    assert names == [f"{at} {step.word}" for at, step in enumerate(steps, start=1)]
    assert (plot.layout.shapes[0].y0, plot.layout.shapes[0].y1) == (6.5, 7.5)
    beside = [note.text for note in plot.layout.annotations[2:]]
    for text, step in zip(beside, steps, strict=True):
        bare = text.removeprefix("<b>").removesuffix("</b>").replace("&lt;", "<").replace("&gt;", ">")
        assert bare == f"{WORDS[step.following]} {html.unescape(percent(step.probabilities[step.following].item()))}"
        assert text.startswith("<b>") != step.typed


def test_the_first_screens_step_is_the_verb_and_its_twin_has_another() -> None:
    for beginning, verb in ((PLURAL, "were"), (SINGULAR, "was")):
        shown = drawn(beginning=beginning)
        step = write(bundled(), read_beginning(bundled(), beginning))[7]
        assert "Step 8: input “area”" in shown["step"]
        (chosen,) = re.findall(r'<tr class="chosen"><th scope="row">(.+?)</th><td.*?>(.+?)</td>', shown["step"])
        assert chosen == (verb, percent(step.probabilities.max().item()))
        assert f"{beginning} <b>{verb} " in shown["said"]
        assert len(re.findall('<th scope="row">', shown["step"])) == 8


def test_a_typed_word_that_is_not_likely_has_a_row_of_its_own() -> None:
    shown = drawn(beginning="she she", recurrent_step=2)
    rows = re.findall(r'<th scope="row">(.+?)</th>', shown["step"])
    assert (len(rows), rows[-1]) == (9, "she")
    assert "→ step 3, typed" in shown["step"]


def test_the_step_is_limited_by_the_text() -> None:
    shown = drawn(beginning="the cats", recurrent_step=30)
    count = len(write(bundled(), ("the", "cats")))
    assert shown["recurrent_step"] == {"maximum": count, "value": count}
    assert "the end" in shown["step"]


def test_the_figures_are_the_measured_ones() -> None:
    said, measured = drawn()["said"], bundled().measured
    for loss in (measured["cross_entropy"], measured["of_pairs"]):
        assert f"{math.exp(loss):.2f}" in said


def test_a_temperature_is_shown_where_words_are_random() -> None:
    greedy, random = (drawn(chosen_word=method, recurrent_temperature=2) for method in ("greedy", "random"))
    assert "at temperature 2" in random["step"]
    assert "at temperature" not in greedy["step"]
    step = write(bundled(), read_beginning(bundled(), PLURAL), 2.0, 1)[7]
    best = step.probabilities.argmax()
    assert f"<td>{percent(step.tempered[best].item())}</td>" in random["step"]


@pytest.mark.parametrize("typed", ["<img src=x onerror=alert(1)>", "😀", "x" * 10_000])
def test_what_can_not_be_read_is_one_sentence(typed: str) -> None:
    with pytest.raises(UserError) as fault:
        drawn(beginning=typed)
    assert len(str(fault.value)) < 250


@pytest.mark.parametrize("beginning", ["", *BEGINNINGS])
def test_every_beginning_is_written_on(beginning: str) -> None:
    shown = drawn(beginning=beginning, recurrent_step=1)
    assert "Step 1: input “&lt;s&gt;”" in shown["step"]
    assert "<b>" in shown["said"]


@pytest.mark.parametrize("method", ["greedy", "random"])
def test_the_program_prints_the_pages_numbers(method: str) -> None:
    choices = {"beginning": "The cats.", "chosen_word": method, "recurrent_temperature": 1.5, "recurrent_seed": 4}
    program = drawn(**choices, recurrent_step=3)["program"]
    assert "demos." not in program.replace("python -m demos.", "")
    printed = StringIO()
    with redirect_stdout(printed):
        exec(program, {})
    steps = write(bundled(), ("the", "cats"), 1.5 if method == "random" else None, 4)
    lines = [line.split() for line in printed.getvalue().splitlines()]
    of_steps = [line for line in lines if line[0].isdigit()]
    assert [line[1:3] for line in of_steps] == [[step.word, WORDS[step.following]] for step in steps]
    shares = [step.probabilities[step.following].item() for step in steps]
    assert [float(line[3]) for line in of_steps] == pytest.approx(shares, abs=1e-4)
    of_third = lines[3:12]
    assert [float(number) for number in of_third[0][2:-1]] == pytest.approx(steps[2].state[:4].tolist(), abs=6e-3)
    best = steps[2].probabilities.topk(8)
    assert [line[0] for line in of_third[1:]] == [WORDS[word] for word in best.indices.tolist()]
    assert [float(line[1]) for line in of_third[1:]] == pytest.approx(best.values.tolist(), abs=1e-4)


def test_the_question_is_answered_with_the_networks_probabilities() -> None:
    compute = questions()["translation", "recurrent"].compute
    assert compute is not None
    facts = compute(SERVICES, EMPTY).facts
    ids = bundled().vocabulary.ids
    for key, beginning, verb in (("were", PLURAL, "were"), ("was", PLURAL, "was"), ("singular", SINGULAR, "was")):
        step = write(bundled(), beginning.split())[7]
        assert facts[key] == pytest.approx(step.probabilities[ids[verb] - END].item())
