"""Compare two: two sentences, two models, or before and after a fine-tune; both attentions and their difference."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.comparison import Which, compare
from demos.bert.attention.contributions import Measured
from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.model.run import Run
from demos.counting import counted, head_name, layer_name
from demos.errors import UserError
from demos.figures.download_names import file_name
from demos.page.bar import WAITING_LIMIT, use_model
from demos.page.guards import notice_html
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import (
    CUT,
    Control,
    Layout,
    On,
    Shown,
    View,
    choice,
    drawn,
    limit,
    measure,
    options,
    unlinked,
    words,
)
from demos.templates import templates
from demos.training.service.stored_runs import OWN
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
LEFT, RIGHT = ("compare_layer", "compare_head"), ("compare_layer_right", "compare_head_right")
OWN_BESIDE = f"(model, mode) => model.startsWith('{OWN}') && mode === '{SENTENCES}' ? '{TUNED}' : mode"
PICKS = ("first", "next", "third")  # the heads that differ most
DOWNLOAD = "bert-attention-difference"


def layer_choices(count: int, side: str = "") -> list[tuple[str, str]]:
    """The layers of a model that has `count`, and all of them; on the side "_right" also the left one's."""
    return [*_as_left(side), *[(layer_name(layer), str(layer)) for layer in range(count)], ("mean of all layers", ALL)]


def head_choices(count: int, side: str = "") -> list[tuple[str, str]]:
    """The heads of a layer that has `count`, and all of them; on the side "_right" also the left one's."""
    heads = [(f"head {counted(head)}", str(head)) for head in range(count)]
    return [*_as_left(side), *heads, ("mean of all heads", MEAN)]


def _as_left(side: str) -> list[tuple[str, str]]:
    return [("same as left", SAME)] if side else []


OFFERS = {"layer": layer_choices, "head": head_choices}


def place_menu(what: str, value: str, side: str = "") -> Any:
    """A choice of a "layer" or a "head" by its index as a text, or of all; any other answer becomes `value`."""
    most = max(getattr(spec, f"num_{what}s") for spec in CATALOGUE.values())
    others = {key for _, key in OFFERS[what](0, side)}

    def make(_: Services) -> gr.Component:
        menu = gr.Dropdown(
            OFFERS[what](most, side),
            value=value,
            label=f"{'Right' if side else 'Left'}: {what}",
            show_label=bool(side),
            filterable=False,
            min_width=140,
            elem_id=f"compare-{what}{side.replace('_', '-')}",
        )
        menu.allow_custom_value = True  # a model may have more than the choices in Gradio's menu
        return menu

    def read(_: On, said: Any) -> str:
        text = str(said)
        return text if text in others or (text.isdecimal() and len(text) < 6) else value

    return choice(value, Control(make, read, by_script=True))


def second_model() -> Any:
    """A choice of the catalogue's models; the bundled one, unless the page begins with that."""

    def make(services: Services) -> gr.Component:
        offers = [(spec.title, key) for key, spec in services.store.catalogue.items()]
        return gr.Dropdown(
            [("choose a model…", ""), *offers],
            value="" if services.default_model == BUNDLED else BUNDLED,
            label="Second model (right)",
            filterable=False,
            elem_id="compare-model",
        )

    return choice("", Control(make, lambda _, said: str(said or "")))


