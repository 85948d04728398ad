"""Trainings on the page that are left, paused, or two at once: nothing stays behind, and each is its reader's own."""

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from demos.errors import UserError
from demos.lessons.finetune.train import controller as page
from demos.lessons.finetune.train.part import Train
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.training.events import Epoch, Event, Resumed, Scoring, Started, Step, Waiting, Watched
from demos.training.form_values import UPLOAD, read_dataset, read_settings, shown_settings
from demos.training.service.expected_time import Expected
from demos.training.service.stored_runs import StoredRuns
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.widgets.tasks.registry import view_of
from tests.lessons.finetune.room import CHOSEN, Room
from tests.lessons.finetune.whole_run import whole_run


@pytest.mark.parametrize("kind", [Waiting, Started, Scoring, Epoch, Watched, Step])
def test_a_reader_who_is_gone_leaves_nothing_at_any_moment(
    kind: type[Event], room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "BEAT_SECONDS", 0)  # each event reaches the page
    seen: list[type[Event]] = []
    shown_now = page.shown_now

    def noted(*asked: Any, **named: Any) -> Iterator[Event]:
        for event in shown_now(*asked, **named):
            seen.append(type(event))
            yield event

    monkeypatch.setattr(page, "shown_now", noted)
    others = room.trainings.queue.join() if kind is Waiting else None
    updates = room.start("pets")
    for _ in updates:
        if seen[-1:] == [kind]:
            break
    assert seen[-1] is kind
    updates.close()  # type: ignore[attr-defined]  # as gradio does when the page is gone
    if others:
        room.trainings.queue.leave(others)
    room.is_as_before()


def test_who_leaves_at_the_last_event_has_the_run_until_the_session_ends(room: Room) -> None:
    updates = room.start("pets")
    last = next(update for update in updates if update["kept"])
    updates.close()  # type: ignore[attr-defined]
    assert room.left == sorted([room.kept, last["kept"]])
    room.trainings.runs.discard(last["kept"])  # what the page's State does when its session is deleted
    room.is_as_before()


def test_two_at_once_see_their_own_alone(room: Room) -> None:
    """Two threads, as two requests; the line makes one wait, whichever comes second."""
    updates: dict[str, list[dict[str, Any]]] = {"films": [], "pets": []}
    together = threading.Barrier(2)

    def read(name: str) -> None:
        together.wait()
        for update in room.start(name):
            updates[name].append(update)

    def waits(name: str) -> bool:
        return any(
            "ahead of yours" in json.loads(update["curve"] or "{}").get("status", "") for update in updates[name]
        )

    readers = [threading.Thread(target=read, args=(name,)) for name in updates]
    with room.trainings.queue.join():  # a third one trains until both stand in line
        for reader in readers:
            reader.start()
        end = time.monotonic() + 60
        while not all(map(waits, updates)) and time.monotonic() < end:
            time.sleep(0.02)
    for reader in readers:
        reader.join()
    kept = {name: mine[-1]["kept"] for name, mine in updates.items()}
    assert len({room.kept, *kept.values()}) == 3
    for name, mine in updates.items():
        told = [json.loads(update["curve"]) for update in mine]
        assert {one["run"] for one in told} == {kept[name]} == {mine[0]["run"]}
        assert f"{name}.tsv" in told[-1]["status"]
        assert waits(name)
        (record,) = mine[-1]["history"]
        assert (record.run, record.data) == (kept[name], f"{name}.tsv")
        own, other = {"films": ("fine", "cat"), "pets": ("cat", "fine")}[name]
        answer = room.trainer.answer(kept[name], "sentence", "a fine cat", "", "")
        assert own in answer.replace("a fine cat", "")
        assert other not in answer.replace("a fine cat", "")
    for run in kept.values():
        room.trainings.runs.discard(run)
    room.is_as_before()


@pytest.mark.parametrize(("reason", "active"), [("asked", True), ("time", False)])
def test_pause_can_be_pressed_again_until_its_time_is_spent(
    room: Room, monkeypatch: pytest.MonkeyPatch, reason: str, active: bool
) -> None:
    monkeypatch.setattr(page, "CAN_PAUSE", True)
    events = [Waiting(0, 0.0), Resumed(3, reason), Resumed(7, reason)]
    monkeypatch.setattr(room.trainings, "fine_tune", lambda *_, **__: (event for event in events))
    picked = ("sentence", UPLOAD, room.file["films"], None, "", "", 1_500)
    run = room.trainings.runs.new()
    updates = room.trainer.work(run, "a reader", "tiny", "model", *picked, *CHOSEN)
    resumed = [update["phase"] for update in updates if "phase" in update][:2]
    assert len(set(resumed)) == 2  # else the page would not hear the second one
    for phase in resumed:
        changed = room.trainer.finish(phase, run, "sentence", "", "", "")
        assert changed["pause"]["interactive"] == active
    room.trainings.runs.discard(run)


