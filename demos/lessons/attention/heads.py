"""One head: all heads at a glance, a head found by what it looks at, opened in bertviz's views and as numbers."""

from __future__ import annotations

import html
from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention import QueriesKeys, queries_and_keys
from demos.bert.habits import Habits
from demos.bert.patterns import PATTERNS, pattern_scores
from demos.bert.run import Run
from demos.figures.attention import heatmap, told, weights_table
from demos.figures.bertviz import VIEWS, Held, frame_message
from demos.figures.bertviz import told as told_of_view
from demos.figures.code import attention_code
from demos.figures.heads import grid_message, habit_message, heads_table, pattern_table, run_key
from demos.figures.standalone import standalone_html, standalone_size
from demos.figures.takeaway import attention_json, file_name
from demos.page.choices import clamp, slider
from demos.page.folds import formula_fold, source_fold
from demos.page.frame import bertviz_frame, frame_value
from demos.page.grid import grid_value, head_grid, show_in_grid
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence, Services
from demos.page.takeaway import file_button, picture_buttons, sized, takeaway_row

GRID = "attention-grid"
OPENED = (0, 2)  # layer and head at first: in the bundled model the one that looks at the token before
POLL = 0.25  # seconds between two looks at how far the habit is
WAITING_LIMIT = 64
PAGE = "One HTML file"
TABLE_TOKENS = 64  # rows and columns; more is no table to read, and half a megabyte of it
HINTS = {
    "head": (
        "Hover over a token to see where it looks, or, on the right, what looks at it. Click a colour to switch a head "
        "on or off; double-click to see that head alone, here and in the heatmap."
    ),
    "model": "Every head of every layer. Click a small picture to open it, here and in the heatmap.",
    "neuron": (
        "Hover over a token to see where it looks; the + beside it opens its query and keys, number by number: "
        "blue is positive, orange negative."
    ),
}


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    habits = Habits()
    with gr.Row(elem_classes="one-head"):
        with gr.Column(elem_classes="one-pattern", min_width=330):
            pattern = gr.Radio(
                [("all heads", ""), *((one.title, one.name) for one in PATTERNS.values())],
                value="",
                label="Show me all heads, or the one that looks most at …",
                elem_id="attention-pattern",
            )
        with gr.Column(elem_classes="one-overview", min_width=330):
            grid = head_grid(
                "All heads: rows are layers, columns are heads",
                elem_id=GRID,
                look={"layer": OPENED[0], "head": OPENED[1]},
            )
            with takeaway_row("Take the overview:"):
                picture_buttons(f"#{GRID}", "bert-heads", page)
            source = gr.Radio(
                [("this sentence", "sentence"), (f"habit: {habits.sentences} sentences", "habit")],
                value="sentence",
                label="Scores over",
                elem_id="attention-habit",
            )
            reading = gr.HTML("", elem_classes="attention-caption")
        with gr.Column(elem_classes="one-opened", min_width=330):
            with gr.Row(elem_classes="one-controls"):
                view = gr.Radio(
                    [(view.title, view.name) for view in VIEWS.values()],
                    value="head",
                    label="View",
                    elem_id="attention-view",
                    min_width=330,
                )
                with gr.Row(elem_classes="one-place"):
                    layer, head = (
                        gr.Slider(
                            0,
                            max(getattr(spec, f"num_{what}s") for spec in services.store.catalogue.values()) - 1,
                            value=OPENED[number],
                            step=1,
                            label=f"{what.capitalize()} (from 0)",
                            elem_id=f"attention-{what}",
                            min_width=170,
                        )
                        for number, what in enumerate(("layer", "head"))
                    )
            with gr.Row(elem_classes="attention-views"):
                with gr.Column(elem_id="attention-frame"):
                    frame = bertviz_frame("bertviz: attention as lines between tokens", elem_id="attention-bertviz")
                    with takeaway_row("Take the lines:"):
                        for kind in ("png", "svg"):
                            gr.Button(kind.upper(), size="sm", elem_classes="save", min_width=60).click(
                                None,
                                js=f"() => {{ insideBert.attention.save('{kind}'); }}",
                                api_visibility="private",
                                show_progress="hidden",
                            )
                    caption = gr.HTML("", elem_classes="attention-caption")
                with gr.Column(elem_id="attention-heatmap"):
                    plot = gr.Plot(show_label=False)
                    said = gr.HTML("", elem_classes="attention-told")
                    with takeaway_row("Take the heatmap:"):
                        name = "bert-attention-layer{layer}-head{head}"
                        picture_buttons("#attention-heatmap", name, page, inputs={"layer": layer, "head": head})
                        file_button(page, "JSON", lambda *asked: numbers(services, *asked), [layer, head])
            with takeaway_row("Take this view:"):
                whole = file_button(page, PAGE, lambda *asked: alone_in_a_file(services, *asked), [view, layer, head])
    held, drawn_key, averages = (gr.Textbox("", visible="hidden") for _ in range(3))
    with gr.Accordion("The numbers", open=False, elem_id="attention-numbers"):
        table = gr.HTML("")
        patterns = gr.HTML("", elem_id="attention-patterns")
    formula_fold("attention")
    with gr.Accordion("The code", open=False, elem_id="attention-code"):
        program = gr.Code("", language="python", label="Prints this head's weights", lines=8)
    source_fold("attention")

    def show(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, False, *choices)

    def follow(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, True, *choices)

    def pick(sentence: Sentence, view: str, *choices: Any) -> list[Any]:
        lines = "head" if view == "model" else view  # the model view shows all heads; a picked one is to be seen alone
        return [*drawn(services, sentence, True, lines, *choices, alone=True), lines]

    def habit(_text: str, _pair: str, model: str, name: str, of: str) -> Iterator[list[Any]]:
        yield from habit_told(services, habits, model, name, of)

    inputs = [view, layer, head, held, drawn_key, pattern, source]
    outputs = [frame, held, layer, head, plot, said, caption, table, program, grid, drawn_key, patterns, whole]
    page.keep(view=view, layer=layer, head=head, pattern=pattern, habit=source)
    moved = [view.input, layer.input, head.input, source.input]
    page.draw(show, inputs, outputs, triggers=moved, show_progress="hidden")
    chosen = "[...insideBert.attention.chosen(values.slice(0, 7)), ...values.slice(7)]"
    for event, handler, script in (  # a layer and head were picked elsewhere: the sliders follow
        (frame.select, follow, chosen),
        (grid.select, pick, f"insideBert.grids['{GRID}'].fill(values, 4)"),
        (pattern.input, pick, f"insideBert.grids['{GRID}'].aim(values, 4, 8)"),
    ):
        page.on(
            [event],
            with_sentence(handler),
            [*page.sentence, *inputs],
            outputs if handler is follow else [*outputs, view],
            js=f"(...values) => {script}",
            trigger_mode="always_last",
            show_progress="hidden",
        )
    page.on(
        [page.settled.change, pattern.input, source.input],
        habit,
        [*page.sentence, pattern, source],
        [averages, reading, patterns],
        trigger_mode="always_last",
        show_progress="hidden",
        concurrency_id="habit",  # waiting takes no reader's place
        concurrency_limit=WAITING_LIMIT,
    )
    look = {"layer": layer, "head": head, "pattern": pattern, "source": source, "habits": averages}
    gr.on(
        [component.change for component in look.values()],
        None,
        list(look.values()),
        None,
        js=show_in_grid(GRID, *look),
        trigger_mode="multiple",
        show_progress="hidden",
        api_visibility="private",
    )


