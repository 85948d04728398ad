"""Learn live: what opens, what a press fills, its programs run, and our paragraphs are learned by our heads."""

import gc
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
from demos.lessons.pretraining.learn.controller import Learning, Ran
from demos.lessons.pretraining.learn.part import (
    NO_STEP,
    OTHER_COPY,
    PARAGRAPHS,
    TrainLive,
    runs,
    situation_of,
    start_over,
)
from demos.page.guards import OUR_FAULT
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.pretraining import live
from demos.training.pretraining.batches import collate
from demos.training.pretraining.copies import BATCHES, GONE, LONG, Situation, batch_of
from demos.training.pretraining.learner import Learner
from demos.training.pretraining.passage import read_passage
from demos.training.pretraining.probes import mean_loss
from demos.training.pretraining.rows import RowCounter
from demos.training.service.training_service import LEFT_LINE, TrainingService
from demos.training.settings import BOUNDS
from tests.plotly_figure import plotly
from tests.programs import printed

TEXT = "The hive is full. The bees prepare to swarm. A queen lays eggs. Close the lid again."
CHOSEN = {"text": TEXT, "learn_rate": 1e-3, "learn_batch": 2, "learn_seed": 0, "untrained": True}
SENTENCE = Sentence("", "", "tiny")


@pytest.fixture(scope="module")
def whole(tiny: LoadedModel) -> BertForPreTraining:
    torch.manual_seed(4)
    model = BertForPreTraining(tiny.model.config).eval().requires_grad_(False)
    model.set_attn_implementation("eager")
    return model


@pytest.fixture
def learning(tiny: LoadedModel, whole: BertForPreTraining) -> Learning:
    spec = replace(tiny.spec, mlm=True, nsp=True)
    words, relation = whole.cls.predictions, whole.cls.seq_relationship
    encoder = LoadedModel(spec, tiny.tokenizer, whole.bert)
    found = Pretrained(encoder, words.transform, words.decoder, whole.bert.pooler, relation, {})
    services: Any = SimpleNamespace(
        key=lambda model: "tiny", pretrained=lambda model: found, trainings=TrainingService()
    )
    made: dict[Any, Any] = {}

    def shared(make: Any) -> Any:
        if make not in made:
            made[make] = make(services)
        return made[make]

    services.shared = shared
    learning: Learning = shared(Learning)
    return learning


def situation(learning: Learning, **chosen: Any) -> Situation:
    """What a copy of these choices, as the browser says them, is trained on."""
    on = On(learning.services, SENTENCE)
    return situation_of(on, TrainLive().read(on, CHOSEN | chosen))


def press(learning: Learning, run: str, ran: Ran | None, steps: int, **chosen: Any) -> Iterator[dict[str, Any]]:
    return learning.press(run, lambda: situation(learning, **chosen), ran, steps)


def test_the_part_opens_on_numbers_and_refuses_what_is_no_text(learning: Learning) -> None:
    opening = TrainLive().shown(learning.services, SENTENCE, **CHOSEN)
    curve = json.loads(opening["curve"])
    found = learning.services.pretrained("tiny")
    batch = collate(batch_of(situation(learning), found.tokenizer, 1, True), 0)
    masked = Learner(found).parts.losses(batch).masked.item()
    assert curve["points"] == [[1, pytest.approx(masked, rel=1e-3), None]]
    assert curve["guess"] == math.log(30522)
    assert curve["status"] == NO_STEP
    assert "[MASK]" in opening["guesses"]
    assert "the last one is held out" in opening["cut"]
    assert "masked words and next" in opening["cut"]
    assert "A hundred steps take about" in opening["cost"]
    with pytest.raises(UserError):
        situation(learning, text="")
    within = situation(learning, learn_rate=None, learn_batch=99, learn_seed=0.5e10).recipe  # out of a strange link
    assert (within.rate, within.batch_size, within.seed) == (1e-4, BATCHES[1], BOUNDS["seed"][2])
    alone = TrainLive().shown(learning.services, SENTENCE, **CHOSEN | {"text": "Only <b>one</b> sentence ${x} 😀"})
    assert "masked words only" in alone["cut"]
    assert "<b>one" not in alone["guesses"]


def test_a_press_fills_the_page_and_its_copy_goes_on(learning: Learning) -> None:
    last = list(press(learning, "first", None, 3))[-1]
    ran = last["ran"]
    assert ran.copy == "first"
    assert last["run"] == ""
    assert ran.situation == situation(learning)
    assert len({ran, replace(ran)}) == 2  # hashable, as Gradio's State has to be
    shown = TrainLive().shown(learning.services, SENTENCE, **CHOSEN, ran=ran)
    curve = json.loads(shown["curve"])
    assert curve == json.loads(last["curve"])
    assert [point[0] for point in curve["points"]] == [1, 2, 3]
    assert all(point[2] > 9 for point in curve["points"])  # from random weights
    assert "has been trained for 3 steps" in curve["status"]
    assert "Step 3" in shown["step"]
    assert "now</th>" in shown["guesses"]
    assert len(plotly(shown["gradient"]).data[0].x) == 5
    assert "In these 3 steps" in shown["rows"]
    again = list(press(learning, "second", ran, 1))[-1]["ran"]
    assert again.copy == "first"
    assert "has been trained for 4 steps" in json.loads(again.shown["curve"])["status"]
    assert "from the output layer" in again.shown["top"]
    assert learning.news(["first", 0]) == ""  # it is over
    for asked in (None, [], [1], ["x", "y"], ["x", math.inf]):
        assert learning.news(asked) == ""


