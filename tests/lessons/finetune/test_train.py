"""The Fine-tune lesson: its recipe and data, a whole run through its handler, stop, queue and endpoint."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest

from demos.bert.model.encoding import encode
from demos.bert.model.run import run_model
from demos.errors import UserError
from demos.lessons.finetune.train import part as train
from demos.lessons.finetune.train.controller import CHANGED, GO_ON, PAUSE
from demos.page.services import Sentence
from demos.training.form_values import (
    OWN,
    UPLOAD,
)
from tests.lessons.finetune.bare_page import BEGIN, CHOSEN, TSV, Wired


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the other tests: two threads that wait for each other are slow on a busy machine."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def start(
    wired: Wired, upload: str, words: str = "a fine film", reader: str = "a-reader-with-a-key"
) -> Iterator[dict[str, Any]]:
    """The events of one run as the page wires them: its beginning, its curve's messages, its end."""
    begun = wired.begin["run"](reader, "")
    assert wired.reaches(begun, wired.begin)
    yield begun
    run = begun["run"]
    picked = ("sentence", UPLOAD, upload, None, "", "", 1_500)
    for update in wired.train["run"](begun["begun"], reader, "", "", "tiny", "model", *picked, *CHOSEN):
        assert wired.reaches(update, wired.train)
        if "phase" in update:
            ended = wired.finish["run"](update["phase"], run, "sentence", words, "", "")
            assert wired.reaches(ended, wired.finish)
            update = dict.fromkeys(CHANGED, gr.skip()) | update | ended
        yield update


def status(updates: Iterable[dict[str, Any]]) -> str:
    """What the last message to the curve says."""
    told: str = [json.loads(update["curve"])["status"] for update in updates if "curve" in update][-1]
    return told


def test_a_run_from_start_to_the_last_table(wired: Wired, upload: str) -> None:
    updates = list(start(wired, upload))
    first, last = updates[0], updates[-1]
    assert len(wired.train["outputs"]) == 2  # the fewer, the less the browser has to do five times a second
    assert first["run"]
    assert set(wired.begin["run"]("a-reader-with-a-key", first["run"])) == {"on_cpu"}  # a second press while it runs
    assert first["start"]["interactive"] is False
    assert first["stop"]["interactive"] is True
    assert first["pause"]["value"] == PAUSE
    final = next(update["curve"] for update in reversed(updates) if "curve" in update)
    curve = json.loads(final)
    assert [point[0] for point in curve["steps"]] == list(range(1, 13))
    assert len(curve["looks"]) == len(curve["watched"]) == 5
    assert len(curve["examples"]) == 4  # as many as there are to watch
    assert last["kept"] == first["run"]
    assert last["run"] == ""
    assert last["shown"]["kind"] == "sentence"
    assert last["results"]["visible"] is True
    assert "macro F1" in last["scores"]
    assert sum(map(int, re.findall(r">(\d+)</button>", last["matrix"]["value"]))) == 12
    assert last["matrix"]["value"].count("<li>") == 12  # every test sentence is in its cell's list
    record = last["history"][-1]
    assert (record.run, record.kind, record.stopped) == (first["run"], "sentence", "")
    assert (len(record.curve), len(record.looks)) == (12, 5)
    assert "a fine film" in last["answer"]
    ask = wired.ask["run"]
    assert "yes" in ask(last["kept"], last["shown"], "a dull film", "", "")
    with pytest.raises(UserError, match="Write a sentence"):
        ask(last["kept"], last["shown"], " ", "", "")
    with pytest.raises(UserError, match="no longer kept"):
        ask("someone else's", last["shown"], "a dull film", "", "")
    with pytest.raises(UserError, match="Train a model first"):
        ask("", {}, "a dull film", "", "")
    tuned = wired.page.services.tuned(last["kept"])  # as the other lessons look into it
    assert (tuned.spec.num_layers, tuned.spec.mlm) == (2, False)
    before, after = (run_model(loaded, [encode(tuned.tokenizer, "a dull film")])[0] for loaded in (wired.tiny, tuned))
    assert after.attentions.shape == before.attentions.shape
    assert np.abs(after.hidden_states[-1] - before.hidden_states[-1]).max() > 1e-3  # it has learned
    with pytest.raises(UserError, match="no longer kept"):
        wired.page.services.tuned("someone else's")
    # Another task, and back: what was learned is shown where it belongs.
    away = wired.task["run"]("pair", OWN, "", last["kept"], last["shown"], 0)
    assert wired.reaches(away, wired.task)
    acting = {kind: wired.task["run"](kind, OWN, "", "", {}, 0) for kind in ("sentence", "choice", "question")}
    visible = [[changes[name]["visible"] for name in train.SOMETIMES] for changes in acting.values()]
    assert train.SOMETIMES == ("pooling", "contrast", "class_weights")
    assert visible == [[True, True, True], [True, False, False], [False, False, False]]
    assert [changes["poolings"]["visible"] for changes in acting.values()] == [True, False, False]
    assert away["results"]["visible"] is False
    assert [away[name]["visible"] for name in train.layout.TRIES] == [True, True, False]
    assert json.loads(away["curve"])["run"] == ""
    back = wired.task["run"]("sentence", "paraphrase", "", last["kept"], last["shown"], 0)
    assert (back["results"]["visible"], back["curve"]) == (True, final)
    busy = wired.task["run"]("pair", OWN, "a run", last["kept"], last["shown"], 0)
    assert "curve" not in busy  # the run under way keeps its own