def drawn(
    services: Services,
    sentence: Sentence,
    follow: bool,
    view: str,
    layer: float,
    head: float,
    held: str,
    drawn_key: str = "",
    pattern: str = "",
    source: str = "sentence",
    *,
    alone: bool = False,
) -> list[Any]:
    """The part's thirteen outputs. A layer or head beyond this model's becomes its last one.

    `held` is what the frame has already, `drawn_key` what the grid shows. With `follow`, layer and head came from one
    of them and move the sliders; with `alone`, the head view switches the other heads off.
    """
    run, at, one = opened(services, sentence, layer, head)
    loaded = services.loaded(sentence.model)
    shape = VIEWS.get(view, VIEWS["head"])

    def vectors(index: int) -> QueriesKeys:
        return queries_and_keys(loaded, run, index)

    message, now_held = frame_message(run, shape, at, one, vectors, Held.read(held))
    message["alone"] = alone
    n = min(len(run.encoding), shape.limit)
    weights = run.attentions[at, one, :n, :n]
    few = weights[:TABLE_TOKENS, :TABLE_TOKENS]
    title = f"Attention weights of layer {at}, head {one}"
    if len(few) < len(run.encoding):
        title += f", the first {len(few)} of {len(run.encoding)} tokens"
    key = run_key(run)
    return [
        frame_value(message),
        now_held.say(),
        slider(layer, run.num_layers, move=follow),
        slider(head, run.num_heads, move=follow),
        heatmap(weights, run.encoding),
        told(run.attentions[at, one], run.encoding, at, one),
        "".join(f"<p>{html.escape(line)}</p>" for line in (HINTS[shape.name], " ".join(told_of_view(run, shape)))),
        weights_table(few, run.encoding, title),
        attention_code(loaded.spec, run.encoding, at, one),
        gr.skip() if key == drawn_key else grid_value(grid_message(run)),
        key,
        gr.skip() if source == "habit" else scores_table(pattern_scores(run.attentions, run.encoding), pattern),
        sized(PAGE, standalone_size(run, shape.name, at, one, vectors, loaded.spec.title)),
    ]


