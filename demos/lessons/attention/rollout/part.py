"""Combine heads: means, maxima and rollout, between tokens or words, with the rows' sums beside the picture."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import gradio as gr
import numpy as np

from demos.bert.attention.contributions import WEIGHT, staying_shares
from demos.bert.attention.rollout import Aggregate, Quarter, Recipe, Share, Specials, What, aggregate
from demos.bert.model.local_layers import kind_said, reaches
from demos.counting import counted
from demos.figures.download_names import file_name
from demos.figures.matrix import matrix_figure, matrix_table
from demos.lessons.attention.rollout.text import TEXT, aggregate_json, note, rollout_code, sources_html, summary
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import (
    Layout,
    On,
    Shown,
    View,
    drawn,
    limit,
    measure,
    menu,
    of_model,
    open_menu,
    options,
    slider,
    switch,
)
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


def _offers(names: Mapping[Any, str]) -> list[tuple[str, str]]:
    return [(name, key) for key, name in names.items()]


class Rollout(View):
    tab, order, former = "Combine heads", 2, "together"
    look = (
        "Rollout averages the heads of each layer, weights attention and the residual connection by one half each, and "
        "multiplies the matrices of all layers. Each row estimates how much each input token contributes to one "
        "token's state. The measured share of the residual connection is larger than one half; the list shows the "
        "result for both shares. Move “Up to layer” to the end: the diagonal (the share of the word itself) fades, and "
        "the rows become similar."
    )

    @dataclass(frozen=True)
    class Choices:
        join: What = menu(_offers(WHATS), "rollout", "How to combine", elem_id="rollout-what")
        # in any model: with half kept a layer, a quarter or more is still on the diagonal, and not all
        join_layer: int = of_model("num_layers", 1, "Up to layer", elem_id="rollout-layer")
        join_head: int = of_model("num_heads", 2, "Head", elem_id="rollout-head", visible=False)
        join_share: Share = options(_offers(SHARES), "assumed", "Residual share", elem_id="rollout-share")
        residual: float = slider(
            0, 1, 0.5, "Assumed residual share (paper: 0.5)", step=0.05, elem_id="rollout-residual"
        )
        join_measure: str = measure("its share of the row", "rollout-measure")
        words: bool = switch("Merge pieces into words", True, elem_id="rollout-words")
        specials: Specials = options(_offers(SPECIALS), "show", "Special tokens", elem_id="rollout-specials")
        quarter: Quarter = options(
            [(quarter.replace("-", " → "), quarter) for quarter in get_args(Quarter)],
            "all",
            "Between the two sentences",
            elem_id="rollout-quarter",
            visible=False,
        )
        of: str = open_menu(  # 6: "banker" in the sentence that the page opens with
            [("token 6", "6")], "6", "Show the weights of one token, largest first", elem_id="rollout-token"
        )

        def recipe(self) -> Recipe:
            """The recipe that the controls describe: what is combined, and how."""
            return Recipe(
                what=self.join,
                layer=self.join_layer,
                head=self.join_head,
                share=self.join_share,
                residual=self.residual,
                measure=self.join_measure,
                words=self.words,
                specials=self.specials,
                quarter=self.quarter,
            )

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="rollout-views"):
            with gr.Column(elem_id="rollout-controls"):
                named = {"what": at.control("join"), "layer": at.control("join_layer")}
                at.control("join_head")
                at.control("join_share")
                with at.all_controls():
                    for name in ("residual", "join_measure", "words", "specials", "quarter"):
                        at.control(name)
                at.look()
            with gr.Column(elem_id="rollout-heatmap", elem_classes=["attention-heatmap", "picture"]):
                at.plot("plot", "Attention of all heads, combined")
                at["said"] = gr.HTML("", elem_classes="attention-told", elem_id="rollout-said")
                with takeaway_row("Download the heatmap:"):
                    picture_buttons("#rollout-heatmap", "bert-attention-{what}-layer{layer}", inputs=named)
                    file_button(at.page, "JSON", *at.asking(numbers), elem_id="rollout-json")
            with gr.Column(elem_id="rollout-row"):
                at.control("of")
                at["sources"] = gr.HTML("")
        at.folds("Prints these numbers")

    @drawn(limits=("join_layer", "join_head", "join_share", "residual", "quarter", "of"))
    def draw(self, on: On, c: Choices) -> Shown:
        """The matrix, one of its rows, and the controls that the recipe needs."""
        recipe, run, loaded = c.recipe(), on.run, on.loaded
        joined = aggregate(loaded, run, recipe)
        rollout, assumed = recipe.what == "rollout", recipe.share == "assumed"
        other: Share = "measured" if assumed else "assumed"
        beside = aggregate(loaded, run, replace(recipe, share=other)) if rollout else None
        place = joined.rows.place_of(int(c.of) if c.of.isdecimal() and len(c.of) < 6 else 0)
        few, table = cut(joined, SHOWN), cut(joined, TABLE)
        stays = float(staying_shares(loaded, run, recipe.layer).mean()) if rollout else None
        what = "weight" if recipe.measure == WEIGHT and not rollout else "share"
        caption = WHATS[recipe.what].capitalize() + (f", {part}" if (part := left_out(joined, table)) else "")
        kinds, reach = kinds_of(on, recipe, joined)
        rows = list(zip(joined.rows.numbers, joined.rows.names, strict=True))
        return {
            "join_layer": limit(visible=recipe.what in OF_A_LAYER, label="Up to layer" if rollout else "Layer"),
            "join_head": limit(visible=recipe.what in OF_A_HEAD),
            "join_share": limit(visible=rollout),
            "residual": limit(visible=rollout and assumed),
            "quarter": limit(visible=run.encoding.sentence_b_start is not None),
            "of": limit(
                choices=[(f"{name} ({number})", str(number)) for number, name in rows], value=str(rows[place][0])
            ),
            "plot": matrix_figure(few.values, few.rows, few.columns, what=what, row_sums=True, reach=reach),
            "said": TEXT.summary(
                summary(recipe, joined, run),
                note(recipe, stays, joined, beside),
                left_out(joined, few),
                kinds,
            ),
            "sources": sources_html(joined, place, recipe, beside),
            "numbers": lambda: matrix_table(table.values, table.rows, table.columns, caption),
            "program": lambda: rollout_code(loaded.spec, run.encoding, recipe),
        }


def kinds_of(on: On, recipe: Recipe, joined: Aggregate) -> tuple[str, int | None]:
    """A sentence on global and local layers, and how far tokens attend if the matrix shows a local one."""
    of_layers = reaches(on.loaded.model.config)
    layer = recipe.layer if recipe.what in OF_A_LAYER - {"rollout"} else None
    by_token = len(joined.rows) == len(joined.columns) == len(on.encoding)  # nothing is merged or left out
    reach = of_layers[layer] if of_layers and layer is not None and by_token else None
    dashed = reach is not None and min(SHOWN, len(joined.rows)) > reach + 1
    return kind_said(of_layers, layer, len(on.encoding), dashed), reach


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


def numbers(on: On, c: Rollout.Choices) -> tuple[str, str]:
    """The file that the button JSON hands out: its name, and the matrix with its recipe."""
    recipe = c.recipe()
    name = file_name("bert-attention", recipe.what, f"layer{counted(recipe.layer)}", extension="json")
    return name, aggregate_json(on.run, on.loaded.spec.title, recipe, aggregate(on.loaded, on.run, recipe))


def answer(services: Services, sentence: Sentence) -> Answer:
    """The column with the largest mean over layers, heads and rows."""
    attentions = services.run(sentence).attentions
    received = attentions.mean(axis=(0, 1, 2), dtype=np.float64)  # [n]
    best = int(received.argmax())
    return Answer(tokens=frozenset({best}), facts={"share": received[best], "even": 1 / len(received)})
