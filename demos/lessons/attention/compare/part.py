"""Compare two: two sentences, two models, or before and after a fine-tune; both attentions and their difference."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.model.catalogue import BUNDLED, ModelSpec
from demos.bert.model.run import Run
from demos.counting import counted, head_name, layer_name
from demos.errors import UserError
from demos.figures.download_names import file_name
from demos.page.bar import WAITING_LIMIT, use_model
from demos.page.folds import all_controls, code_fold, fold, formula_fold
from demos.page.guards import notice_html
from demos.page.layer_head_choices import measure_choice
from demos.page.lesson import Page, Part, by_component, with_sentence
from demos.page.services import Sentence, Services
from demos.templates import templates
from demos.widgets.comparison.figure import (
    compare_code,
    comparison_json,
    heads_figure,
    largest_html,
    most_different,
    numbers_html,
    pictures,
    summary_html,
)
from demos.widgets.comparison.sides import ALL, MEAN, MODELS, SAME, SENTENCES, TUNED, ComparisonForm, pair_of
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row

TEXT = templates(__file__)
MODES = [("Two sentences", SENTENCES), ("Two models", MODELS), ("Before and after fine-tuning", TUNED)]
OTHER = "The unflappable banker counted her money in the bank of the city."  # the bar's own, two words changed
# In the order of `ComparisonForm`.
CHOICES = ("mode", "model", "text", "layer", "head", "layer_right", "head_right", "measure")
PICKS = ("first", "next", "third")  # the heads that differ most


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    status = gr.HTML(elem_id="compare-status")
    parts = sides(services) | controls(page) | {"status": status}
    with takeaway_row("Download the difference:"):
        name, place = (
            "bert-attention-difference-layer-{layer+1}-head-{head+1}",
            {"layer": parts["layer"], "head": parts["head"]},
        )
        picture_buttons("#compare-difference", name, page, inputs=place)
        form = [page.trained, *(parts[name] for name in CHOICES)]
        file_button(page, "JSON", partial(taken, services), form, elem_id="compare-json")
    with fold(__file__, "numbers", "The numbers"):
        parts["numbers"] = gr.HTML()
    formula_fold(__file__)
    parts["code"] = code_fold(__file__, "Prints the ten largest differences")
    parts |= {name: gr.Textbox("", visible="hidden") for name in ("wanted", "arrived", "picks")}
    filled = [parts[name] for name in parts if name not in ("mode", "model", "text", "copy", "arrived", "measure")]
    page.keep(compare=parts["mode"], **{f"compare_{name}": parts[name] for name in CHOICES[1:]})

    page.draw(
        by_component(parts, partial(drawn, services)),
        form,
        filled,
        triggers=[
            *(parts[name].change for name in ("text", "arrived")),
            *(parts[name].input for name in CHOICES if name != "text"),
        ],
        show_progress="hidden",
    )
    for number, name in enumerate(PICKS):
        page.on(
            [parts[name].click],
            with_sentence(by_component(parts, partial(opened, services, number))),
            [*page.sentence, page.trained, *(parts[name] for name in CHOICES[:3]), parts["measure"], parts["picks"]],
            filled,
            show_progress="hidden",
        )
    page.on(
        [parts["wanted"].change],
        by_component(parts, partial(fetched, services)),
        [parts["wanted"], page.model],
        [parts["status"], parts["arrived"]],
        concurrency_id="load",
        concurrency_limit=WAITING_LIMIT,
        trigger_mode="multiple",
        show_progress="hidden",
    )
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    parts["copy"].click(None, [page.text], [parts["text"]], js="(text) => text", **private)


def controls(page: Page) -> dict[str, Any]:
    """The controls; folded, those that are seldom moved: the measure, and another head on the right."""
    catalogue, default = page.services.store.catalogue, page.services.default_model
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="compare-controls"):
        parts["mode"] = gr.Radio(
            MODES, value=SENTENCES, label="Compare", elem_id="compare-mode", scale=3, min_width=320
        )
        with gr.Column(visible=False, scale=2, min_width=240) as parts["second"]:
            parts["model"] = gr.Dropdown(
                [("choose a model…", ""), *[(spec.title, key) for key, spec in catalogue.items()]],
                value="" if default == BUNDLED else BUNDLED,
                label="Second model (right)",
                filterable=False,
                elem_id="compare-model",
            )
        with gr.Column(scale=4, min_width=320) as parts["other"]:
            parts["text"] = gr.Textbox(
                OTHER, label="Other sentence (right)", lines=1, max_lines=4, elem_id="compare-text"
            )
    with all_controls(page, __file__):
        parts["measure"] = measure_choice("its share of the row", "compare-measure")
        parts["copy"] = gr.Button("Copy the first sentence to the right", size="sm", elem_id="compare-copy")
        with gr.Row(elem_classes="compare-menus"):
            parts |= _menus(catalogue.values(), "right", SAME, SAME)
    return parts


def layer_choices(count: int, side: str = "") -> list[tuple[str, str]]:
    """The layers of a model that has `count`, and all of them; on the side "_right" also the left one's."""
    return [*_as_left(side), *[(layer_name(layer), str(layer)) for layer in range(count)], ("mean of all layers", ALL)]


