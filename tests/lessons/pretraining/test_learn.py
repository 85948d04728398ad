"""Learn live: what opens, what a press fills, its programs run, and our paragraphs are learned by our heads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.files import read_beside
from demos.lessons.pretraining.learn import controller
from demos.lessons.pretraining.learn.controller import Learning
from demos.lessons.pretraining.learn.part import SHOWN
from demos.page.guards import OUR_FAULT
from demos.page.services import Services
from demos.training.pretraining import live
from demos.training.pretraining.batches import collate
from demos.training.pretraining.copies import GONE, LONG, batch_of
from demos.training.pretraining.learner import Learner
from demos.training.pretraining.probes import mean_loss
from demos.training.pretraining.rows import RowCounter
from demos.training.service.training_service import LEFT_LINE, TrainingService
from tests.plotly_figure import plotly
from tests.programs import printed

TEXT = "The hive is full. The bees prepare to swarm. A queen lays eggs. Close the lid again."
CONTROLS = (TEXT, 1e-3, 2, 0, True)


@pytest.fixture(scope="module")
def whole(tiny: LoadedModel) -> BertForPreTraining:
    torch.manual_seed(4)
    model = BertForPreTraining(tiny.model.config).eval().requires_grad_(False)
    model.set_attn_implementation("eager")
    return model


@pytest.fixture
def learning(tiny: LoadedModel, whole: BertForPreTraining, monkeypatch: pytest.MonkeyPatch) -> Learning:
    monkeypatch.setattr(live, "cores", lambda: 1)
    spec = replace(tiny.spec, mlm=True, nsp=True)
    words, relation = whole.cls.predictions, whole.cls.seq_relationship
    encoder = LoadedModel(spec, tiny.tokenizer, whole.bert)
    found = Pretrained(encoder, words.transform, words.decoder, whole.bert.pooler, relation, {})
    services: Any = SimpleNamespace(
        key=lambda model: "tiny", pretrained=lambda model: found, trainings=TrainingService()
    )
    return Learning(services)


def test_the_part_opens_on_numbers_and_refuses_what_is_no_text(learning: Learning) -> None:
    situation = learning.situation("tiny", *CONTROLS)
    opening = learning.opening(situation)
    assert set(opening) == set(SHOWN)
    curve = json.loads(opening["curve"])
    found = learning.services.pretrained("tiny")
    batch = collate(batch_of(situation, found.tokenizer, 1, True), 0)
    masked = Learner(found).parts.losses(batch).masked.item()
    assert curve["points"] == [[1, pytest.approx(masked, rel=1e-3), None]]
    assert curve["guess"] == math.log(30522)
    assert "[MASK]" in opening["asked"]
    assert "the last one is held out" in opening["cut"]
    assert "masked words and next" in opening["cut"]
    assert "A hundred steps take about" in opening["cost"]
    for controls in (
        ("", *CONTROLS[1:]),
        (TEXT, None, 2, 0, True),
        (TEXT, 1e-3, 99, 0, True),
        (TEXT, 1e-3, 2, 0.5e10, 1),
    ):
        with pytest.raises(UserError):
            learning.situation("tiny", *controls)
    alone = learning.opening(learning.situation("tiny", "Only <b>one</b> sentence ${x} 😀", *CONTROLS[1:]))
    assert "masked words only" in alone["cut"]
    assert "<b>one" not in alone["asked"]


def test_a_press_fills_the_page_and_its_copy_goes_on(learning: Learning) -> None:
    situation = learning.situation("tiny", *CONTROLS)
    shown = list(learning.press("first", "tiny", CONTROLS, "", None, 3))
    run, last = "first", shown[-1]
    assert last["held"] == run
    assert last["run"] == ""
    assert last["situation"] == situation
    curve = json.loads(last["curve"])
    assert [point[0] for point in curve["points"]] == [1, 2, 3]
    assert all(point[2] > 9 for point in curve["points"])  # from random weights
    assert "has been trained for 3 steps" in curve["status"]
    assert "Step 3" in last["step"]
    assert "now</th>" in last["asked"]
    assert len(plotly(last["gradient"]).data[0].x) == 5
    assert "In these 3 steps" in last["told"]
    again = list(learning.press("second", "tiny", CONTROLS, run, situation, 1))
    assert again[-1]["held"] == run
    assert "has been trained for 4 steps" in json.loads(again[-1]["curve"])["status"]
    assert "from the output layer" in again[-1]["top"]
    assert learning.news([run, 0]) == ""  # it is over
    for asked in (None, [], [1], ["x", "y"], ["x", math.inf]):
        assert learning.news(asked) == ""


def test_what_has_nothing_to_do_with_a_copy_leaves_it(learning: Learning, monkeypatch: pytest.MonkeyPatch) -> None:
    situation = learning.situation("tiny", *CONTROLS)
    begun, *_, last = learning.press("first", "tiny", CONTROLS, "", None, 2)
    assert [begun[name]["interactive"] for name in ("text", "rate", "one", "stop")] == [False, False, False, True]
    assert (last["text"]["value"], last["untrained"]["value"]) == (TEXT, True)  # for a page that was loaded anew
    assert [last[name]["interactive"] for name in ("text", "rate", "one", "stop")] == [True, True, True, False]
    held, copies = last["held"], learning.presses.copies

    with learning.services.trainings.press_queue.join():  # another press is under way
        waiting = learning.press("second", "tiny", CONTROLS, held, situation, 1)
        next(waiting)
        learning.services.trainings.runs.stop("second")
        *_, left = waiting
    monkeypatch.setattr(live, "MAX_STEPS", 2)
    *_, spent = learning.press("third", "tiny", CONTROLS, held, situation, 1)
    *_, number = learning.press("fourth", "tiny", (TEXT, None, 2, 0, True), held, situation, 1)
    for told, said in ((left, LEFT_LINE), (spent, LONG), (number, "A number is missing in the settings.")):
        assert json.loads(told["curve"])["status"] == said
        assert not {"held", "situation"} & set(told)
        assert told["one"]["interactive"]
        assert copies.has(held)


def test_a_copy_that_is_gone_and_a_fault_are_told_in_a_sentence(
    learning: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = learning.situation("tiny", *CONTROLS)
    *_, told = learning.press("first", "tiny", CONTROLS, "gone", situation, 1)
    assert json.loads(told["curve"])["status"] == GONE
    assert told["held"] == ""
    assert told["one"]["interactive"]

    def broken(*_: Any) -> Iterator[Any]:
        raise ZeroDivisionError
        yield

    monkeypatch.setattr(learning.presses, "press", broken)
    faulty = learning.press("first", "tiny", CONTROLS, "", None, 1)
    next(faulty), next(faulty)
    assert OUR_FAULT in next(faulty)["curve"]
    with pytest.raises(ZeroDivisionError):
        next(faulty)


def test_the_program_prints_the_pages_first_step(
    learning: Learning, whole: BertForPreTraining, tiny: LoadedModel, tmp_path: Path
) -> None:
    whole.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    situation = learning.situation("tiny", *CONTROLS)
    found = learning.services.pretrained("tiny")
    spec = replace(found.encoder.spec, hub_id=str(tmp_path), revision="main")
    learning.services.pretrained = lambda model: replace(found, encoder=replace(found.encoder, spec=spec))  # type: ignore[method-assign]
    lines = printed(learning.opening(situation)["code"])
    check(lines, Learner(found), found, situation)


@pytest.mark.slow
def test_our_heads_learn_our_paragraphs(store: ModelStore) -> None:
    learning = Learning(Services(store, "minilm"))
    situation = learning.situation("minilm", read_beside(controller.__file__, "paragraphs.txt"), 1e-4, 2, 0, False)
    assert len(situation.passage.held_out) == 3
    found = learning.services.pretrained("minilm")
    learner, matrix = Learner(found), found.decoder.weight.clone()
    before = mean_loss(learner.parts, found.tokenizer, situation.passage.held_out)
    check(printed(learning.opening(situation)["code"]), learner, found, situation)
    for step in range(2, 7):
        learner.step(collate(batch_of(situation, found.tokenizer, step, True), 0), situation.recipe.rate)
    assert mean_loss(learner.parts, found.tokenizer, situation.passage.held_out) < before
    assert torch.equal(found.decoder.weight, matrix)


def check(lines: list[str], learner: Learner, found: Pretrained, situation: Any) -> None:
    """The program's lines against the first step of this learner, which takes it."""
    counter = RowCounter(learner.matrix, 0)
    batch = collate(batch_of(situation, found.tokenizer, 1, True), found.tokenizer.pad_token_id)
    stepped = learner.step(batch, situation.recipe.rate, counter)
    told = [line.rsplit(" ", 1) for line in lines]
    layers = [value for name, value in stepped.norms.items() if "head" not in name]
    assert float(told[0][1]) == pytest.approx(stepped.total, abs=2e-4)
    assert [float(value) for _, value in told[1 : len(layers) + 1]] == pytest.approx(layers, rel=2e-3, abs=1e-4)
    assert float(told[len(layers) + 1][1]) == pytest.approx(stepped.norm, rel=2e-3)
    moved = counter.rows(learner.matrix).moved
    assert float(told[len(layers) + 2][1]) == (moved > 0).sum()
    for token, distance in told[-5:]:
        at = found.tokenizer.convert_tokens_to_ids(token)
        assert float(distance) == pytest.approx(float(moved[at]), rel=0.01)
        assert moved[at] > 0.99 * moved.max()
