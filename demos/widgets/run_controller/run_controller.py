"""A run on the page: started by a button, drawn as it goes, stopped, and found again by a page that was reloaded."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.page.guards import OUR_FAULT
from demos.page.lesson import IN_BROWSER
from demos.page.progress import EventOptions
from demos.page.services import Sentence
from demos.page.view import Layout, On, unlinked
from demos.training.events import Event, Failed
from demos.training.service.background import Changes
from demos.training.service.gpu_worker import NoGPUError
from demos.training.service.readers import checked_key, reader_of
from demos.training.service.training_queue import MAX_WAITING
from demos.training.service.training_service import TrainingService

FOLLOWERS = 2 * (1 + MAX_WAITING)  # pages at once that follow their runs, each in a separate thread (`max_threads`)
QUEUE: EventOptions = {"concurrency_id": "train", "concurrency_limit": FOLLOWERS}
MAX_BEGUN = 256  # runs whose page has not requested their changes yet
ON_CPU = "Train the bundled model on the CPU instead"


@dataclass(frozen=True)
class RunChoices:
    """The page's memory of a view's runs, which `RunController.wire` adds to its choices."""

    reader: str = unlinked("")
    begun: str = unlinked("")  # the last run that the page began to draw
    run: str = unlinked("")  # the one under way


def cpu_button(**options: Any) -> gr.Button:
    """Beside the sentence that says why there was no GPU: the same run without one. A run that failed so shows it."""
    return gr.Button(ON_CPU, visible=False, size="sm", **options)


def cpu_offer(lacks_gpu: bool) -> Changes:
    """The update of the `cpu_button` at the end of a run: it is visible if the run ended for want of a GPU."""
    return {"on_cpu": gr.update(visible=True)} if lacks_gpu else {}


def lacks_gpu(event: Event) -> bool:
    """Whether a training ended with this event for want of a GPU."""
    return isinstance(event, Failed) and event.on_cpu


def buttons(running: bool) -> Changes:
    """Start or Stop, whichever can be pressed."""
    return {"start": gr.update(interactive=not running), "stop": gr.update(interactive=running)}


def guarded(work: Callable[[], Iterator[Changes]], failed: Callable[[str], Changes]) -> Iterator[Changes]:
    """Yield a run's changes; an error becomes `failed`'s sentence, and the CPU is offered where a GPU was missing.

    A fault of ours is reported as such, and raised for the log.
    """
    try:
        with closing(work()) as changes:  # type: ignore[type-var]
            yield from changes
    except UserError as error:
        yield failed(str(error)) | cpu_offer(isinstance(error, NoGPUError))
    except Exception:
        yield failed(OUR_FAULT)
        raise


class RunController:
    """One part's runs, for all its readers. A page's session holds the run that it shows, as `run`.

    Handlers receive a page's key, of its reader and its tab: two tabs of one reader have two runs.
    `work(run, reader, on, choices)` is a run: its changes to the page by name, its own failures among them. It
    continues in the background, so that a page may go and come back. `buttons(running)` are its changes to the buttons.
    If the page has a `cpu_button`, `work` receives `on_cpu=True` for a run begun by it.
    """

    def __init__(
        self,
        trainings: TrainingService,
        part: str,
        work: Callable[..., Iterator[Changes]],
        buttons: Callable[[bool], Changes] = buttons,
        stop: Callable[[str], None] | None = None,
    ) -> None:
        self.trainings = trainings
        self.background = trainings.background
        self.part = part
        self.work = work
        self.buttons = buttons
        self._stop = stop or trainings.runs.stop
        self._begun: dict[str, bool] = {}  # ids that `stream` may begin work for: whether on the CPU

    def begin(self, reader: str, run: str, on_cpu: bool = False) -> Changes:
        """A new run's id, for the call of `stream` that follows; or that of the tab's run that is under way."""
        if run:
            return {}
        newest = self.background.newest(reader, self.part)
        if self.background.is_under_way(newest):
            return self._changes_for_run(newest)
        new = self.trainings.runs.new()
        self._begun[new] = on_cpu
        while len(self._begun) > MAX_BEGUN:
            del self._begun[next(iter(self._begun))]
        return self._changes_for_run(new)

    def _changes_for_run(self, run: str) -> Changes:
        return {"run": run, "begun": run, **self.buttons(True)}

    def stream(self, run: str, reader: str, *inputs: Any) -> Iterator[Changes]:
        """The changes of the page's run, which begins where it was not begun yet. Leaving this does not end it."""
        if run in self._begun:
            where = {"on_cpu": True} if self._begun.pop(run) else {}
            key, stop = checked_key(reader), self._stop
            work = self.work(run, reader_of(key), *inputs, **where)
            self.background.start(run, key, self.part, work, lambda: stop(run), self.trainings.is_awaited)
        yield from self.background.follow(run)

    def resume(self, reader: str, run: str, begun: str) -> Changes:
        """The reader's run for a page that does not show it yet because it was reloaded; else nothing."""
        if run or not self.is_elsewhere(reader, begun):
            return {}
        newest = self.background.newest(reader, self.part)
        if self.background.is_under_way(newest):
            return self._changes_for_run(newest)
        return {"run": newest, "begun": newest}

    def is_elsewhere(self, reader: str, begun: str) -> bool:
        """Whether there is a run that `resume` will bring to this page: nothing else should be drawn there."""
        return self.background.newest(reader, self.part) not in ("", begun)

    def forget(self, reader: str) -> None:
        """The reader's last run is no longer on their page."""
        self.background.forget(self.background.newest(reader, self.part))

    def stop(self, run: str) -> Changes:
        """Ask this page's run to stop at its next step; the button goes grey until then."""
        if run:
            self._stop(run)
        return {"stop": gr.update(interactive=False)}

    def wire(
        self,
        at: Layout,
        buttons: Mapping[str, gr.Component],
        reads: Sequence[str],
        changed: Sequence[str],
        starts: Mapping[str, Changes] = {"start": {}},
    ) -> None:
        """Wire the buttons of a view whose choices are `RunChoices`.

        `buttons` are "stop", perhaps "on_cpu", the `cpu_button`, and those of `starts`, which says what each of them
        changes beside `buttons`. `reads` are the choices that the work reads, `changed` the names of all that it
        changes.
        """
        page = at.page
        at.hold("reader", page.reader)
        run, begun = at.hold("run", gr.State("")), at.hold("begun", gr.Textbox("", visible="hidden"))
        parts, pressed = {**at, **at.controls, **buttons}, self.buttons(True)
        presses = [(name, more, False) for name, more in starts.items()]
        if "on_cpu" in parts:
            hidden = {"on_cpu": gr.update(visible=False)}
            presses = [(name, more | hidden, False) for name, more, _ in presses] + [("on_cpu", hidden, True)]

        def on(trigger: Any, handler: Callable[..., Any], inputs: Any, outputs: Sequence[str], **options: Any) -> None:
            changed = {name: parts[name] for name in outputs}
            page.on([trigger], handler, inputs, changed, show_progress="hidden", **options)

        def stream(run: str, reader: str, model: str, *said: Any) -> Iterator[Changes]:
            on = On(page.services, Sentence("", "", model))
            yield from self.stream(run, reader, on, at.view.read(on, dict(zip(reads, said, strict=True))))

        for name, more, on_cpu in presses:
            on(
                parts[name].click,
                lambda reader, run, more=more, on_cpu=on_cpu: self.begin(reader, run, on_cpu) | more,
                [page.reader, run],
                ("run", "begun", *pressed, *more),
                trigger_mode="once",
            )
        # The id from the session: what the browser sends back could be another reader's.
        inputs = [run, page.reader, page.model, *(at.controls[name] for name in reads)]
        on(begun.change, stream, inputs, changed, trigger_mode="multiple", **QUEUE)
        name = json.dumps(self.part)
        begun.change(None, None, None, js=f"() => insideBert.link.began({name})", **IN_BROWSER)
        gate = f"insideBert.link.resumes({name})"  # a tab that has begun nothing here sends no request
        on(page.settled.change, self.resume, [page.reader, run, begun], ("run", "begun", *pressed), gate=gate)
        on(parts["stop"].click, self.stop, [run], ("stop",))
