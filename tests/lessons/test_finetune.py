"""The Fine-tune lesson: its recipe and data, a whole run through its handler, stop, queue and endpoint."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest

from demos.bert.encoding import encode
from demos.bert.models import LoadedModel, ModelStore
from demos.bert.run import run_model
from demos.errors import UserError
from demos.lessons.finetune import LESSON, train
from demos.page.lesson import Page
from demos.page.services import Sentence, Services
from demos.training.asked import OWN, UPLOAD, read_dataset, read_settings, told_dataset
from demos.training.settings import Settings

CHOSEN = ("mean", 0, 0.1, 3e-3, 2, "linear", 0.1, 8, 0.01, 24, 0)
TSV = "".join(f"a {('dull', 'fine')[k % 2]} film number {k}\t{('no', 'yes')[k % 2]}\n" for k in range(60))


class TinyStore(ModelStore):
    """A store of one tiny model, so that a whole training takes a second."""

    def __init__(self, loaded: LoadedModel, files: Path) -> None:
        super().__init__({"tiny": loaded.spec})
        self.loaded = loaded
        self.files = files

    def get(self, key: str) -> LoadedModel:
        self.spec(key)
        return self.loaded

    def folder(self, key: str) -> Path:
        self.spec(key)
        return self.files


class Wired:
    """The lesson built into a bare page: what it wires by trigger, and its endpoint."""

    def __init__(self, store: TinyStore) -> None:
        self.tiny = store.loaded
        self.draws: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.endpoints: dict[str, Callable[..., Any]] = {}
        wired = self

        class Recorder(Page):
            def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
                wired.draws.append({"show": show, "inputs": inputs, "outputs": outputs, **options})

            def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> None:
                wired.events.append({"run": handler, "inputs": inputs, "outputs": outputs, **options})

            def endpoint(self, function: Callable[..., Any], **options: Any) -> None:
                wired.endpoints[function.__name__] = function
                wired.endpoint_options = options

        with gr.Blocks():
            box = gr.Textbox
            self.page = Recorder(
                LESSON, Services(store, "tiny"), box(), box(), box(), box(), box(), gr.HTML(), gr.State("")
            )
            LESSON.build(self.page)
            train.PART.build(self.page)
        self.idle, self.train, self.stop, self.ask = self.events


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the other tests: two threads that wait for each other are slow on a busy machine."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="module")
def wired(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Wired:
    files = tmp_path_factory.mktemp("tiny")
    tiny.model.save_pretrained(files)
    tiny.tokenizer.save_pretrained(files)
    return Wired(TinyStore(tiny, files))


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("upload") / "films.tsv"
    path.write_text(TSV)
    return str(path)


def start(wired: Wired, upload: str, before: str = "", words: str = "a fine film") -> Any:
    return wired.train["run"]("", "", "tiny", before, words, UPLOAD, upload, None, 1_500, *CHOSEN)


def test_the_recipe_data_and_cost_are_shown_before_a_run(wired: Wired) -> None:
    draw, costs = wired.draws
    shown = draw["show"](Sentence("", "", "tiny"), OWN, None, None, 1_500, *CHOSEN)
    assert len(shown) == len(draw["outputs"])
    base, vector, head, files, data, code = shown
    cost = costs["show"](Sentence("", "", "tiny"), OWN, None, None, 1_500, *CHOSEN)
    assert "Tiny random BERT" in base
    assert "32 numbers" in vector
    assert f"{32 * 6 + 6:,} fresh numbers" in head
    assert files["visible"] is False
    assert "504 sentences to train on, 72 to watch, 144 to test" in data
    assert "126 steps" in cost  # 2 epochs of 504 / 8
    assert "max_length=24" in code
    (empty,) = [wired.idle["run"]("", "", OWN, None, None, 1_500, 0)]
    assert json.loads(empty)["baseline"] == pytest.approx(1 / 6, abs=1e-4)


def test_an_upload_is_waited_for_and_then_shown(wired: Wired, upload: str) -> None:
    show = wired.draws[0]["show"]
    waiting = show(Sentence("", "", "tiny"), UPLOAD, None, None, 1_500, *CHOSEN)
    assert "Choose a file" in waiting[4]
    assert wired.draws[1]["show"](Sentence("", "", "tiny"), UPLOAD, None, None, 1_500, *CHOSEN) == ""
    shown = show(Sentence("", "", "tiny"), UPLOAD, upload, None, 1_500, *CHOSEN)
    assert shown[3]["visible"] is True
    assert "films.tsv: 44 sentences to train on, 4 to watch, 12 to test" in shown[4]


def test_a_run_from_start_to_the_last_table(wired: Wired, upload: str) -> None:
    names = ["run", "kept", "start", "stop", "curve", "results", "scores", "confusion", "mistakes", "numbers"]
    updates = [dict(zip([*names, "chances", "cost"], update, strict=True)) for update in start(wired, upload)]
    first, last = updates[0], updates[-1]
    assert len(first) == len(wired.train["outputs"])
    assert first["run"]
    assert first["start"]["interactive"] is False
    assert first["stop"]["interactive"] is True
    curve = json.loads(last["curve"])
    assert [point[0] for point in curve["steps"]] == list(range(1, 13))
    assert len(curve["looks"]) == 5
    assert last["kept"] == first["run"]
    assert last["run"] == ""
    assert last["results"]["visible"] is True
    assert "macro F1" in last["scores"]
    assert sum(cell[2] for row in last["confusion"].data[0].customdata for cell in row) == 12
    assert "a fine film" in last["chances"]
    assert "sentences/s of the last run here" in last["cost"]
    assert "yes" in wired.ask["run"](last["kept"], "a dull film")
    with pytest.raises(UserError, match="Write a sentence"):
        wired.ask["run"](last["kept"], " ")
    with pytest.raises(UserError, match="no longer kept"):
        wired.ask["run"]("someone else's", "a dull film")
    tuned = wired.page.services.tuned(last["kept"])  # as the other lessons look into it
    assert (tuned.spec.num_layers, tuned.spec.mlm) == (2, False)
    before, after = (run_model(loaded, [encode(tuned.tokenizer, "a dull film")])[0] for loaded in (wired.tiny, tuned))
    assert after.attentions.shape == before.attentions.shape
    assert np.abs(after.hidden_states[-1] - before.hidden_states[-1]).max() > 1e-3  # it has learned
    with pytest.raises(UserError, match="no longer kept"):
        wired.page.services.tuned("someone else's")


def test_a_new_run_replaces_the_sessions_old_model(wired: Wired, upload: str) -> None:
    *_, first = start(wired, upload)
    *_, second = start(wired, upload, before=first[1])
    assert second[1] != first[1]
    with pytest.raises(UserError, match="no longer kept"):
        wired.ask["run"](first[1], "x")
    assert wired.ask["run"](second[1], "x")


def test_the_second_user_sees_the_queue_and_may_leave_it(wired: Wired, upload: str) -> None:
    first, second = start(wired, upload), start(wired, upload)
    next(first)
    waiting = next(second)
    assert "you are number 1 in the queue" in json.loads(waiting[4])["status"]
    wired.stop["run"](waiting[0])
    *_, left = second
    assert "left the line" in json.loads(left[4])["status"]
    first.close()  # its tab
    *_, last = start(wired, upload)
    assert json.loads(last[4])["status"].startswith("Trained")


def test_an_empty_try_box_does_not_lose_the_run(wired: Wired, upload: str) -> None:
    *_, last = start(wired, upload, words=" ")
    assert last[2]["interactive"] is True
    assert "Write a sentence" in last[10]


def test_what_keeps_a_run_from_starting_is_told_at_the_curve(wired: Wired, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("only one column\n")
    (update,) = start(wired, str(broken))
    assert json.loads(update[4])["status"] == "The file has one column; a text and a label column are needed."
    assert len(update) == len(wired.train["outputs"])
    with pytest.raises(UserError, match="one column"):
        wired.draws[0]["show"](Sentence("", "", "tiny"), UPLOAD, str(broken), None, 1_500, *CHOSEN)


def test_stop_before_anything_runs_is_no_harm(wired: Wired) -> None:
    assert wired.stop["run"]("")["interactive"] is False


def test_the_endpoint_streams_events_as_json(wired: Wired) -> None:
    fine_tune = wired.endpoints["fine_tune"]
    assert inspect.isgeneratorfunction(fine_tune)
    events = list(fine_tune(data=TSV, epochs=1, batch_size=8, learning_rate=1e-3))
    kinds = [event["event"] for event in json.loads(json.dumps(events, allow_nan=False))]
    assert kinds[0] == "started"
    assert kinds[-1] == "finished"
    assert kinds.count("step") == events[0]["total_steps"] == 6
    assert "folder" not in events[-1]["result"]
    assert wired.endpoint_options["concurrency_id"] == wired.train["concurrency_id"] == "train"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"data": ""}, "empty"),
        ({"data": "hello"}, "neither"),
        ({"data": "a\tb\nc\td\n"}, "'b'"),
        ({"data": TSV, "epochs": 0}, "epochs"),
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


def test_controls_are_read_and_bounded() -> None:
    assert read_settings(*CHOSEN) == Settings(
        epochs=2, learning_rate=3e-3, batch_size=8, max_length=24, weight_decay=0.01
    )
    for wrong in (None, "x", float("nan"), float("inf"), -1):
        with pytest.raises(UserError):
            read_settings(*CHOSEN[:4], wrong, *CHOSEN[5:])
    with pytest.raises(UserError, match="Choose a CSV"):
        read_dataset(UPLOAD, None, None, 100, 0)
    with pytest.raises(UserError, match="not a number"):
        read_dataset(OWN, None, None, 100, None)
    assert told_dataset("emotion", 0).labels == read_dataset(OWN, None, None, 1_500, 0).labels
