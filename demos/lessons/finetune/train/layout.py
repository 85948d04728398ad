"""The controls and pictures of "Train", and what the browser does alone when one of them moves."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.lessons.finetune.train.choices import ELSEWHERE, MOST_LAYERS, SETTINGS, TRIES, filled_in
from demos.lessons.finetune.train.controller import PAUSE
from demos.lessons.finetune.train.poolings import poolings_html
from demos.lessons.finetune.train.start import MODEL
from demos.lessons.finetune.train.try_it import examples_menu
from demos.page.drawing.drawn import Update
from demos.page.lesson import IN_BROWSER
from demos.page.view import Layout
from demos.templates import in_script, templates
from demos.training.form_values import HUB, RECIPE, UPLOAD
from demos.training.presets import IDLE, PRESETS
from demos.training.sources import READERS, reader_of
from demos.widgets.column_picker.column_picker import column_picker
from demos.widgets.file_picker.file_picker import file_picker, offered, shown_for
from demos.widgets.live_curve.live_curve import live_curve
from demos.widgets.run_controller.run_controller import cpu_button
from demos.widgets.scripted.scripted import scripted
from demos.widgets.tasks.registry import BOXES, VIEWS, bundled
from demos.widgets.tasks.task_view import TaskView

TEXT = templates(__file__)
SOMETIMES = tuple(dict.fromkeys(name for names in IDLE.values() for name in names))  # choices that not all tasks have


def tasks(at: Layout) -> dict[str, gr.Component]:
    """The tasks in a row, and which data; returns the button that fetches some of the Hub."""
    data = at.control("data")  # before the task, but to the right of it
    with gr.Row(elem_classes="lab-top"):
        at.control("task")
        data.render()
    with gr.Row(visible=False) as files:
        reader = reader_of("sentence")
        for name, label in (("file", reader.forms), ("test_file", "a separate test file (optional)")):
            at.hold(name, file_picker(label, reader.endings, height=110, min_width=240))
    with gr.Row(visible=False) as hubs:
        at.control("hub")
        fetch = gr.Button("Fetch", elem_id="finetune-fetch", scale=1, min_width=110)
    for value, row in ((UPLOAD, files), (HUB, hubs)):
        shown_for(data, row, value)
    at["picker"] = column_picker("finetune-columns", at.control("columns"))
    at.hold("hub_asked", gr.Textbox("", visible="hidden"))
    return {"fetch": fetch}


def recipe(at: Layout) -> None:
    """The presets, and which parts are trained; the rest is in `more`."""
    at.control("preset")
    at["about"] = gr.HTML(elem_classes="preset-told")
    at["chain"] = gr.HTML(elem_id="finetune-chain")
    # Not in the fold: of several changes to a component that is not on the page, gradio keeps one.
    with gr.Row(elem_classes="pairs"):
        for name in ("trains", "top", "rank"):
            at.control(name)


def more(at: Layout) -> gr.HTML:
    """The controls that are seldom moved, in the fold "All controls"; returns the table of poolings among them."""
    with gr.Row(elem_classes="pairs", elem_id="finetune-speed"):
        at.control("rate")
        at.control("epochs")
    earlier = gr.Dropdown(
        [("the pre-trained model", MODEL)],
        value=MODEL,
        label="Start from",
        filterable=False,
        visible=False,
        elem_id="finetune-earlier",
        elem_classes="inline",
        min_width=100,
    )
    earlier.allow_custom_value = True  # `start` says to the browser alone what it offers
    at.hold("earlier", earlier)
    at["start"] = gr.HTML(elem_id="finetune-earlier-told")
    at.control("pooling")
    at.control("hidden")
    with gr.Row(elem_classes="pairs"):
        at.control("schedule")
        at.control("warmup")
    at["rates"] = gr.HTML(elem_id="finetune-rate")
    poolings = gr.HTML(poolings_html(), elem_id="finetune-poolings")
    with gr.Row():
        for name in ("batch", "tokens", "dropout", "decay", "weights", "pairs", "opt", "most", "seed"):
            at.control(name)
    return poolings


def live(at: Layout, news: Callable[[Any], str]) -> dict[str, gr.Component]:
    """Start, Pause, Stop and the cost, which keep their place; below, the curve, fed by `news`."""
    with gr.Row(elem_classes="lab-buttons"):
        start = gr.Button("Start", variant="primary", elem_id="finetune-start", min_width=110)
        pause = gr.Button(PAUSE, interactive=False, elem_id="finetune-pause", min_width=110)
        stop = gr.Button("Stop early", interactive=False, elem_id="finetune-stop", min_width=110)
    at.hold("pause_says", pause)
    at["cost"] = gr.HTML(elem_id="finetune-cost")
    on_cpu = cpu_button(elem_id="finetune-on-cpu")
    at["curve"] = live_curve(news, elem_id="finetune-curve", elem_classes="picture", in_rooms=True)
    return {"start": start, "pause": pause, "stop": stop, "on_cpu": on_cpu}


def try_it(at: Layout) -> dict[str, gr.Component]:
    """The trained model's answer to a text of the reader's own; beside the curve, once there is a result."""
    gr.HTML(TEXT.title("Try it"))
    examples = examples_menu()
    for number, (name, (label, sample)) in enumerate(zip(TRIES, tries(VIEWS["sentence"]), strict=True)):
        at.hold(
            name,
            gr.Textbox(
                sample, label=label, visible=bool(label), lines=1, max_lines=6, elem_id=f"finetune-try-{number}"
            ),
        )
    ask = gr.Button("Run the trained model", elem_id="finetune-ask")
    return {"try_examples": examples, "ask": ask, "answer": gr.HTML(elem_id="finetune-answer")}


def results(at: Layout) -> None:
    """The results of a run; hidden until there is one."""
    with gr.Column(visible=False, elem_id="finetune-scores", elem_classes="lab-results") as column:
        gr.HTML(TEXT.title("Test results"))
        at["scores"] = gr.HTML(elem_classes="said")
        at["matrix"] = scripted(read_beside(__file__, "matrix.js"), "finetune-matrix")
        with gr.Column(visible=False) as picture:
            at.plot("figure", "Confusion matrix")
        gr.HTML(TEXT.title("Errors"))
        at["mistakes"] = gr.HTML(elem_id="finetune-mistakes")
        gr.HTML(TEXT.deeper())
    at["results"], at["picture"] = column, picture


def tries(view: TaskView) -> list[tuple[str, str]]:
    """(label, sample) of each of the TRIES; ("", "") of those that a task does not need."""
    return [*view.boxes, *[("", "")] * BOXES][:BOXES]


def wire_task(at: Layout, poolings: gr.HTML) -> None:
    """Another task: what it has no use for goes, the menu of data, the pickers and the boxes of "Try it" are its own.

    To the server all choices stay valid, also of events on their way.
    """
    task, data, columns = (at.controls[name] for name in ("task", "data", "columns"))
    _in_browser(
        [task.change],
        [task, data],
        [data],
        f"""(task, data) => {{
            const ours = ({in_script({kind: bundled(kind) for kind in VIEWS})})[task];
            const others = {in_script(ELSEWHERE)}; // a file and the Hub stay: their columns may be this task's
            const known = [...ours, ...others].some((choice) => choice[1] === data);
            return {{ __type__: "update", choices: [...ours, ...others], value: known ? data : ours[0][1] }};
        }}""",
    )
    # The columns of the task before go, unless they are brought along.
    carried = '() => { const { carried = "" } = insideBert; insideBert.carried = undefined; return carried; }'
    _in_browser([task.input], [], [columns], carried)
    shown = [at.controls[SETTINGS[name]] for name in SOMETIMES]
    _in_browser(
        [task.change],
        [task],
        [
            *(at.controls[name] for name in ("file", "test_file")),
            *shown,
            poolings,
            *(at.controls[name] for name in TRIES),
        ],
        f"(task) => ({in_script({kind: list(of_task(kind)) for kind in VIEWS})})[task]",
    )


def of_task(kind: str) -> Iterator[Update]:
    """The updates of `wire_task`: the pickers, the choices that not all tasks have, the poolings, the boxes."""
    endings = offered(READERS[kind].endings)  # what the dialogs offer
    yield {"__type__": "update", "label": READERS[kind].forms, "elem_classes": endings}
    yield {"__type__": "update", "elem_classes": endings}
    for name in SOMETIMES:
        yield {"__type__": "update", "visible": name not in IDLE.get(kind, ())}
    yield {"__type__": "update", "visible": kind == "sentence"}
    for label, sample in tries(VIEWS[kind]):
        yield {"__type__": "update", "label": label, "value": sample, "visible": bool(label)}


def wire_recipe(at: Layout) -> None:
    """Another recipe or task sets the choices; what is trained says which of its two are there, within the model."""
    task, preset, trains, top, rank = (at.controls[name] for name in ("task", "preset", "trains", "top", "rank"))
    settings = {preset: {kind: filled_in(preset, kind) for kind in VIEWS} for preset in PRESETS}
    _in_browser(
        [preset.input, task.input],
        [preset, task],
        [at.controls[SETTINGS[name]] for name in RECIPE[:-1]],
        f"(preset, task) => ({in_script(settings)})[preset][task]",
    )
    catalogue = at.page.services.store.catalogue
    depths = {key: min(spec.num_layers, MOST_LAYERS) for key, spec in catalogue.items()}
    # One update sets the whole slider: Gradio keeps only one if it is not on the page yet.
    _in_browser(
        [trains.change, at.page.model.change, at.page.settled.change],
        [at.page.model, trains, top],
        [top, rank],
        f"""(model, trains, value) => {{
            const maximum = ({in_script(depths)})[model] ?? {MOST_LAYERS};
            const now = (name) => ({{ __type__: "update", visible: trains === name }});
            return [{{ ...now("top"), maximum, value: Math.min(value, maximum) }}, now("lora")];
        }}""",
    )


def wire_hub(at: Layout, fetch: gr.Button) -> None:
    """The data set named in the Hub's box is fetched only after a press on "Fetch" or Enter."""
    hub, requested = at.controls["hub"], at.controls["hub_asked"]
    pressed = "(hub, asked) => (hub.trim() === asked ? `${asked} ` : hub.trim())"  # pressed again: tried again
    _in_browser([hub.submit, fetch.click], [hub, requested], [requested], pressed)
    changed = '(hub, asked) => (hub.trim() === asked.trim() ? asked : "")'
    _in_browser([hub.change], [hub, requested], [requested], changed)


def _in_browser(triggers: list[Any], inputs: list[Any], outputs: list[Any], script: str) -> None:
    gr.on(triggers, None, inputs, outputs, js=script, **IN_BROWSER)
