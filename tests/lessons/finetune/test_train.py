"""The Fine-tune lesson: its recipe and data, a whole run through its handler, stop, queue and endpoint."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demos.bert.model.encoding import encode
from demos.bert.model.run import run_model
from demos.errors import UserError
from demos.lessons.finetune.train import layout
from demos.lessons.finetune.train.choices import SETTINGS
from demos.lessons.finetune.train.controller import GO_ON, PAUSE
from demos.lessons.finetune.train.part import Train, finish, pause
from demos.page.services import Sentence
from demos.page.view import On, Shown
from demos.training.form_values import OWN, RECIPE, UPLOAD
from demos.widgets.run_controller.run_controller import FOLLOWERS
from tests.lessons.finetune.bare_page import CHOSEN, TSV, Bare


def start(bare: Bare, upload: str, words: str = "a fine film", reader: str = "a-reader-with-a-key") -> Iterator[Shown]:
    """The events of one run as the page wires them: its beginning, its curve's messages, its end."""
    begun = bare.runs.begin(reader, "")
    yield begun
    run = begun["run"]
    form = {SETTINGS[name]: value for name, value in zip(RECIPE, CHOSEN, strict=True)}
    said = {"earlier": "model", "task": "sentence", "data": UPLOAD, "file": upload, "most": 1_500} | form
    on = On(bare.services, Sentence("", "", "tiny"))
    for update in bare.runs.stream(begun["begun"], reader, on, Train().read(on, said)):
        assert update.keys() <= {"curve", "phase"}  # the fewer, the less the browser has to do five times a second
        if "phase" in update:
            update = dict(update) | finished(bare, update["phase"], run, words)
        yield update


def finished(bare: Bare, phase: str, run: str, words: str) -> Shown:
    """The end of a run, and what it learned."""
    on = On(bare.services, Sentence("", "", "tiny"))
    ended = finish(on, Train().read(on, {"phase": phase, "run": run, "try_0": words}))
    return ended | (learned(bare, ended["kept"]) if "kept" in ended else {})


def learned(bare: Bare, run: str, task: str = "sentence") -> Shown:
    on = On(bare.services, Sentence("", "", "tiny"))
    return Train().learned(on, Train().read(on, {"task": task, "trained": run}))


def status(updates: Iterable[dict[str, Any]]) -> str:
    """What the last message to the curve says."""
    told: str = [json.loads(update["curve"])["status"] for update in updates if "curve" in update][-1]
    return told


def test_a_run_from_start_to_the_last_table(bare: Bare, upload: str) -> None:
    updates = list(start(bare, upload))
    first, last = updates[0], updates[-1]
    assert first["run"]
    assert bare.runs.begin("a-reader-with-a-key", first["run"]) == {}  # a second press while it runs
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
    assert last["results"]["visible"] is True
    assert "macro F1" in last["scores"]
    assert sum(map(int, re.findall(r">(\d+)</button>", last["matrix"]["value"]))) == 12
    assert last["matrix"]["value"].count("<li>") == 12  # every test sentence is in its cell's list
    record = last["history"][-1]
    assert (record.run, record.kind, record.stopped) == (first["run"], "sentence", "")
    assert (len(record.curve), len(record.looks)) == (12, 5)
    assert "a fine film" in last["answer"]
    ask = bare.trainer.answer
    assert "yes" in ask(last["kept"], "sentence", "a dull film", "", "")
    with pytest.raises(UserError, match="Write a sentence"):
        ask(last["kept"], "sentence", " ", "", "")
    with pytest.raises(UserError, match="no longer kept"):
        ask("someone else's", "sentence", "a dull film", "", "")
    with pytest.raises(UserError, match="Train a model first"):
        ask("", "sentence", "a dull film", "", "")
    tuned = bare.services.tuned(last["kept"])  # as the other lessons look into it
    assert (tuned.spec.num_layers, tuned.spec.mlm) == (2, False)
    before, after = (run_model(loaded, [encode(tuned.tokenizer, "a dull film")])[0] for loaded in (bare.tiny, tuned))
    assert after.attentions.shape == before.attentions.shape
    assert np.abs(after.hidden_states[-1] - before.hidden_states[-1]).max() > 1e-3  # it has learned
    with pytest.raises(UserError, match="no longer kept"):
        bare.services.tuned("someone else's")
    # Another task, and back: what was learned is shown where it belongs.
    assert learned(bare, last["kept"], "pair")["results"]["visible"] is False
    assert learned(bare, last["kept"])["results"]["visible"] is True
    pair = ("pair", OWN, None, None, "", "", 1_500)
    away = bare.draw(pair, method="curve", trained=last["kept"])["curve"]
    assert json.loads(away)["run"] == ""
    assert bare.draw(method="curve", trained=last["kept"])["curve"] == final
    assert bare.draw(pair, method="curve", trained=last["kept"], run="a run") == {}  # the one under way keeps its own


def test_each_task_has_its_own_choices_and_boxes() -> None:
    assert layout.SOMETIMES == ("pooling", "contrast", "class_weights")
    acting = {kind: [*layout.of_task(kind)][2:] for kind in ("sentence", "choice", "question")}
    visible = [[update["visible"] for update in updates[:4]] for updates in acting.values()]  # the last: the poolings
    assert visible == [[True, True, True, True], [True, False, False, False], [False, False, False, False]]
    assert [update["visible"] for update in [*layout.of_task("pair")][6:]] == [True, True, False]


