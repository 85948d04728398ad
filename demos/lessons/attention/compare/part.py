"""Two at once: two sentences, two models, or before and after a fine-tune; both attentions and their difference."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.bert.model.run import Run
from demos.errors import UserError
from demos.figures.download_names import file_name
from demos.lessons.attention.compare.layout import AS_LEFT, PICKS, controls, head_choices, layer_choices, sides
from demos.page.bar import WAITING_LIMIT, use_model
from demos.page.folds import formula_fold
from demos.page.lesson import Page, Part, notice_html, with_sentence
from demos.page.services import Sentence, Services
from demos.widgets.comparison.figure import (
    compare_code,
    comparison_json,
    heading_html,
    heads_figure,
    largest_html,
    most_different,
    numbers_html,
    pictures,
    told_html,
)
from demos.widgets.comparison.sides import MODELS, SAME, SENTENCES, Asked, pair_of
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row

# What one drawing fills, in the order of its outputs.
FILLED = (
    "status", "wanted", "second", "other", "layer", "head", "layer_right", "head_right", "said",
    "left_name", "left", "right_name", "right", "difference",
    "overview", "heads", *PICKS, "picks", "largest", "numbers", "code",
)  # fmt: skip


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    parts = controls(services)
    parts |= sides(services)
    chosen = [parts[name] for name in ("mode", "model", "text")]
    menus = [parts[name] for name in ("layer", "head", "layer_right", "head_right")]
    with takeaway_row("Take the difference:"):
        picture_buttons(
            "#compare-difference", "bert-attention-difference-{layer}-{head}", page,
            inputs={"layer": parts["layer"], "head": parts["head"]},
        )  # fmt: skip
        asked = [page.trained, *chosen, *menus]
        file_button(page, "JSON", lambda *values: taken(services, *values), asked, elem_id="compare-json")
    with gr.Accordion("The numbers", open=False, elem_id="compare-numbers"):
        parts["numbers"] = gr.HTML()
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="compare-code"):
        parts["code"] = gr.Code(language="python", interactive=False, label="Prints the ten largest differences")
    for hidden in ("wanted", "arrived", "picks"):
        parts[hidden] = gr.Textbox("", visible="hidden")
    filled = [parts[name] for name in FILLED]

    def show(sentence: Sentence, run: str, *values: str) -> list[Any]:
        return drawn(services, sentence, run, *values)

    def fetch(wanted: str, in_use: str) -> Iterator[list[Any]]:  # a generator: page.on streams what it yields
        yield from fetched(services, wanted, in_use)

    page.draw(
        show,
        asked,
        filled,
        triggers=[
            parts["mode"].input,
            parts["model"].input,
            parts["text"].change,
            parts["arrived"].change,
            *[menu.input for menu in menus],
        ],
        show_progress="hidden",
    )
    for number, name in enumerate(PICKS):
        page.on(
            [parts[name].click],
            with_sentence(_opener(services, number)),
            [*page.sentence, page.trained, *chosen, parts["picks"]],
            filled,
            show_progress="hidden",
        )
    page.on(
        [parts["wanted"].change],
        fetch,
        [parts["wanted"], page.model],
        [parts["status"], parts["arrived"]],
        concurrency_id="load",
        concurrency_limit=WAITING_LIMIT,
        trigger_mode="multiple",
        show_progress="hidden",
    )
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    parts["copy"].click(None, [page.text], [parts["text"]], js="(text) => text", **private)
    page.keep(
        compare=parts["mode"],
        compare_model=parts["model"],
        compare_text=parts["text"],
        compare_layer=parts["layer"],
        compare_head=parts["head"],
        compare_layer_right=parts["layer_right"],
        compare_head_right=parts["head_right"],
    )


def drawn(services: Services, sentence: Sentence, *values: str, move: bool = False) -> list[Any]:
    """The part's outputs (FILLED). What can't be compared is told in one sentence, and the pictures stay.

    `values` are the fields of `Asked`. With `move`, the menus were not picked by hand and are sent along.
    """
    asked = Asked(*values)
    alone = asked.mode == SENTENCES and not sentence.text_pair.strip()
    shown = {"second": gr.update(visible=asked.mode == MODELS), "other": gr.update(visible=alone), "wanted": ""}
    try:
        if asked.waits(services):
            shown["wanted"] = asked.model  # `fetched` tells how far it is, and draws in the end
        else:
            shown |= _compared(services, sentence, asked, move)
    except UserError as error:
        shown["status"] = notice_html(str(error))
    return [shown.get(name, gr.skip()) for name in FILLED]


def _compared(services: Services, sentence: Sentence, asked: Asked, move: bool) -> dict[str, Any]:
    """Everything below the controls. Raises UserError where there are no two sides."""
    pair = pair_of(services, sentence, asked)
    found, left, right = pair.found, pair.left, pair.right
    one, other, difference = pictures(found)
    best = most_different(found.heads) if asked.mode != MODELS else []  # there one number is no one head
    shown: dict[str, Any] = {
        "status": f"<p>{html.escape(pair.note)}</p>" if pair.note else "",
        "said": told_html(found, left, right),
        "left": one,
        "left_name": heading_html("Left", left.title),
        "right": other,
        "right_name": heading_html("Right", right.title),
        "difference": difference,
        "overview": gr.update(visible=bool(best)),
        "largest": largest_html(found),
        "numbers": numbers_html(found, left, right),
        "code": compare_code(left, right, pair.specs, found),
    }
    if found.heads is not None and best:
        shown["heads"] = heads_figure(found.heads, left.which)
        shown["picks"] = ";".join(f"{layer},{head}" for layer, head, _ in best)
        for name, (layer, head, share) in zip(PICKS, best, strict=False):
            shown[name] = gr.update(value=f"layer {layer}, head {head}: {share:.0%}")
    return shown | _menus_for(left.run, right.run, asked, move)


def taken(services: Services, sentence: Sentence, *values: str) -> tuple[str, str]:
    """(file name, JSON text) of what is compared. Raises UserError where there are no two sides."""
    asked = Asked(*values)
    if asked.waits(services):
        raise UserError("The second model is not here yet.")
    pair = pair_of(services, sentence, asked)
    name = file_name("bert-attention-difference", pair.left.which.name, extension="json")
    return name, comparison_json(pair.found, pair.left, pair.right)


def _menus_for(left: Run, right: Run, asked: Asked, move: bool) -> dict[str, Any]:
    """The four menus for these two models; a value only where it must change."""
    offered = {
        "layer": (layer_choices(left.num_layers), asked.layer),
        "head": (head_choices(left.num_heads), asked.head),
        "layer_right": (AS_LEFT + layer_choices(right.num_layers), asked.layer_right),
        "head_right": (AS_LEFT + head_choices(right.num_heads), asked.head_right),
    }
    updates = {}
    for name, (choices, value) in offered.items():
        fits = any(value == one for _, one in choices)
        kept = value if fits else choices[-2][1]  # the last layer or head; behind it stands the mean
        updates[name] = gr.update(choices=choices, **({} if fits and not move else {"value": kept}))
    return updates


def _opener(services: Services, number: int) -> Any:
    """The handler of the button that opens the head which differs most, second most, third most."""

    def opened(sentence: Sentence, run: str, mode: str, model: str, text: str, picks: str) -> list[Any]:
        layer, head = picks.split(";")[number].split(",")
        return drawn(services, sentence, run, mode, model, text, layer, head, SAME, SAME, move=True)

    return opened


def fetched(services: Services, wanted: str, in_use: str) -> Iterator[list[Any]]:
    """[status, arrived] while the second model loads; `arrived` changes once it is there, and never where it can't be.

    Looking at a load that all who want it share, as the bar does.
    """
    if not wanted:
        yield [gr.skip(), gr.skip()]
        return
    for _, _, status in use_model(services, wanted, in_use):
        yield [status, gr.skip()]
    if services.store.ready(wanted):
        yield ["", f"{wanted} {time.monotonic_ns()}"]


PART = Part(
    tab="Two at once",
    look=(
        "Change one word, or the model, and see which heads notice: in the difference, blue is where the right side "
        "looks more, brown where it looks less. At first: a bank by a river, and one in a city."
    ),
    build=build,
    order=4,
)