def head_choices(count: int, side: str = "") -> list[tuple[str, str]]:
    """The heads of a layer that has `count`, and all of them; on the side "_right" also the left one's."""
    heads = [(f"head {counted(head)}", str(head)) for head in range(count)]
    return [*_as_left(side), *heads, ("mean of all heads", MEAN)]


def _as_left(side: str) -> list[tuple[str, str]]:
    return [("same as left", SAME)] if side else []


def _menus(specs: Collection[ModelSpec], side: str, layer: str, head: str) -> dict[str, gr.Dropdown]:
    """A side's menus of layers and heads, for the largest of the models, with what they show first."""
    suffix = "_right" if side == "right" else ""
    layers = layer_choices(max(spec.num_layers for spec in specs), suffix)
    heads = head_choices(max(spec.num_heads for spec in specs), suffix)
    return {
        name + suffix: gr.Dropdown(
            choices, value=value, label=f"{side.capitalize()}: {name}", show_label=bool(suffix), filterable=False,
            min_width=140, elem_id=f"compare-{name}{suffix.replace('_', '-')}",
        )
        for name, choices, value in (("layer", layers, layer), ("head", heads, head))
    }  # fmt: skip


def sides(services: Services) -> dict[str, Any]:
    """Left and right, the head that both show, their difference, and the heads: side by side where there is room."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_id="compare-pictures"):
        for side in ("left", "right"):
            with gr.Column(elem_id=f"compare-{side}", elem_classes="attention-heatmap", min_width=0):
                parts[f"{side}_name"] = gr.HTML(elem_classes="compare-name")
                parts[side] = gr.Plot(
                    label=f"Attention, {side}", show_label=False, elem_classes=["compare-plot", "picture"]
                )
                if side == "left":
                    with gr.Row(elem_classes="compare-menus"):
                        parts |= _menus(services.store.catalogue.values(), side, "0", "4")
        with gr.Column(elem_id="compare-difference", elem_classes="attention-heatmap", min_width=0):
            gr.HTML(TEXT.difference(), elem_classes="compare-name")
            parts["difference"] = gr.Plot(
                label="Attention, right minus left", show_label=False, elem_classes=["compare-plot", "picture"]
            )
            parts["said"] = gr.HTML(elem_classes="compare-said")
        with gr.Column(elem_id="compare-more", min_width=0):
            heatmap: dict[str, Any] = {"elem_classes": "attention-heatmap", "min_width": 0, "visible": False}
            with gr.Column(elem_id="compare-heads", **heatmap) as parts["overview"]:
                gr.HTML(TEXT.which_heads(), elem_classes="compare-name")
                with gr.Row(elem_classes="compare-picks"):
                    for name in PICKS:
                        parts[name] = gr.Button("…", size="sm", min_width=100, elem_classes="compare-pick")
                parts["heads"] = gr.Plot(
                    label="How much each head differs", show_label=False, elem_classes="compare-plot"
                )
            parts["largest"] = gr.HTML(elem_id="compare-largest")
    return parts


def drawn(services: Services, sentence: Sentence, *values: str, move: bool = False) -> dict[str, Any]:
    """The new values, by the names of the components. What can't be compared is told, and the pictures stay.

    `values` are the fields of `ComparisonForm`. With `move`, the menus were not picked by hand and are sent along.
    """
    form = ComparisonForm(*values)
    alone = form.mode == SENTENCES and not sentence.text_pair.strip()
    shown = {"second": gr.update(visible=form.mode == MODELS), "other": gr.update(visible=alone), "wanted": ""}
    try:
        if form.waits(services):
            return shown | {"wanted": form.model}  # `fetched` tells how far it is, and draws in the end
        return shown | _compared(services, sentence, form, move)
    except UserError as error:
        return shown | {"status": notice_html(str(error))}


def opened(
    services: Services,
    number: int,
    sentence: Sentence,
    run: str,
    mode: str,
    model: str,
    text: str,
    measure: str,
    picks: str,
) -> dict[str, Any]:
    """The same for one of the heads that differ most, the `number`th of `picks`: "layer,head" each, with semicolons."""
    try:
        layer, head = (picks or "").split(";")[number].split(",")
    except (IndexError, ValueError):
        raise UserError("This head is no longer among those that differ most; choose another one.") from None
    return drawn(services, sentence, run, mode, model, text, layer, head, SAME, SAME, measure, move=True)


def _compared(services: Services, sentence: Sentence, form: ComparisonForm, move: bool) -> dict[str, Any]:
    """Everything below the controls. Raises UserError where there are no two sides."""
    pair = pair_of(services, sentence, form)
    comparison, left, right = pair.comparison, pair.left, pair.right
    figures = pictures(comparison)
    picks = most_different(comparison.heads) if form.mode != MODELS else []  # there one number is no one head
    shown: dict[str, Any] = {
        "status": TEXT.note(pair.note),
        "said": summary_html(comparison, left, right),
        "left_name": TEXT.heading("Left", left.title),
        "right_name": TEXT.heading("Right", right.title),
        **dict(zip(("left", "right", "difference"), figures, strict=True)),
        "overview": gr.update(visible=bool(picks)),
        "largest": largest_html(comparison),
        "numbers": lambda: numbers_html(comparison, left, right),
        "code": lambda: compare_code(left, right, pair.specs, comparison),
    }
    if comparison.heads is not None and picks:
        shown["heads"] = heads_figure(comparison.heads, left.which)
        shown["picks"] = ";".join(f"{layer},{head}" for layer, head, _ in picks)
        for name, (layer, head, share) in zip(PICKS, picks, strict=False):
            shown[name] = gr.update(value=f"{head_name(layer, head)}: {share:.0%}")
    return shown | _menus_for(left.run, right.run, form, move)


def taken(services: Services, sentence: Sentence, *values: str) -> tuple[str, str]:
    """(file name, JSON text) of what is compared. Raises UserError where there are no two sides."""
    form = ComparisonForm(*values)
    if form.waits(services):
        raise UserError("The second model is still being downloaded.")
    pair = pair_of(services, sentence, form)
    name = file_name("bert-attention-difference", pair.left.which.name, extension="json")
    return name, comparison_json(pair.comparison, pair.left, pair.right)


def _menus_for(left: Run, right: Run, form: ComparisonForm, move: bool) -> dict[str, Any]:
    """The four menus for these two models; a value only where it must change."""
    updates = {}
    for suffix, run in (("", left), ("_right", right)):
        for name, choices in (
            ("layer", layer_choices(run.num_layers, suffix)),
            ("head", head_choices(run.num_heads, suffix)),
        ):
            value = getattr(form, name + suffix)
            fits = value in [key for _, key in choices]
            value = value if fits else choices[-2][1]  # the last layer or head; the mean comes after it
            updates[name + suffix] = gr.update(choices=choices, **({} if fits and not move else {"value": value}))
    return updates


def fetched(services: Services, wanted: str, in_use: str) -> Iterator[dict[str, str]]:
    """The sentence to show while the second model loads; `arrived` changes once it is there, and never where it can't
    be.

    Looking at a load that all who want it share, as the bar does.
    """
    if not wanted:
        yield {}
        return
    for _, _, status in use_model(services, wanted, in_use):
        yield {"status": status}
    if services.store.ready(wanted):
        yield {"status": "", "arrived": f"{wanted} {time.monotonic_ns()}"}


PART = Part(
    tab="Compare two",
    look=(
        "Change one word, or the model, and see how the weights of a head change. In the difference, blue marks a "
        "larger weight on the right, orange a larger one on the left. The example compares a bank by a river with a "
        "bank in a city."
    ),
    build=build,
    order=4,
)
