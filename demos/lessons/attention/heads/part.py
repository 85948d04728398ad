"""One head: all heads at a glance, a head found by what it looks at, opened in bertviz's views and as numbers."""

from __future__ import annotations

import html
from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.contributions import value_lengths
from demos.bert.attention.head_profiles import Habits
from demos.bert.attention.patterns import pattern_scores
from demos.bert.attention.queries_keys import QueriesKeys, queries_and_keys
from demos.figures.program import attention_code
from demos.lessons.attention.heads.figure import heatmap, told, weights_table
from demos.lessons.attention.heads.figure_standalone import standalone_size
from demos.lessons.attention.heads.layout import GRID, PAGE, layout, opened
from demos.page.choices import slider
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence, Services
from demos.widgets.bertviz.messages import VIEWS, Held, frame_message, heads_on, lines_said
from demos.widgets.bertviz.messages import told as told_of_view
from demos.widgets.bertviz.view import frame_value
from demos.widgets.head_grid.figure import grid_message, habit_message, heads_table, pattern_table, run_key
from demos.widgets.head_grid.first_head import head_to_open
from demos.widgets.head_grid.head_grid import grid_value, show_in_grid
from demos.widgets.takeaway.takeaway import sized

POLL = 0.25  # seconds between two looks at how far the habit is
WAITING_LIMIT = 64
TABLE_TOKENS = 64  # rows and columns; more is no table to read, and half a megabyte of it
# What a drawing of one head asks for, after the sentence, and what it fills.
ASKED = ("view", "layer", "head", "held", "key", "pattern", "source", "lines")
FILLED = (
    "frame", "held", "layer", "head", "plot", "said", "caption", "table", "program", "grid", "key", "patterns", "whole",
    "lines",
)  # fmt: skip
HINTS = {
    "head": (
        "Hover over a token to see where it looks, or, on the right, what looks at it. Click a colour to add another "
        "head's lines or to take them away; double-click to choose that head, here and in the heatmap."
    ),
    "model": "Every head of every layer. Click a small picture to open it, here and in the heatmap.",
    "neuron": (
        "Hover over a token to see where it looks; the + beside it opens its query and keys, number by number: "
        "blue is positive, orange negative."
    ),
}


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    habits = Habits()
    parts = layout(page, habits)
    parts |= {name: gr.Textbox("", visible="hidden") for name in ("held", "key", "averages")}
    with gr.Accordion("The numbers", open=False, elem_id="attention-numbers"):
        parts["table"] = gr.HTML("")
        parts["patterns"] = gr.HTML("", elem_id="attention-patterns")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="attention-code"):
        parts["program"] = gr.Code("", language="python", label="Prints this head's weights", lines=8)
    source_fold(__file__)
    page.keep(**{name: parts[name] for name in ("view", "layer", "head", "pattern", "lines")}, habit=parts["source"])
    _wire_heads(page, parts)
    _wire_habits(page, parts, habits)