def test_the_time_left_begins_at_the_time_told_before_start(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room.trainings, "expected", lambda *_: Expected(700.0, False))  # not a second, in truth
    monkeypatch.setattr(page, "BEAT_SECONDS", 0.0)
    chosen = shown_settings(Settings(epochs=4, batch_size=2, max_length=16))
    picked = ("sentence", UPLOAD, room.file["films"], None, "", "", 1_500)
    dataset = read_dataset(*picked, 0)
    assert "about <b>11 min 40 s</b>" in room.trainer.cost("tiny", dataset, read_settings(*chosen))
    run = room.trainings.runs.new()
    updates = list(room.trainer.work(run, "a reader", "tiny", "model", *picked, *chosen))
    room.trainings.runs.discard(run)
    told = [json.loads(update["curve"])["status"] for update in updates if "curve" in update]
    first = next(status for status in told if " left" in status)
    assert re.search(r"about (11 min|10 min [3-5]\d s)", first), first


@pytest.mark.parametrize("now", ["sentence", "pair"])
def test_what_was_learned_is_shown_under_its_own_task_alone(room: Room, now: str) -> None:
    picked = ("sentence", UPLOAD, room.file["films"], None, "", "", 1_500)
    *_, last = whole_run(room.trainer, picked, CHOSEN, boxes=("a fine cat", "", ""), now=now)
    assert last["results"]["visible"] == (now == "sentence")
    assert room.trainer.results(last["kept"], "sentence")["results"]["visible"]  # its task is chosen again
    assert len(last["history"]) == 1
    sample = view_of("sentence").boxes[0][1]
    again = room.trainer.answer(last["kept"], "sentence", "a fine cat" if now == "sentence" else sample, "", "")
    assert last["answer"] == again  # the other task's boxes hold something else by now
    room.trainings.runs.discard(last["kept"])
    room.is_as_before()


def test_a_kept_run_whose_files_were_cleared_away_is_told_as_gone(room: Room) -> None:
    run = room.finish("pets")
    room.trainings.runs._trained.pop(run)
    for file in room.trainings.runs.folder(run).iterdir():
        file.unlink()
    with pytest.raises(UserError, match="no longer kept"):
        room.trainer.answer(run, "sentence", "a cat", "", "")
    room.is_as_before()


def test_a_page_that_comes_back_after_a_restart_has_the_last_curve(room: Room, tmp_path: Path) -> None:
    reader = "a-key-that-nobody-guesses"

    def started() -> page.Trainer:
        trainings = TrainingService(StoredRuns(tmp_path))
        return page.Trainer(Services(room.store, "tiny", trainings=trainings))

    trainer = started()
    assert trainer.last_curve("", reader) == trainer.last_curve("", "") == {}
    picked = ("sentence", UPLOAD, room.file["pets"], None, "", "", 1_500)
    *_, last = whole_run(trainer, picked, CHOSEN, reader=reader)
    again = started()
    tab = f"{reader}/another-tab-of-theirs"
    assert again.last_curve("", tab) == again.last_curve(last["kept"], "") == trainer.last_curve(last["kept"], "")
    assert again.last_curve("", "another-key-that-nobody-guesses") == {}
    assert again.results(last["kept"], "sentence")["results"]["visible"] is False  # its curve alone is stored

    def curve(kind: str, **said: Any) -> str:
        on = On(again.services, Sentence("", "", "tiny"))
        c = Train().read(on, {"task": kind, "data": UPLOAD, "file": room.file["pets"], "begun": last["kept"], **said})
        return str(Train().curve(on, c)["curve"])

    for said in ({"returning": reader}, {"trained": last["kept"]}):  # whichever of the page's questions is first
        assert curve("sentence", **said) == last["curve"]
        assert "Nothing has been trained yet" in curve("pair", data="paraphrase", **said)  # another task's axes


def test_a_small_file_of_ones_own_is_told_beside_the_encoders_frozen_vectors(room: Room) -> None:
    *_, last = room.start("pets")
    told = re.search(r"reaches ([\d.]+)% \((\d+) test sentences\)", last["scores"])
    assert told
    splits: Any = read_dataset("sentence", UPLOAD, room.file["pets"], None, "", "", 1_500, read_settings(*CHOSEN).seed)
    loaded = room.store.get("tiny")

    def vectors(examples: Sequence[Any]) -> np.ndarray:
        rows = [loaded.tokenizer(example.text, return_tensors="pt") for example in examples]
        with torch.inference_mode():
            return np.stack([loaded.model(**row).last_hidden_state[0].mean(dim=0).numpy() for row in rows])

    train, test = ([example.label for example in part] for part in (splits.train, splits.test))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    chain = Pipeline([("scale", StandardScaler()), ("classify", LogisticRegression(max_iter=2_000))])
    search = GridSearchCV(chain, {"classify__C": [1e-4, 1e-3, 1e-2, 1e-1]}, cv=folds).fit(vectors(splits.train), train)
    assert float(told[1]) == pytest.approx(100 * search.score(vectors(splits.test), test), abs=0.06)
    assert int(told[2]) == len(test)