class Compare(View):
    tab, order = "Compare two", 4
    look = (
        "Change one word, or the model, and see how the weights of a head change. In the difference, blue means that "
        "the weight is larger in the right picture, orange that it is larger in the left one. The example compares a "
        "bank by a river with a bank in a city."
    )

    @dataclass(frozen=True)
    class Choices:
        compare: str = options(MODES, SENTENCES, "Compare", elem_id="compare-mode", scale=3, min_width=320)
        compare_model: str = second_model()
        compare_text: str = words(OTHER, "Other sentence (right)", lines=1, max_lines=4, elem_id="compare-text")
        compare_layer: str = place_menu("layer", "0")
        compare_head: str = place_menu("head", "4")
        compare_layer_right: str = place_menu("layer", SAME, "_right")
        compare_head_right: str = place_menu("head", SAME, "_right")
        compare_measure: str = measure("its share of the row", "compare-measure")
        trained: str = unlinked("")  # the id of this reader's fine-tune
        arrived: str = unlinked("", redraws=True)  # the second model that was loaded last, and when

        def form(self) -> ComparisonForm:
            """The values of the controls."""
            return ComparisonForm(
                self.trained,
                self.compare,
                self.compare_model,
                self.compare_text,
                self.compare_layer,
                self.compare_head,
                self.compare_layer_right,
                self.compare_head_right,
                self.compare_measure,
            )

    def lay_out(self, at: Layout) -> None:
        page = at.page
        at.hold("trained", page.trained)
        at["status"] = gr.HTML(elem_id="compare-status")
        picks = _sides(at)
        _controls(at)
        with takeaway_row("Download the difference:"):
            place = {name: at.controls[f"compare_{name}"] for name in OFFERS}
            picture_buttons("#compare-difference", f"{DOWNLOAD}-layer-{{layer+1}}-head-{{head+1}}", inputs=place)
            file_button(page, "JSON", *at.asking(taken), elem_id="compare-json")
        at.folds("Prints the ten largest differences")
        at["picks"], at["wanted"] = (gr.Textbox("", visible="hidden") for _ in range(2))
        arrived = at.hold("arrived", gr.Textbox("", visible="hidden"))
        menus = [at.controls[name] for name in (*LEFT, *RIGHT)]
        for number, pick in enumerate(picks):
            opened = f"(picks) => [...picks.split(';')[{number}].split(','), '{SAME}', '{SAME}']"
            pick.click(None, [at["picks"]], menus, js=opened, **IN_BROWSER)
        # A reader's own run is shown beside the model that it began as.
        mode = at.controls["compare"]
        page.model.change(None, [page.model, mode], [mode], js=OWN_BESIDE, **IN_BROWSER)
        page.on(
            [at["wanted"].change],
            partial(fetched, page.services),
            [at["wanted"], page.model],
            {"status": at["status"], "arrived": arrived},
            concurrency_id="load",
            concurrency_limit=WAITING_LIMIT,
            trigger_mode="multiple",
            show_progress="hidden",
        )

    @drawn(limits=(*LEFT, *RIGHT))
    def draw(self, on: On, c: Choices) -> Shown:
        """All outputs; if the sides can't be compared, only a sentence, and the pictures stay."""
        form = c.form()
        alone = form.mode == SENTENCES and not on.sentence.text_pair.strip()
        shown = {"second": gr.update(visible=form.mode == MODELS), "other": gr.update(visible=alone), "wanted": ""}
        try:
            if form.waits(on.services):
                return shown | {"wanted": form.model}  # `fetched` shows its progress; then this is drawn again
            return shown | _compared(on, form)
        except UserError as error:
            return shown | {"status": notice_html(str(error))}


def _controls(at: Layout) -> None:
    """The controls; folded, those that are seldom moved: the measure, and another head on the right."""
    with gr.Row(elem_classes="compare-controls"):
        at.control("compare")
        with gr.Column(visible=False, scale=2, min_width=240) as at["second"]:
            at.control("compare_model")
        with gr.Column(scale=4, min_width=320) as at["other"]:
            other = at.control("compare_text")
    with at.all_controls():
        at.control("compare_measure")
        copied = gr.Button("Copy the first sentence to the right", size="sm", elem_id="compare-copy")
        copied.click(None, [at.page.text], [other], js="(text) => text", **IN_BROWSER)
        with gr.Row(elem_classes="compare-menus"):
            for name in RIGHT:
                at.control(name)


def _sides(at: Layout) -> list[gr.Button]:
    """Left and right, the head that both show, their difference, and the heads: side by side where there is room.

    Returns the buttons of the heads that differ most.
    """
    with gr.Row(elem_id="compare-pictures"):
        for side in ("left", "right"):
            with gr.Column(elem_id=f"compare-{side}", elem_classes="attention-heatmap", min_width=0):
                at[f"{side}_name"] = gr.HTML(elem_classes="compare-name")
                at.plot(side, f"Attention, {side}", elem_classes=["compare-plot", "picture"])
                if side == "left":
                    with gr.Row(elem_classes="compare-menus"):
                        for name in LEFT:
                            at.control(name)
        with gr.Column(elem_id="compare-difference", elem_classes="attention-heatmap", min_width=0):
            gr.HTML(TEXT.difference(), elem_classes="compare-name")
            at.plot("difference", "Attention, right minus left", elem_classes=["compare-plot", "picture"])
            at["said"] = gr.HTML(elem_classes="compare-said")
        with gr.Column(elem_id="compare-more", min_width=0):
            heatmap = {"elem_classes": "attention-heatmap", "min_width": 0, "visible": False}
            with gr.Column(elem_id="compare-heads", **heatmap) as at["overview"]:
                gr.HTML(TEXT.which_heads(), elem_classes="compare-name")
                with gr.Row(elem_classes="compare-picks"):
                    picks = [gr.Button("…", size="sm", min_width=100, elem_classes="compare-pick") for _ in PICKS]
                    at |= dict(zip(PICKS, picks, strict=True))
                at.plot("heads", "How much each head differs", elem_classes="compare-plot")
            at["largest"] = gr.HTML(elem_id="compare-largest")
    return picks