def _wire_heads(page: Page, parts: dict[str, Any]) -> None:
    """Everything about one head is drawn anew when it, the view or the sentence changes, wherever it was picked."""
    services = page.services
    inputs = [parts[name] for name in ASKED]
    outputs = [parts[name] for name in FILLED]
    view, grid = parts["view"], parts["grid"]

    def show(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, False, *choices)

    def follow(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, True, *choices)

    def pick(sentence: Sentence, view: str, *choices: Any) -> list[Any]:
        lines = "head" if view == "model" else view  # the model view shows all heads; a picked one is to be seen alone
        return [*drawn(services, sentence, True, lines, *choices, alone=True), lines]

    moved = [parts[name].input for name in ("view", "layer", "head", "source")]
    page.draw(show, inputs, outputs, triggers=moved, show_progress="hidden")
    chosen = "insideBert.attention.chosen(values)"
    for event, handler, script in (  # a layer and head were picked elsewhere: the sliders follow
        (parts["frame"].select, follow, chosen),
        (grid.select, pick, f"insideBert.grids['{GRID}'].fill(values, 4)"),
        (parts["pattern"].input, pick, f"insideBert.grids['{GRID}'].aim(values, 4, 8)"),
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
    private: dict[str, Any] = {"trigger_mode": "multiple", "show_progress": "hidden", "api_visibility": "private"}
    parts["frame"].input(None, None, [parts["lines"]], js="() => insideBert.attention.lines()", **private)
    gr.on(  # by whatever they were chosen: in the frame they are on at once
        [parts["head"].change, parts["lines"].change],
        None,
        [parts["head"], parts["lines"]],
        None,
        js="(head, lines) => { insideBert.attention?.show(head, lines); }",
        **private,
    )


def _wire_habits(page: Page, parts: dict[str, Any], habits: Habits) -> None:
    """Habits are read where they are asked for; the grid hears of them, and of the head that is open."""
    services = page.services
    pattern, source = parts["pattern"], parts["source"]

    def habit(_text: str, _pair: str, model: str, name: str, of: str) -> Iterator[list[Any]]:
        yield from habit_told(services, habits, model, name, of)

    page.on(
        [page.settled.change, pattern.input, source.input],
        habit,
        [*page.sentence, pattern, source],
        [parts["averages"], parts["reading"], parts["patterns"]],
        trigger_mode="always_last",
        show_progress="hidden",
        concurrency_id="habit",  # waiting takes no reader's place
        concurrency_limit=WAITING_LIMIT,
    )
    look = {name: parts[name] for name in ("layer", "head", "pattern", "source")} | {"habits": parts["averages"]}
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
    lines: str = "",
    *,
    alone: bool = False,
) -> list[Any]:
    """The part's fourteen outputs. A layer or head beyond this model's becomes its last one.

    `held` is what the frame has already, `drawn_key` what the grid shows. With `follow`, layer and head came from one
    of them and move the sliders. The head view shows the heads that `lines` names (`heads_on`); with `alone`, one.
    """
    asked, (layer, head) = (layer, head), head_to_open(services, sentence.model, layer, head, drawn_key)
    follow = follow or (layer, head) != asked
    run, at, one = opened(services, sentence, layer, head)
    loaded = services.loaded(sentence.model)
    shape = VIEWS.get(view, VIEWS["head"])

    def vectors(index: int) -> QueriesKeys:
        return queries_and_keys(loaded, run, index)

    message, now_held = frame_message(run, shape, at, one, vectors, Held.read(held))
    message["heads"] = heads_on("" if alone else lines, one, run.num_heads)
    lines = lines_said(message["heads"], one)
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
        told(run.attentions[at, one], run.encoding, at, one, value_lengths(loaded, run, at)[one]),
        "".join(f"<p>{html.escape(line)}</p>" for line in (HINTS[shape.name], " ".join(told_of_view(run, shape)))),
        weights_table(few, run.encoding, title),
        attention_code(loaded.spec, run.encoding, at, one),
        gr.skip() if key == drawn_key else grid_value(grid_message(run)),
        key,
        gr.skip() if source == "habit" else scores_table(pattern_scores(run.attentions, run.encoding), pattern),
        sized(PAGE, standalone_size(run, shape.name, at, one, vectors, loaded.spec.title, lines)),
        lines,
    ]


def habit_told(services: Services, habits: Habits, model: str, pattern: str, source: str) -> Iterator[list[Any]]:
    """Yields [averages for the grid, how far reading is, table]; reads the set where the habit is asked for."""
    if source != "habit":
        yield [gr.skip(), "", gr.skip()]
        return
    loaded = services.loaded(model)
    reading = habits.begin(loaded)
    while not reading.done():
        wait([reading], timeout=POLL)
        if not reading.done():
            count = habits.progress(loaded)
            yield [gr.skip(), f'<p role="status">Reading {count} of {habits.sentences} sentences…</p>', ""]
    habit = reading.result()
    table = scores_table(habit.scores, pattern, f"mean over {habit.sentences} sentences")
    yield [habit_message(habit, loaded.spec.key), "", table]


def scores_table(scores: dict[str, np.ndarray], pattern: str, of: str = "this sentence") -> str:
    """The chosen pattern by layer and head, or all patterns where none is chosen."""
    return pattern_table(scores[pattern], pattern, of) if pattern in scores else heads_table(scores, of)


PART = Part(
    tab="One head",
    look=(
        "Pick a head by its small picture, or by what it looks at. Each line runs from a token on the left to a token "
        "on the right; the stronger the line, the larger that token's share of the mix."
    ),
    build=build,
    order=1,
    former="one",
)