def test_a_new_run_takes_the_last_ones_place_and_both_answer(bare: Bare, upload: str) -> None:
    *_, first = start(bare, upload)
    *_, second = start(bare, upload, words=" ")
    assert second["kept"] != first["kept"]
    assert [record.run for record in second["history"]][-2:] == [first["kept"], second["kept"]]
    assert "Write a sentence" in second["answer"]  # the empty box has not lost the run
    for run in (first, second):
        assert bare.trainer.answer(run["kept"], "sentence", "x", "", "")


def test_the_second_user_sees_the_queue_and_may_leave_it(bare: Bare, upload: str) -> None:
    readers = [f"the-reader-in-place-{number}" for number in range(3)]
    first, second, third = (start(bare, upload, reader=reader) for reader in readers)
    with bare.services.trainings.queue.join():  # somebody trains
        mine, waiting = next(second), next(second)
        assert "1 run is ahead of yours" in json.loads(waiting["curve"])["status"]
        bare.runs.stop(mine["run"])
        assert "removed from the queue" in status(second)
    next(first), next(first)
    first.close()  # its page is gone, its training is not
    assert status(third).startswith("Trained")
    found = bare.runs.resume(readers[0], "", "")
    *_, over = bare.runs.stream(found["begun"], readers[0])  # what the form says by now is no matter
    assert json.loads(over["curve"])["status"].startswith("Trained")
    ended = finished(bare, over["phase"], found["run"], "a fine film")
    assert ended["kept"] == found["run"]
    assert "macro F1" in ended["scores"]
    assert bare.runs.resume(readers[0], "", found["begun"]) == {}  # it is on the page by now
    assert bare.runs.resume("somebody-else-entirely", "", "") == bare.runs.resume("", "", "") == {}


def test_pause_waits_and_go_on_ends_it(bare: Bare, upload: str) -> None:
    on = On(bare.services, Sentence("", "", "tiny"))

    def pressed(run: str, label: str) -> Any:
        return pause(on, Train().read(on, {"run": run, "pause_says": label}))["pause"]["value"]

    events = start(bare, upload)
    run = next(events)["run"]
    assert pressed(run, PAUSE) == GO_ON  # before its first step, which may come at once
    assert any("Paused" in status([update]) for update in events if "curve" in update)
    assert pressed(run, GO_ON) == PAUSE
    resumed = next(update for update in events if "pause" in update)
    assert resumed["pause"]["value"] == PAUSE  # also where it goes on by itself
    assert status(events).startswith("Trained after 12 steps")
    assert pressed("", PAUSE) == PAUSE  # no run, no harm


def test_what_keeps_a_run_from_starting_is_told_at_the_curve(bare: Bare, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("only one column\n", encoding="utf-8")
    _, update = start(bare, str(broken))
    assert json.loads(update["curve"])["status"] == "The file has one column; a text and a label column are needed."
    assert (update["run"], update["start"]["interactive"]) == ("", True)
    picked = ("sentence", UPLOAD, str(broken), None, "", "", 1_500)
    why = bare.draw(picked, method="picker")["picker"]
    assert "The file has one column; a text and a label column are needed." in why
    assert "A text and a label column" in bare.draw(picked)["rows"]
    (tmp_path / "empty.csv").write_bytes(b"")
    nothing = ("sentence", UPLOAD, str(tmp_path / "empty.csv"), None, "", "", 1_500)
    with pytest.raises(UserError, match="The file has no rows"):
        bare.draw(nothing)
    assert bare.draw(nothing, method="picker") == {"picker": ""}  # told once


def test_stop_before_anything_runs_is_no_harm(bare: Bare) -> None:
    assert bare.runs.stop("")["stop"]["interactive"] is False


def test_the_endpoint_streams_events_as_json(bare: Bare) -> None:
    fine_tune = bare.endpoints["fine_tune"]
    assert inspect.isgeneratorfunction(fine_tune)
    events = list(fine_tune(data=TSV, epochs=1, batch_size=8, learning_rate=1e-3))
    kinds = [event["event"] for event in json.loads(json.dumps(events, allow_nan=False))]
    assert kinds[0] == "started"
    assert kinds[-1] == "finished"
    told = re.findall(r"\w+", (fine_tune.__doc__ or "").partition("The event field says which:")[2])
    assert set(kinds) <= set(told)
    assert kinds.count("step") == events[0]["total_steps"] == 6
    assert "folder" not in events[-1]["result"]
    (curve,) = (of_page for of_page in bare.blocks.fns.values() if getattr(of_page, "concurrency_id", "") == "train")
    assert curve.concurrency_limit == FOLLOWERS
    assert bare.endpoint_options["concurrency_id"] == "fine_tune"  # programs take no reader's place


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
def test_the_endpoint_refuses_in_one_sentence(bare: Bare, given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as refused:
        list(bare.endpoints["fine_tune"](**given))
    assert told in str(refused.value)