def _compared(on: On, form: ComparisonForm) -> Shown:
    """Everything below the controls. Raises UserError if there are no two sides."""
    pair = pair_of(on.services, on.sentence, form)
    comparison, left, right = pair.comparison, pair.left, pair.right
    figures = pictures(comparison)
    picks = most_different(comparison.heads) if form.mode != MODELS else []  # there one number is no one head
    shown: Shown = {
        CUT: [left.run.encoding, right.run.encoding],
        "status": TEXT.note(pair.note),
        "said": summary_html(comparison, left, right),
        "left_name": TEXT.heading("Left", left.title),
        "right_name": TEXT.heading("Right", right.title),
        **dict(zip(("left", "right", "difference"), figures, strict=True)),
        "overview": gr.update(visible=bool(picks)),
        "largest": largest_html(comparison),
        "numbers": lambda: numbers_html(comparison, left, right),
        "program": lambda: compare_code(left, right, pair.specs, comparison),
    }
    if comparison.heads is not None and picks:
        shown["heads"] = heads_figure(comparison.heads, left.which)
        shown["picks"] = ";".join(f"{layer},{head}" for layer, head, _ in picks)
        for name, (layer, head, share) in zip(PICKS, picks, strict=False):
            shown[name] = gr.update(value=f"{head_name(layer, head)}: {share:.0%}")
    return shown | _menus_for(left.run, right.run, form)


def taken(on: On, c: Compare.Choices) -> tuple[str, str]:
    """(file name, JSON text) of the comparison. Raises UserError if there are no two sides."""
    form = c.form()
    if form.waits(on.services):
        raise UserError("The second model is still being downloaded.")
    pair = pair_of(on.services, on.sentence, form)
    name = file_name(DOWNLOAD, pair.left.which.name, extension="json")
    return name, comparison_json(pair.comparison, pair.left, pair.right)


def _menus_for(left: Run, right: Run, form: ComparisonForm) -> Shown:
    """The four menus for these two models."""
    menus = {}
    for suffix, run in (("", left), ("_right", right)):
        for what, offered in OFFERS.items():
            choices = offered(getattr(run, f"num_{what}s"), suffix)
            value = getattr(form, what + suffix)
            last = choices[-2][1]  # the mean comes after it
            fits = value in [key for _, key in choices]
            menus[f"compare_{what}{suffix}"] = limit(choices=choices, value=value if fits else last)
    return menus


def fetched(services: Services, wanted: str, in_use: str) -> Iterator[dict[str, str]]:
    """The sentence to show while the second model loads; `arrived` changes only once it is loaded.

    Looking at a load that all who want it share, as the bar does.
    """
    if not wanted:
        yield {}
        return
    for _, _, status in use_model(services, wanted, in_use):
        yield {"status": status}
    if services.store.ready(wanted):
        yield {"status": "", "arrived": f"{wanted} {time.monotonic_ns()}"}


def answer(services: Services, sentence: Sentence, compare_text: str) -> Answer:
    """The layer in which the largest share of the weights is on different tokens, on average over its heads."""
    left, right = services.run(sentence), services.run(Sentence(compare_text, sentence.text_pair, sentence.model))
    if left.encoding.input_ids == right.encoding.input_ids:
        raise UserError("Both sentences are the same, so no attention differs; change a word of one.")
    heads = compare(Measured(left), Measured(right), Which(0, 0), Which(0, 0), fold=False).heads
    assert heads is not None  # one model
    layers = heads.mean(axis=1)
    if np.isnan(layers).any():
        raise UserError("The two sentences share no word, so there is nothing to compare.")
    most, least = int(layers.argmax()), int(layers.argmin())
    facts = {"layer": counted(most), "most": layers[most], "least": counted(least), "smallest": layers[least]}
    return Answer(facts=facts | {"other": compare_text})