def habit_told(services: Services, habits: Habits, model: str, pattern: str, source: str) -> Iterator[list[Any]]:
    """Yields [averages for the grid, how far reading is, table]; reads the set where the habit is asked for."""
    if source != "habit":
        yield [gr.skip(), "", gr.skip()]
        return
    reading = habits.begin(services.loaded(model))
    while not reading.done():
        wait([reading], timeout=POLL)
        if not reading.done():
            count = habits.progress(services.loaded(model))
            yield [gr.skip(), f'<p role="status">Reading {count} of {habits.sentences} sentences…</p>', gr.skip()]
    habit = reading.result()
    yield [habit_message(habit), "", scores_table(habit.scores, pattern, f"mean over {habit.sentences} sentences")]


def numbers(services: Services, sentence: Sentence, layer: float, head: float) -> tuple[str, str]:
    """The file that the button JSON hands out: its name, and the head's weights."""
    run, at, one = opened(services, sentence, layer, head)
    name = file_name("bert-attention", f"layer{at}", f"head{one}", extension="json")
    return name, attention_json(run, services.loaded(sentence.model).spec.title, at, one)


def alone_in_a_file(services: Services, sentence: Sentence, view: str, layer: float, head: float) -> tuple[str, str]:
    """The file that shows bertviz's views of this run with no server: its name, and its text."""
    run, at, one = opened(services, sentence, layer, head)
    loaded = services.loaded(sentence.model)
    shape = VIEWS.get(view, VIEWS["head"]).name
    text = standalone_html(run, shape, at, one, lambda index: queries_and_keys(loaded, run, index), loaded.spec.title)
    return file_name("bert-attention", shape, "view", extension="html"), text


def opened(services: Services, sentence: Sentence, layer: float, head: float) -> tuple[Run, int, int]:
    """The run, and the layer and head to show: one beyond this model's becomes its last one."""
    run = services.run(sentence)
    return run, clamp(layer, run.num_layers), clamp(head, run.num_heads)


def scores_table(scores: dict[str, np.ndarray], pattern: str, of: str = "this sentence") -> str:
    """The chosen pattern by layer and head, or all patterns where none is chosen."""
    return pattern_table(scores[pattern], pattern, of) if pattern in scores else heads_table(scores, of)


PART = Part(
    slug="one",
    tab="One head",
    look=(
        "Pick a head, by its small picture or by what it looks at: it opens as lines and as a heatmap. Each line runs "
        "from a token on the left to one it takes from on the right; the stronger the line, the more it takes."
    ),
    build=build,
)
