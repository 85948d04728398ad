"""Two at once: two sentences, two models, or before and after a fine-tune; both attentions and their difference."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.model.run import Run
from demos.errors import UserError
from demos.figures.download_names import file_name
from demos.lessons.attention.compare.layout import (
    CHOICES,
    PICKS,
    TEXT,
    controls,
    head_choices,
    layer_choices,
    sides,
)
from demos.page.bar import WAITING_LIMIT, use_model
from demos.page.folds import code_fold, fold, formula_fold
from demos.page.lesson import Page, Part, by_component, notice_html, with_sentence
from demos.page.services import Sentence, Services
from demos.widgets.comparison.figure import (
    compare_code,
    comparison_json,
    heads_figure,
    largest_html,
    most_different,
    numbers_html,
    pictures,
    told_html,
)
from demos.widgets.comparison.sides import MODELS, SAME, SENTENCES, Asked, pair_of
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    parts = controls(services) | sides(services)
    with takeaway_row("Take the difference:"):
        name, place = "bert-attention-difference-{layer}-{head}", {"layer": parts["layer"], "head": parts["head"]}
        picture_buttons("#compare-difference", name, page, inputs=place)
        form = [page.trained, *(parts[name] for name in CHOICES)]
        file_button(page, "JSON", partial(taken, services), form, elem_id="compare-json")
    with fold(__file__, "numbers", "The numbers"):
        parts["numbers"] = gr.HTML()
    formula_fold(__file__)
    parts["code"] = code_fold(__file__, "Prints the ten largest differences")
    parts |= {name: gr.Textbox("", visible="hidden") for name in ("wanted", "arrived", "picks")}
    filled = [parts[name] for name in parts if name not in ("mode", "model", "text", "copy", "arrived")]
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
            [*page.sentence, page.trained, *(parts[name] for name in CHOICES[:3]), parts["picks"]],
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


def drawn(services: Services, sentence: Sentence, *values: str, move: bool = False) -> dict[str, Any]:
    """What changes, by the names of the components. What can't be compared is told, and the pictures stay.

    `values` are the fields of `Asked`. With `move`, the menus were not picked by hand and are sent along.
    """
    form = Asked(*values)
    alone = form.mode == SENTENCES and not sentence.text_pair.strip()
    shown = {"second": gr.update(visible=form.mode == MODELS), "other": gr.update(visible=alone), "wanted": ""}
    try:
        if form.waits(services):
            return shown | {"wanted": form.model}  # `fetched` tells how far it is, and draws in the end
        return shown | _compared(services, sentence, form, move)
    except UserError as error:
        return shown | {"status": notice_html(str(error))}


def opened(
    services: Services, number: int, sentence: Sentence, run: str, mode: str, model: str, text: str, picks: str
) -> dict[str, Any]:
    """The same for one of the heads that differ most, the `number`th of `picks`: "layer,head" each, with semicolons."""
    layer, head = picks.split(";")[number].split(",")
    return drawn(services, sentence, run, mode, model, text, layer, head, SAME, SAME, move=True)


def _compared(services: Services, sentence: Sentence, form: Asked, move: bool) -> dict[str, Any]:
    """Everything below the controls. Raises UserError where there are no two sides."""
    pair = pair_of(services, sentence, form)
    comparison, left, right = pair.found, pair.left, pair.right
    figures = pictures(comparison)
    picks = most_different(comparison.heads) if form.mode != MODELS else []  # there one number is no one head
    shown: dict[str, Any] = {
        "status": TEXT.note(pair.note),
        "said": told_html(comparison, left, right),
        "left_name": TEXT.heading("Left", left.title),
        "right_name": TEXT.heading("Right", right.title),
        **dict(zip(("left", "right", "difference"), figures, strict=True)),
        "overview": gr.update(visible=bool(picks)),
        "largest": largest_html(comparison),
        "numbers": numbers_html(comparison, left, right),
        "code": compare_code(left, right, pair.specs, comparison),
    }
    if comparison.heads is not None and picks:
        shown["heads"] = heads_figure(comparison.heads, left.which)
        shown["picks"] = ";".join(f"{layer},{head}" for layer, head, _ in picks)
        for name, (layer, head, share) in zip(PICKS, picks, strict=False):
            shown[name] = gr.update(value=f"layer {layer}, head {head}: {share:.0%}")
    return shown | _menus_for(left.run, right.run, form, move)


def taken(services: Services, sentence: Sentence, *values: str) -> tuple[str, str]:
    """(file name, JSON text) of what is compared. Raises UserError where there are no two sides."""
    form = Asked(*values)
    if form.waits(services):
        raise UserError("The second model is not here yet.")
    pair = pair_of(services, sentence, form)
    name = file_name("bert-attention-difference", pair.left.which.name, extension="json")
    return name, comparison_json(pair.found, pair.left, pair.right)


def _menus_for(left: Run, right: Run, form: Asked, move: bool) -> dict[str, Any]:
    """The four menus for these two models; a value only where it must change."""
    updates = {}
    for suffix, run in (("", left), ("_right", right)):
        for name, choices in (
            ("layer", layer_choices(run.num_layers, suffix)),
            ("head", head_choices(run.num_heads, suffix)),
        ):
            value = getattr(form, name + suffix)
            fits = value in [key for _, key in choices]
            value = value if fits else choices[-2][1]  # the last layer or head; behind it stands the mean
            updates[name + suffix] = gr.update(choices=choices, **({} if fits and not move else {"value": value}))
    return updates


def fetched(services: Services, wanted: str, in_use: str) -> Iterator[dict[str, str]]:
    """What to say while the second model loads; `arrived` changes once it is there, and never where it can't be.

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
    tab="Two at once",
    look=(
        "Change one word, or the model, and see which heads notice: in the difference, blue is where the right side "
        "looks more, brown where it looks less. At first: a bank by a river, and one in a city."
    ),
    build=build,
    order=4,
)