def test_other_settings_show_the_part_as_it_opened_until_the_copy_s_are_back(learning: Learning) -> None:
    ran = list(press(learning, "first", None, 1))[-1]["ran"]
    other = TrainLive().shown(learning.services, SENTENCE, **CHOSEN | {"learn_rate": 1e-4}, ran=ran)
    assert json.loads(other["curve"])["status"] == OTHER_COPY
    assert other["step"] == ""
    assert not other["after"]["visible"]
    back = TrainLive().shown(learning.services, SENTENCE, **CHOSEN, ran=ran)
    assert back["after"]["visible"]
    assert "Step 1" in back["step"]
    under_way = TrainLive().shown(learning.services, SENTENCE, **CHOSEN, ran=ran, run="second")
    assert "curve" not in under_way  # which is that of the press
    *_, last = press(learning, "second", ran, 1, learn_rate=1e-4)
    assert last["ran"].copy == "second"
    assert not learning.presses.copies.has("first")
    on = On(learning.services, SENTENCE)
    changes = start_over(on, TrainLive().read(on, CHOSEN | {"ran": last["ran"]}))
    assert changes["ran"] is None
    assert json.loads(changes["curve"])["status"] == NO_STEP
    assert not learning.presses.copies.has("second")


def test_a_copy_goes_with_the_last_page_that_can_go_on_from_it(learning: Learning) -> None:
    copies, first = learning.presses.copies, list(press(learning, "first", None, 1))[-1]["ran"]
    second = list(press(learning, "second", first, 1))[-1]["ran"]  # of the same copy
    del first
    gc.collect()
    assert copies.has(second.copy)
    del second
    gc.collect()
    assert len(copies) == 0


def test_a_reloaded_page_is_told_of_what_its_copy_is_trained_on(learning: Learning) -> None:
    on = On(learning.services, SENTENCE)
    begun, *_, last = runs(learning.services).work("first", "reader", on, TrainLive().read(on, CHOSEN))
    assert json.loads(begun["trained_on"]) == json.loads(last["trained_on"]) == [TEXT, True]
    assert [begun[name]["interactive"] for name in ("one", "many", "fresh", "stop")] == [False, False, False, True]
    assert [last[name]["interactive"] for name in ("one", "many", "fresh", "stop")] == [True, True, True, False]


def test_what_has_nothing_to_do_with_a_copy_leaves_it(learning: Learning, monkeypatch: pytest.MonkeyPatch) -> None:
    *_, last = press(learning, "first", None, 2)
    ran, copies = last["ran"], learning.presses.copies

    with learning.services.trainings.press_queue.join():  # another press is under way
        waiting = press(learning, "second", ran, 1)
        next(waiting)
        learning.services.trainings.runs.stop("second")
        *_, left = waiting
    monkeypatch.setattr(live, "MAX_STEPS", 2)
    *_, spent = press(learning, "third", ran, 1)
    *_, empty = press(learning, "fourth", ran, 1, text="")
    for told, said in ((left, LEFT_LINE), (spent, LONG), (empty, "no")):
        assert said in json.loads(told["curve"])["status"]
        assert "ran" not in told
        assert told["one"]["interactive"]
        assert copies.has(ran.copy)


def test_a_copy_that_is_gone_and_a_fault_are_told_in_a_sentence(
    learning: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, told = press(learning, "first", Ran("gone", situation(learning), {}), 1)
    assert json.loads(told["curve"])["status"] == GONE
    assert told["ran"] is None
    assert told["one"]["interactive"]

    def broken(*_: Any) -> Iterator[Any]:
        raise ZeroDivisionError
        yield

    monkeypatch.setattr(learning.presses, "press", broken)
    faulty = press(learning, "first", None, 1)
    next(faulty), next(faulty)
    assert OUR_FAULT in next(faulty)["curve"]
    with pytest.raises(ZeroDivisionError):
        next(faulty)


def test_the_program_prints_the_pages_first_step(
    learning: Learning, whole: BertForPreTraining, tiny: LoadedModel, tmp_path: Path
) -> None:
    whole.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    found = learning.services.pretrained("tiny")
    spec = replace(found.encoder.spec, hub_id=str(tmp_path), revision="main")
    learning.services.pretrained = lambda model: replace(found, encoder=replace(found.encoder, spec=spec))  # type: ignore[method-assign]
    lines = printed(learning.program(situation(learning)))
    check(lines, Learner(found), found, situation(learning))


@pytest.mark.slow
def test_our_heads_learn_our_paragraphs(store: ModelStore) -> None:
    learning = Learning(Services(store, "minilm"))
    on = On(learning.services, Sentence("", "", "minilm"))
    begun = situation_of(on, TrainLive().read(on, {"learn_batch": 2, "untrained": False}))
    assert begun.passage == read_passage(learning.services.pretrained("minilm").tokenizer, PARAGRAPHS)
    assert len(begun.passage.held_out) == 3
    found = learning.services.pretrained("minilm")
    learner, matrix = Learner(found), found.decoder.weight.clone()
    before = mean_loss(learner.parts, found.tokenizer, begun.passage.held_out)
    check(printed(learning.program(begun)), learner, found, begun)
    for step in range(2, 7):
        learner.step(collate(batch_of(begun, found.tokenizer, step, True), 0), begun.recipe.rate)
    assert mean_loss(learner.parts, found.tokenizer, begun.passage.held_out) < before
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
