"""The run on the page: begun once, drawn, found again by a new page, stopped, and never another reader's."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from app import launch_options
from demos.page.command_line import read_settings
from demos.page.delivery.first_views import FirstViews
from demos.page.lesson import by_name
from demos.page.view import Layout, View
from demos.training.service.background import Changes
from demos.training.service.training_queue import MAX_WAITING
from demos.training.service.training_service import TrainingService
from demos.widgets.run_controller.run_controller import QUEUE, RunChoices, RunController, cpu_button

ANN, BOB = "ann-and-her-own-key/the-first-of-her-tabs", "bob-and-his-own-key"


class Counting:
    """A run that counts until it is stopped."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str, Any]] = []
        self.on_cpu: list[bool] = []
        self.stopped: set[str] = set()
        self.controller = RunController(TrainingService(), "counting", self.work, stop=self.stopped.add)

    def work(self, run: str, reader: str, first: int, on_cpu: bool = False) -> Iterator[Changes]:
        self.begun.append((run, reader, first))
        self.on_cpu.append(on_cpu)
        while run not in self.stopped:
            yield {"count": first}
            first += 1
            time.sleep(0.005)
        yield {"run": "", "count": "over", **self.controller.buttons(False)}


@pytest.fixture
def counting() -> Iterator[Counting]:
    made = Counting()
    yield made
    made.stopped |= {run for run, _, _ in made.begun}
    for thread in threading.enumerate():
        if thread.name == "run":
            thread.join(10)


def test_a_run_is_begun_once_and_found_by_a_new_page(counting: Counting) -> None:
    controller = counting.controller
    begun = controller.begin(ANN, "")
    run = begun["run"]
    assert begun["begun"] == run
    assert (begun["start"]["interactive"], begun["stop"]["interactive"]) == (False, True)
    assert controller.begin(ANN, run) == {}  # pressed again
    page = controller.stream(run, ANN, 10)
    assert next(page)["count"] >= 10
    assert controller.begin(ANN, "")["run"] == run  # before the page knew of it
    page.close()  # type: ignore[attr-defined]
    assert controller.is_elsewhere(ANN, "")
    assert not controller.is_elsewhere(ANN, run)
    found = controller.resume(ANN, "", "")
    assert found["run"] == found["begun"] == run
    assert found["stop"]["interactive"] is True
    assert controller.resume(ANN, run, run) == controller.resume(ANN, "", run) == {}  # it is shown there
    again = controller.stream(run, ANN, 500)  # what the form says by now is no matter
    assert next(again)["count"] < 500
    assert controller.stop(run)["stop"]["interactive"] is False
    *_, last = again
    assert (last["run"], last["count"]) == ("", "over")
    assert counting.begun == [(run, "ann-and-her-own-key", 10)]
    found = controller.resume(ANN, "", "")  # over: it is drawn again, and Start stays as it is
    assert set(found) == {"run", "begun"}
    (whole,) = controller.stream(run, ANN, 10)
    assert (whole["run"], whole["count"]) == ("", "over")
    controller.forget(ANN)
    assert controller.resume(ANN, "", "") == {}


def test_two_readers_and_two_tabs_have_runs_of_their_own(counting: Counting) -> None:
    controller = counting.controller
    other_tab = ANN.replace("first", "second")
    runs = {reader: controller.begin(reader, "")["run"] for reader in (ANN, BOB, other_tab)}
    pages = {reader: controller.stream(run, reader, 0) for reader, run in runs.items()}
    assert all(next(page) for page in pages.values())
    assert len(set(runs.values())) == 3
    assert controller.resume(ANN, "", "")["run"] == runs[ANN]
    for reader in ("", "somebody-else-again"):
        assert controller.resume(reader, "", "") == {}
        assert not controller.is_elsewhere(reader, "")
    controller.stop(runs[ANN])
    assert [*pages[ANN]][-1]["count"] == "over"
    assert next(pages[BOB])["count"] != "over"


def test_an_id_that_was_not_given_out_begins_nothing(counting: Counting) -> None:
    assert [*counting.controller.stream("made-up", ANN, 1)] == []
    assert [*counting.controller.stream("", ANN, 1)] == []
    assert counting.begun == []
    assert "stop" in counting.controller.stop("")
    assert counting.stopped == set()


def test_the_button_for_the_cpu_begins_the_same_run_there(counting: Counting) -> None:
    controller = counting.controller
    for reader, more in ((ANN, {"on_cpu": True}), (BOB, {})):
        run = controller.begin(reader, "", **more)["run"]
        assert next(controller.stream(run, reader, 7))["count"] >= 7
    assert counting.on_cpu == [True, False]
    assert [first for *_, first in counting.begun] == [7, 7]


class Runs(View):
    Choices = RunChoices


def test_every_start_takes_the_offer_of_the_cpu_away() -> None:
    with gr.Blocks() as demo:
        buttons = {"start": gr.Button(), "stop": gr.Button(), "on_cpu": cpu_button()}
        at = Layout(Runs(), SimpleNamespace(reader=gr.Textbox(), model=gr.Textbox(), settled=gr.Textbox(), on=on))  # type: ignore[arg-type]
        counting = Counting()
        counting.controller.wire(at, buttons, [], ())
    by_trigger = {function.targets[0]: function for function in demo.fns.values()}
    for name, on_cpu in (("start", False), ("on_cpu", True)):
        changes = by_trigger[(buttons[name]._id, "click")].fn("a-reader-with-a-key", "")
        assert changes[buttons["on_cpu"]]["visible"] is False
        assert counting.controller._begun[changes[at.controls["run"]]] is on_cpu
        counting.controller._begun.clear()


def on(triggers: list[Any], handler: Any, inputs: list[Any], outputs: dict[str, Any], **options: Any) -> None:
    options.pop("gate", None)
    gr.on(triggers, by_name(handler, outputs), inputs, list(outputs.values()), **options)


def test_a_hundred_who_press_start_at_one_moment_have_a_place_each() -> None:
    """All of them follow their runs at once; each is told how many are before and for how long."""
    trainings = TrainingService()
    over, together = threading.Event(), threading.Barrier(100)

    def work(run: str, reader: str) -> Iterator[Changes]:
        with trainings.queue.join(60.0) as ticket:
            yield {"place": ticket.place, "seconds": ticket.seconds_before}
            assert over.wait(timeout=60)

    controller = RunController(trainings, "hundred", work)

    def press(number: int) -> Changes:
        reader = f"reader-{number:03d}-of-a-hundred"
        run = controller.begin(reader, "")["run"]
        together.wait(timeout=60)  # all have pressed before one page asks for its run
        page = controller.stream(run, reader)
        told = next(page)
        together.wait(timeout=60)
        page.close()  # type: ignore[attr-defined]
        return told

    with ThreadPoolExecutor(100) as pool:
        try:
            told = list(pool.map(press, range(100)))
        finally:
            over.set()
    assert sorted(place["place"] for place in told) == list(range(100))
    assert all(place["seconds"] == pytest.approx(60 * place["place"], abs=30) for place in told)


def test_the_app_has_threads_for_all_who_wait_and_for_the_others() -> None:
    """Gradio runs no more events at once than it has threads, and who follows a run holds one."""
    threads = launch_options(read_settings([]), FirstViews())["max_threads"]
    assert threads >= QUEUE["concurrency_limit"] + 40
    assert QUEUE["concurrency_limit"] > MAX_WAITING > 100
