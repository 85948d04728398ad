"""Two at once, laid out: what to compare, the three pictures with their menus, and the heads that noticed."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.model.catalogue import BUNDLED
from demos.page.services import Services
from demos.templates import templates
from demos.widgets.comparison.sides import ALL, MEAN, MODELS, SAME, SENTENCES, TUNED

TEXT = templates(__file__)
MODES = [("Two sentences", SENTENCES), ("Two models", MODELS), ("Before and after my fine-tune", TUNED)]
OTHER = "The unflappable banker counted her money in the bank of the city."  # the bar's own, two words changed
CHOICES = ("mode", "model", "text", "layer", "head", "layer_right", "head_right")  # in the order of `Asked`
PICKS = ("first", "next", "third")  # the heads that differ most


def controls(services: Services) -> dict[str, Any]:
    """What to compare."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="compare-controls"):
        parts["mode"] = gr.Radio(
            MODES, value=SENTENCES, label="Compare", elem_id="compare-mode", scale=3, min_width=320
        )
        with gr.Column(visible=False, scale=2, min_width=240) as parts["second"]:
            parts["model"] = gr.Dropdown(
                [("choose one…", ""), *[(spec.title, key) for key, spec in services.store.catalogue.items()]],
                value="" if services.default_model == BUNDLED else BUNDLED,
                label="Second model (right)",
                filterable=False,
                elem_id="compare-model",
            )
        with gr.Column(scale=4, min_width=320) as parts["other"], gr.Row(elem_classes="compare-other"):
            parts["text"] = gr.Textbox(
                OTHER, label="Other sentence (right)", lines=1, max_lines=4, scale=5, min_width=240,
                elem_id="compare-text",
            )  # fmt: skip
            parts["copy"] = gr.Button("Copy from the bar", size="sm", scale=0, min_width=150, elem_id="compare-copy")
    parts["status"] = gr.HTML(elem_id="compare-status")
    return parts


def layer_choices(count: int, side: str = "") -> list[tuple[str, str]]:
    """The layers of a model that has `count`, and all of them; on the side "_right" also the left one's."""
    return [*_as_left(side), *[(f"layer {layer}", str(layer)) for layer in range(count)], ("mean of all layers", ALL)]


def head_choices(count: int, side: str = "") -> list[tuple[str, str]]:
    """The heads of a layer that has `count`, and all of them; on the side "_right" also the left one's."""
    return [*_as_left(side), *[(f"head {head}", str(head)) for head in range(count)], ("mean of its heads", MEAN)]


def _as_left(side: str) -> list[tuple[str, str]]:
    return [("as on the left", SAME)] if side else []


def sides(services: Services) -> dict[str, Any]:
    """Left and right, each with its menus, their difference, and the heads: side by side where there is room."""
    layers = max(spec.num_layers for spec in services.store.catalogue.values())
    heads = max(spec.num_heads for spec in services.store.catalogue.values())
    parts: dict[str, Any] = {}
    with gr.Row(elem_id="compare-pictures"):
        for side, suffix in (("left", ""), ("right", "_right")):
            with gr.Column(elem_id=f"compare-{side}", elem_classes="attention-heatmap", min_width=0):
                parts[f"{side}_name"] = gr.HTML(elem_classes="compare-name")
                with gr.Row(elem_classes="compare-menus"):
                    for name, choices, value in (
                        ("layer", layer_choices(layers, suffix), "0"),
                        ("head", head_choices(heads, suffix), "4"),
                    ):
                        parts[name + suffix] = gr.Dropdown(
                            choices, value=SAME if suffix else value, label=f"{side.capitalize()}: {name}",
                            show_label=False, filterable=False, min_width=140,
                            elem_id=f"compare-{name}{suffix.replace('_', '-')}",
                        )  # fmt: skip
                parts[side] = gr.Plot(show_label=False, elem_classes="compare-plot")
        with gr.Column(elem_id="compare-difference", elem_classes="attention-heatmap", min_width=0):
            gr.HTML(TEXT.difference(), elem_classes="compare-name")
            parts["said"] = gr.HTML(elem_classes="compare-said")
            parts["difference"] = gr.Plot(show_label=False, elem_classes="compare-plot")
        with gr.Column(elem_id="compare-more", min_width=0):
            heatmap: dict[str, Any] = {"elem_classes": "attention-heatmap", "min_width": 0, "visible": False}
            with gr.Column(elem_id="compare-heads", **heatmap) as parts["overview"]:
                gr.HTML(TEXT.which_heads(), elem_classes="compare-name")
                with gr.Row(elem_classes="compare-picks"):
                    for name in PICKS:
                        parts[name] = gr.Button("…", size="sm", min_width=100, elem_classes="compare-pick")
                parts["heads"] = gr.Plot(show_label=False, elem_classes="compare-plot")
            parts["largest"] = gr.HTML(elem_id="compare-largest")
    return parts
