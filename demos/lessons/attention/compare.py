"""Two at once: two sentences, two models, or before and after a fine-tune; both attentions and their difference."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.bert.catalogue import BUNDLED
from demos.bert.run import Run
from demos.errors import UserError
from demos.figures.compare import (
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
from demos.figures.takeaway import file_name
from demos.page.bar import WAITING_LIMIT, use_model
from demos.page.folds import formula_fold
from demos.page.lesson import Page, Part, notice_html, with_sentence
from demos.page.services import Sentence, Services
from demos.page.sides import ALL, MEAN, MODELS, SAME, SENTENCES, TUNED, Asked, pair_of
from demos.page.takeaway import file_button, picture_buttons, takeaway_row

MODES = [
    ("Two sentences", SENTENCES),
    ("Two models", MODELS),
    ("Before and after my fine-tune", TUNED),
]
OTHER = "The unflappable banker counted her money in the bank of the city."  # the bar's own, two words changed
AS_LEFT = [("as on the left", SAME)]
DIFFERENCE = "<h3>Difference: right − left</h3>"
PICKS = ("first", "next", "third")  # the heads that differ most
HEADS_NOTICED = "<h3>Which heads noticed?</h3><p>How much of its attention each head has moved. Open one:</p>"
# What one drawing fills, in the order of its outputs.
FILLED = (
    "status", "wanted", "second", "other", "layer", "head", "layer_right", "head_right", "said",
    "left_name", "left", "right_name", "right", "difference",
    "overview", "heads", *PICKS, "picks", "largest", "numbers", "code",
)  # fmt: skip


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    parts = _controls(services)
    parts |= _pictures(services)
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
    formula_fold("attention-compare")
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
    page.on([parts["copy"].click], lambda text: text, [page.text], [parts["text"]], show_progress="hidden")
    page.keep(
        compare=parts["mode"],
        compare_model=parts["model"],
        compare_text=parts["text"],
        compare_layer=parts["layer"],
        compare_head=parts["head"],
        compare_layer_right=parts["layer_right"],
        compare_head_right=parts["head_right"],
    )


def _controls(services: Services) -> dict[str, Any]:
    """What to compare."""
    catalogue = services.store.catalogue
    with gr.Row(elem_classes="compare-controls"):
        mode = gr.Radio(MODES, value=SENTENCES, label="Compare", elem_id="compare-mode", scale=3, min_width=320)
        with gr.Column(visible=False, scale=2, min_width=240) as second:
            model = gr.Dropdown(
                [("choose one…", ""), *[(spec.title, key) for key, spec in catalogue.items()]],
                value="" if services.default_model == BUNDLED else BUNDLED,
                label="Second model (right)",
                filterable=False,
                elem_id="compare-model",
            )
        with gr.Column(scale=4, min_width=320) as other, gr.Row(elem_classes="compare-other"):
            text = gr.Textbox(
                OTHER,
                label="Other sentence (right)",
                lines=1,
                max_lines=4,
                scale=5,
                min_width=240,
                elem_id="compare-text",
            )
            copy = gr.Button("Copy from the bar", size="sm", scale=0, min_width=150, elem_id="compare-copy")
    status = gr.HTML(elem_id="compare-status")
    return {
        "mode": mode,
        "second": second,
        "model": model,
        "other": other,
        "text": text,
        "copy": copy,
        "status": status,
    }


def _menu(label: str, choices: list[tuple[str, str]], value: str, elem_id: str) -> gr.Dropdown:
    return gr.Dropdown(
        choices, value=value, label=label, show_label=False, filterable=False, elem_id=elem_id, min_width=140
    )


def layer_choices(count: int) -> list[tuple[str, str]]:
    """The layers of a model that has `count`, and all of them."""
    return [*[(f"layer {layer}", str(layer)) for layer in range(count)], ("mean of all layers", ALL)]


def head_choices(count: int) -> list[tuple[str, str]]:
    """The heads of a layer that has `count`, and all of them."""
    return [*[(f"head {head}", str(head)) for head in range(count)], ("mean of its heads", MEAN)]


def _pictures(services: Services) -> dict[str, Any]:
    """Left and right, each with its menus, their difference, and the heads: side by side where there is room."""
    layers = layer_choices(max(spec.num_layers for spec in services.store.catalogue.values()))
    heads = head_choices(max(spec.num_heads for spec in services.store.catalogue.values()))
    parts: dict[str, Any] = {}
    with gr.Row(elem_id="compare-pictures"):
        for side in ("left", "right"):
            with gr.Column(elem_id=f"compare-{side}", elem_classes="attention-heatmap", min_width=0):
                parts[f"{side}_name"] = gr.HTML(elem_classes="compare-name")
                with gr.Row(elem_classes="compare-menus"):
                    if side == "left":
                        parts["layer"] = _menu("Left: layer", layers, "0", "compare-layer")
                        parts["head"] = _menu("Left: head", heads, "4", "compare-head")
                    else:
                        parts["layer_right"] = _menu("Right: layer", AS_LEFT + layers, SAME, "compare-layer-right")
                        parts["head_right"] = _menu("Right: head", AS_LEFT + heads, SAME, "compare-head-right")
                parts[side] = gr.Plot(show_label=False, elem_classes="compare-plot")
        with gr.Column(elem_id="compare-difference", elem_classes="attention-heatmap", min_width=0):
            gr.HTML(DIFFERENCE, elem_classes="compare-name")
            parts["said"] = gr.HTML(elem_classes="compare-said")
            parts["difference"] = gr.Plot(show_label=False, elem_classes="compare-plot")
        with gr.Column(elem_id="compare-more", min_width=0):
            with gr.Column(
                elem_id="compare-heads", elem_classes="attention-heatmap", min_width=0, visible=False
            ) as overview:
                gr.HTML(HEADS_NOTICED, elem_classes="compare-name")
                with gr.Row(elem_classes="compare-picks"):
                    for name in PICKS:
                        parts[name] = gr.Button("…", size="sm", min_width=100, elem_classes="compare-pick")
                parts["heads"] = gr.Plot(show_label=False, elem_classes="compare-plot")
            parts["largest"] = gr.HTML(elem_id="compare-largest")
    return parts | {"overview": overview}


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
    best = most_different(found.heads)
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
    slug="compare",
    tab="Two at once",
    look=(
        "Change one word, or the model, and see which heads notice: in the difference, blue is where the right side "
        "looks more, brown where it looks less. At first: what bank looks at by a river and in a city."
    ),
    build=build,
)
