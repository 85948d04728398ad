"""One head, laid out: the overview, the open head, and the files that its buttons hand out."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT, contributions, measured
from demos.bert.attention.head_profiles import habit_sentences
from demos.bert.attention.patterns import PATTERNS
from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.run import Run
from demos.counting import counted
from demos.figures.download_names import attention_json, file_name
from demos.lessons.attention.heads.figure_standalone import Standalone
from demos.page.folds import all_controls
from demos.page.layer_head_choices import clamp, counted_slider, measure_choice
from demos.page.lesson import Page
from demos.page.services import Sentence, Services
from demos.widgets.bertviz.frame import bertviz_frame, lines_buttons
from demos.widgets.bertviz.views import VIEWS
from demos.widgets.head_grid.head_grid import OPENED, head_grid
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row

GRID = "attention-grid"
PAGE = "One HTML file"


def layout(page: Page) -> dict[str, Any]:
    """All heads on the left, the open one on the right."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="heads-views"):
        with gr.Column(elem_classes="heads-overview", min_width=330):
            parts["grid"] = head_grid(
                "All heads: rows are layers, columns are heads",
                elem_id=GRID,
                elem_classes="picture",
                look={"layer": OPENED[0], "head": OPENED[1]},
            )
            parts["view"] = gr.Radio(
                [(view.title, view.name) for view in VIEWS.values()],
                value="head",
                label="View",
                elem_id="attention-view",
                min_width=330,
            )
            page.show_look()
            parts["measure"] = measure_choice("lines and scores: its share of the row", "attention-measure")
            parts["pattern"] = gr.Radio(
                [("all heads", ""), *((pattern.title, pattern.name) for pattern in PATTERNS.values())],
                value="",
                label="Show all heads, or find the head that best fits a pattern",
                elem_id="attention-pattern",
            )
            parts["reading"] = gr.HTML("", elem_classes="attention-caption")
            with all_controls(page, __file__, set_elsewhere=True):
                parts |= _more(page)
        with gr.Column(elem_classes="heads-opened", min_width=330):
            parts |= _open_head(page, parts)
    return parts


def _open_head(page: Page, which: dict[str, Any]) -> dict[str, Any]:
    """The head that the controls in `which` choose: as lines, as a heatmap, and as files."""
    parts: dict[str, Any] = {}
    services = page.services
    place = {"layer": which["layer"], "head": which["head"]}
    measure = which["measure"]
    with gr.Row(elem_classes="attention-views"):
        with gr.Column(elem_id="attention-frame", elem_classes="picture"):
            parts["frame"] = bertviz_frame("bertviz: attention as lines between tokens", elem_id="attention-bertviz")
            lines_buttons()
            parts["caption"] = gr.HTML("", elem_classes="attention-caption")
        with gr.Column(elem_id="attention-heatmap"):
            parts["plot"] = gr.Plot(label="The chosen head, from token to token", show_label=False)
            parts["said"] = gr.HTML("", elem_classes="attention-told")
            with takeaway_row("Download the heatmap:"):
                name = "bert-attention-layer{layer}-head{head}"
                picture_buttons("#attention-heatmap", name, page, inputs=place)
                file_button(page, "JSON", partial(numbers, services), [*place.values(), measure])
    with takeaway_row("Download the view:"):
        parts["lines"] = gr.Textbox("", visible="hidden")  # the heads whose lines are drawn, as `heads_on` reads them
        parts["whole"] = file_button(
            page, PAGE, partial(alone_in_a_file, services), [which["view"], *place.values(), parts["lines"], measure]
        )
    return parts


def _more(page: Page) -> dict[str, Any]:
    """The controls that are seldom moved: layer and head by number, the sentences that are scored, the overview's
    files.
    """
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="heads-place"):
        for what, first in zip(("layer", "head"), OPENED, strict=True):
            parts[what] = counted_slider(
                max(getattr(spec, f"num_{what}s") for spec in page.services.store.catalogue.values()),
                first,
                label=what.capitalize(),
                elem_id=f"attention-{what}",
                min_width=170,
            )
    parts["source"] = gr.Radio(
        [("this sentence", "sentence"), (f"average of {len(habit_sentences())} sentences", "habit")],
        value="sentence",
        label="Scores from",
        elem_id="attention-habit",
    )
    with takeaway_row("Download the overview:"):
        picture_buttons(f"#{GRID}", "bert-heads", page)
    return parts


def numbers(
    services: Services, sentence: Sentence, layer: float, head: float, measure: str = WEIGHT
) -> tuple[str, str]:
    """The file that the button JSON hands out: its name, and the head's weights; by contribution, its norms too."""
    run, layer, head = opened(services, sentence, layer, head)
    loaded, by_norm = services.loaded(sentence.model), measure == CONTRIBUTION
    what = "bert-contribution" if by_norm else "bert-attention"
    name = file_name(what, f"layer{counted(layer)}", f"head{counted(head)}", extension="json")
    lengths = contributions(loaded, run, layer).lengths[head] if by_norm else None
    return name, attention_json(run, loaded.spec.title, layer, head, lengths)


def alone_in_a_file(
    services: Services,
    sentence: Sentence,
    view: str,
    layer: float,
    head: float,
    lines: str = "",
    measure: str = WEIGHT,
) -> tuple[str, str]:
    """The file that shows bertviz's views of this run with no server: its name, and its text."""
    run, layer, head = opened(services, sentence, layer, head)
    loaded = services.loaded(sentence.model)
    view = VIEWS.get(view, VIEWS["head"]).name
    vectors = partial(queries_and_keys, loaded, run)
    by = measured(loaded, run, measure)
    text = Standalone(run, view, layer, head, vectors, loaded.spec.title, lines, by).html()
    return file_name("bert-attention", view, "view", extension="html"), text


def opened(services: Services, sentence: Sentence, layer: float, head: float) -> tuple[Run, int, int]:
    """The run, and the layer and head to show: one beyond this model's becomes its last one."""
    run = services.run(sentence)
    return run, clamp(layer, run.num_layers), clamp(head, run.num_heads)