def test_a_new_run_takes_the_last_ones_place_and_both_answer(wired: Wired, upload: str) -> None:
    *_, first = start(wired, upload)
    *_, second = start(wired, upload, words=" ")
    assert second["kept"] != first["kept"]
    assert [record.run for record in second["history"]][-2:] == [first["kept"], second["kept"]]
    assert "Write a sentence" in second["answer"]  # the empty box has not lost the run
    for run in (first, second):
        assert wired.ask["run"](run["kept"], run["shown"], "x", "", "")


def test_the_second_user_sees_the_queue_and_may_leave_it(wired: Wired, upload: str) -> None:
    readers = [f"the-reader-in-place-{number}" for number in range(3)]
    first, second, third = (start(wired, upload, reader=reader) for reader in readers)
    with wired.page.services.trainings.queue.join():  # somebody trains
        mine, waiting = next(second), next(second)
        assert "1 run is ahead of yours" in json.loads(waiting["curve"])["status"]
        wired.stop["run"](mine["run"])
        assert "removed from the queue" in status(second)
    next(first), next(first)
    first.close()  # its page is gone, its training is not
    assert status(third).startswith("Trained")
    found = wired.resume["run"](readers[0], "", "")
    assert wired.reaches(found, wired.resume)
    *_, over = wired.train["run"](found["begun"], readers[0], "", "", "tiny")  # what the form says by now is no matter
    assert json.loads(over["curve"])["status"].startswith("Trained")
    ended = wired.finish["run"](over["phase"], found["run"], "sentence", "a fine film", "", "")
    assert ended["kept"] == found["run"]
    assert "macro F1" in ended["scores"]
    assert wired.resume["run"](readers[0], "", found["begun"]) == {}  # it is on the page by now
    assert wired.resume["run"]("somebody-else-entirely", "", "") == wired.resume["run"]("", "", "") == {}


def test_pause_waits_and_go_on_ends_it(wired: Wired, upload: str) -> None:
    events = start(wired, upload)
    run = next(events)["run"]
    assert wired.pause["run"](run, PAUSE)["value"] == GO_ON  # before its first step, which may come at once
    assert any("Paused" in status([update]) for update in events if "curve" in update)
    assert wired.pause["run"](run, GO_ON)["value"] == PAUSE
    resumed = next(update for update in events if "pause" in update)
    assert resumed["pause"]["value"] == PAUSE  # also where it goes on by itself
    assert status(events).startswith("Trained after 12 steps")
    assert wired.pause["run"]("", PAUSE)["value"] == PAUSE  # no run, no harm


def test_what_keeps_a_run_from_starting_is_told_at_the_curve(wired: Wired, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("only one column\n", encoding="utf-8")
    _, update = start(wired, str(broken))
    assert json.loads(update["curve"])["status"] == "The file has one column; a text and a label column are needed."
    assert (update["run"], update["start"]["interactive"]) == ("", True)
    picked = ("sentence", UPLOAD, str(broken), None, "", "", 1_500)
    shown = wired.draws[2]["show"](Sentence("", "", "tiny"), *picked, 0)
    assert "The file has one column; a text and a label column are needed." in shown
    told = wired.draws[0]["show"](Sentence("", "", "tiny"), "quick", *BEGIN, *picked, *CHOSEN)["told"]
    assert "A text and a label column" in told
    (tmp_path / "empty.csv").write_bytes(b"")
    nothing = ("sentence", UPLOAD, str(tmp_path / "empty.csv"), None, "", "", 1_500)
    with pytest.raises(UserError, match="The file has no rows"):
        wired.draws[0]["show"](Sentence("", "", "tiny"), "quick", *BEGIN, *nothing, *CHOSEN)
    assert wired.draws[2]["show"](Sentence("", "", "tiny"), *nothing, 0) == ""  # told once


def test_stop_before_anything_runs_is_no_harm(wired: Wired) -> None:
    assert wired.stop["run"]("")["stop"]["interactive"] is False


def test_the_endpoint_streams_events_as_json(wired: Wired) -> None:
    fine_tune = wired.endpoints["fine_tune"]
    assert inspect.isgeneratorfunction(fine_tune)
    events = list(fine_tune(data=TSV, epochs=1, batch_size=8, learning_rate=1e-3))
    kinds = [event["event"] for event in json.loads(json.dumps(events, allow_nan=False))]
    assert kinds[0] == "started"
    assert kinds[-1] == "finished"
    told = re.findall(r"\w+", (fine_tune.__doc__ or "").partition("The event field says which:")[2])
    assert set(kinds) <= set(told)
    assert kinds.count("step") == events[0]["total_steps"] == 6
    assert "folder" not in events[-1]["result"]
    assert wired.train["concurrency_id"] == "train"
    assert wired.endpoint_options["concurrency_id"] == "fine_tune"  # programs take no reader's place


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"data": ""}, "empty"),
        ({"data": "hello"}, "neither"),
        ({"data": "a\tb\nc\td\n"}, "'b'"),
        ({"data": TSV, "epochs": 0}, "epochs"),
        ({"data": TSV, "trains": "nothing"}, "The trainable part"),
        ({"data": TSV, "task": "choice"}, "the name of a bundled data set"),
        ({"data": "emotion", "task": "pair"}, "another task"),
        ({"data": TSV, "epochs": 2.5}, "epochs"),
        ({"data": TSV, "learning_rate": float("inf")}, "learning rate"),
        ({"data": TSV, "pooling": "<b>"}, "pooling"),
        ({"data": TSV, "batch_size": 10**9}, "batch size"),
        ({"data": TSV, "seed": -1}, "seed"),
        ({"data": TSV, "model": "../etc"}, "no model"),
        ({"data": 5}, "empty"),
    ],
)
def test_the_endpoint_refuses_in_one_sentence(wired: Wired, given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as refused:
        list(wired.endpoints["fine_tune"](**given))
    assert told in str(refused.value)
