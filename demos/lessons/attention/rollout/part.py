"""Combine heads: means, maxima and rollout, between tokens or words, with the rows' sums beside the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast, get_args

import gradio as gr

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT, staying_shares
from demos.bert.attention.rollout import Aggregate, Quarter, Recipe, Share, Specials, What, aggregate
from demos.bert.model.encoding import truncation_notice
from demos.bert.model.run import Run
from demos.counting import counted
from demos.figures.download_names import file_name
from demos.figures.matrix import matrix_figure, matrix_table
from demos.lessons.attention.rollout.text import TEXT, aggregate_json, note, rollout_code, sources_html, summary
from demos.page.folds import all_controls, code_fold, fold, formula_fold
from demos.page.layer_head_choices import clamp, counted_slider, measure_choice, slider
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row

SHOWN = 128  # tokens or words in the picture
TABLE = 64  # and in the table: more is no table to read
WHATS: dict[What, str] = {
    "rollout": "rollout through the layers",
    "heads-mean": "mean over a layer's heads",
    "heads-max": "maximum over a layer's heads",
    "layers-mean": "mean over the layers, one head",
    "layers-max": "maximum over the layers, one head",
    "all-mean": "mean over all heads and layers",
    "all-max": "maximum over all heads and layers",
    "head": "one head",
}
SHARES: dict[Share, str] = {"assumed": "assumed", "measured": "measured"}
SPECIALS: dict[Specials, str] = {"show": "shown", "hide": "hidden", "renormalise": "hidden, renormalized"}
OF_A_LAYER = {"rollout", "heads-mean", "heads-max", "head"}
OF_A_HEAD = {"layers-mean", "layers-max", "head"}


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    with gr.Row(elem_classes="rollout-views"):
        with gr.Column(elem_id="rollout-controls"):
            recipe = controls(page, services)
            page.show_look()
        parts: dict[str, Any] = {name: recipe[name] for name in ("layer", "head", "share", "residual", "quarter")}
        with gr.Column(elem_id="rollout-heatmap", elem_classes=["attention-heatmap", "picture"]):
            parts["plot"] = gr.Plot(label="Attention of all heads, combined", show_label=False)
            parts["said"] = gr.HTML("", elem_classes="attention-told", elem_id="rollout-said")
            with takeaway_row("Download the heatmap:"):
                named = {name: recipe[name] for name in ("what", "layer")}
                picture_buttons("#rollout-heatmap", "bert-attention-{what}-layer{layer}", page, inputs=named)
                file_button(page, "JSON", partial(numbers, services), list(recipe.values()), elem_id="rollout-json")
        with gr.Column(elem_id="rollout-row"):
            parts["token"] = gr.Dropdown(
                [("token 6", "6")],
                value="6",  # "banker" in the sentence that the page opens with
                label="Show the weights of one token, largest first",
                allow_custom_value=True,  # the link's token is not yet on offer when the page opens
                elem_id="rollout-token",
            )
            parts["sources"] = gr.HTML("")
    with fold(__file__, "numbers", "The numbers"):
        parts["table"] = gr.HTML("")
    formula_fold(__file__)
    parts["program"] = code_fold(__file__, "Prints these numbers")

    in_link = {"what": "join"} | {name: f"join_{name}" for name in ("layer", "head", "share", "measure")}
    page.keep(**{in_link.get(name, name): choice for name, choice in recipe.items()}, of=parts["token"])
    show = by_component(parts, partial(drawn, services))
    page.draw(show, [*recipe.values(), parts["token"]], list(parts.values()), show_progress="hidden")


def controls(page: Page, services: Services) -> dict[str, gr.Component]:
    """The controls that a recipe is read from, in the order of `read_recipe`."""
    specs = services.store.catalogue.values()
    first: dict[str, gr.Component] = {
        "what": gr.Dropdown(
            _menu(WHATS), value="rollout", label="How to combine", filterable=False, elem_id="rollout-what"
        ),
        "layer": counted_slider(
            max(spec.num_layers for spec in specs),
            1,  # in any model: with half kept a layer, a quarter or more is still on the diagonal, and not all
            label="Up to layer",
            elem_id="rollout-layer",
        ),
        "head": counted_slider(
            max(spec.num_heads for spec in specs), 2, label="Head",
            elem_id="rollout-head", visible=False,
        ),
        "share": gr.Radio(_menu(SHARES), value="assumed", label="Residual share", elem_id="rollout-share"),
    }  # fmt: skip
    with all_controls(page, __file__):
        return first | {
            "residual": gr.Slider(
                0, 1, value=0.5, step=0.05, label="Assumed residual share (paper: 0.5)", elem_id="rollout-residual"
            ),
            "measure": measure_choice("its share of the row", "rollout-measure"),
            "words": gr.Checkbox(True, label="Merge pieces into words", elem_id="rollout-words"),
            "specials": gr.Radio(_menu(SPECIALS), value="show", label="Special tokens", elem_id="rollout-specials"),
            "quarter": gr.Radio(
                [(quarter.replace("-", " → "), quarter) for quarter in get_args(Quarter)], value="all",
                label="Between the two sentences", elem_id="rollout-quarter", visible=False,
            ),
        }  # fmt: skip


def _menu(names: Mapping[Any, str]) -> list[tuple[str, str]]:
    return [(name, key) for key, name in names.items()]


def drawn(services: Services, sentence: Sentence, *choices: Any) -> dict[str, Any]:
    """The components that change with the choices: those of `read_recipe`, in its order, and the token of the list."""
    *values, token = choices
    run, loaded = services.run(sentence), services.loaded(sentence.model)
    recipe = read_recipe(run, *values)
    joined = aggregate(loaded, run, recipe)
    rollout, assumed = recipe.what == "rollout", recipe.share == "assumed"
    other: Share = "measured" if assumed else "assumed"
    beside = aggregate(loaded, run, replace(recipe, share=other)) if rollout else None
    place = joined.rows.place_of(int(token) if str(token).isdecimal() and len(str(token)) < 6 else 0)
    few, table = cut(joined, SHOWN), cut(joined, TABLE)
    stays = float(staying_shares(loaded, run, recipe.layer).mean()) if rollout else None
    what = "weight" if recipe.measure == WEIGHT and not rollout else "share"
    caption = WHATS[recipe.what].capitalize() + (f", {part}" if (part := left_out(joined, table)) else "")
    rows = list(zip(joined.rows.numbers, joined.rows.names, strict=True))
    up_to = "Up to layer" if rollout else "Layer"
    return {
        "layer": slider(values[1], run.num_layers, visible=recipe.what in OF_A_LAYER, label=up_to),
        "head": slider(values[2], run.num_heads, visible=recipe.what in OF_A_HEAD),
        "share": gr.update(visible=rollout),
        "residual": gr.update(visible=rollout and assumed),
        "quarter": gr.update(visible=run.encoding.sentence_b_start is not None),
        "plot": matrix_figure(few.values, few.rows, few.columns, what=what, row_sums=True),
        "said": TEXT.summary(
            summary(recipe, joined, run),
            note(recipe, stays, joined, beside),
            left_out(joined, few),
            truncation_notice(run.encoding),
        ),
        "token": gr.update(
            choices=[(f"{name} ({number})", str(number)) for number, name in rows], value=str(rows[place][0])
        ),
        "sources": sources_html(joined, place, recipe, beside),
        "table": lambda: matrix_table(table.values, table.rows, table.columns, caption),
        "program": lambda: rollout_code(loaded.spec, run.encoding, recipe),
    }


def read_recipe(
    run: Run,
    what: str,
    layer: float,
    head: float,
    share: str,
    residual: float,
    measure: str,
    words: bool,
    specials: str,
    quarter: str,
) -> Recipe:
    """The controls' answers as a Recipe; a layer or head beyond this model's becomes its last one."""
    return Recipe(
        what=cast(What, what if what in get_args(What) else "rollout"),
        layer=clamp(layer, run.num_layers),
        head=clamp(head, run.num_heads),
        share="measured" if share == "measured" else "assumed",
        residual=min(max(round(float(residual or 0), 2), 0.0), 1.0),
        measure=CONTRIBUTION if measure == CONTRIBUTION else WEIGHT,
        words=bool(words),
        specials=cast(Specials, specials if specials in get_args(Specials) else "show"),
        quarter=cast(Quarter, quarter if quarter in get_args(Quarter) else "all"),
    )


def cut(joined: Aggregate, count: int) -> Aggregate:
    """The first `count` rows and columns."""
    rows, columns = range(min(count, len(joined.rows))), range(min(count, len(joined.columns)))
    return Aggregate(joined.values[:count, :count], joined.rows.take(rows), joined.columns.take(columns))


def left_out(joined: Aggregate, few: Aggregate) -> str:
    """A sentence on the part of the matrix that is on screen; empty if all of it is."""
    if joined.values.shape == few.values.shape:
        return ""
    n, m = few.values.shape
    return f"the first {n} of {len(joined.rows)} rows and {m} of {len(joined.columns)} columns, with the sums of these"


def numbers(services: Services, sentence: Sentence, *choices: Any) -> tuple[str, str]:
    """The file that the button JSON hands out: its name, and the matrix with what was done to make it."""
    run, loaded = services.run(sentence), services.loaded(sentence.model)
    recipe = read_recipe(run, *choices)
    name = file_name("bert-attention", recipe.what, f"layer{counted(recipe.layer)}", extension="json")
    return name, aggregate_json(run, loaded.spec.title, recipe, aggregate(loaded, run, recipe))


PART = Part(
    tab="Combine heads",
    look=(
        "Rollout multiplies the attention matrices of the layers: each row estimates how much each input word "
        "contributes to one output word. It assumes that half of each vector passes through a layer unchanged. "
        "The measured share is larger; the list shows the result for both. Move “Up to layer” to the end: the "
        "diagonal (the share of the word itself) fades, and the rows become similar."
    ),
    build=build,
    order=2,
    former="together",
)
