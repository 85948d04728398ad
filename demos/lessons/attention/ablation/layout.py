"""The layout of "Switch heads off": the grid beside the picture, the outputs, each token's two bars, the folds."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.attention.ablation import write_heads
from demos.bert.model.catalogue import CATALOGUE
from demos.counting import layer_name
from demos.lessons.attention.ablation.results import MAX_CLASSES, MAX_COMPARED
from demos.lessons.attention.ablation.text import TEXT
from demos.page.folds import fold
from demos.page.lesson import IN_BROWSER
from demos.page.links import Link
from demos.page.view import Layout, linked, menu, open_menu, options, unlinked, words
from demos.widgets.head_grid.head_grid import OPENED, head_grid, show_in_grid
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

GRID = "ablation-grid"
OPENING = write_heads([OPENED])  # the first drawing picks another one for the model in use
COMPARED = "She sat on the grassy bank of the river.\nThe bank raised its interest rates.\nPenguins cannot fly."
LAST = "last"
PICKED = -1  # the place to hide is picked by itself
MAX_PLACES = 128
KEYS = [*(f"s{n}" for n in range(MAX_COMPARED + 1)), *(f"c{n}" for n in range(MAX_CLASSES)), "w"]
DEEPEST = max(spec.num_layers for spec in CATALOGUE.values())


def layers(count: int) -> list[tuple[str, str]]:
    """The menu of layers: "last" stays the last one when the model changes."""
    return [("last", LAST), *((layer_name(number), str(number)) for number in range(count))]


@dataclass(frozen=True)
class AblationChoices:
    """The heads that are off, what shows their effect, and which output is explained."""

    heads_off: str = linked(
        words(
            OPENING,
            "Heads off",
            elem_id="ablation-off",
            info="Type layer.head, for example 1.2; the page's address saves your choice. At first, the head with the "
            "largest average weight on the previous token is off.",
        ),
        Link(zero="off"),
    )
    off_with: str = words(
        COMPARED,
        f"Sentences to compare with, one per line (at most {MAX_COMPARED})",
        lines=3,
        max_lines=8,
        elem_id="ablation-compare",
    )
    explain: str = menu(
        [(key, key) for key in KEYS], "s0", "Output to explain", scale=3, min_width=300, elem_id="ablation-output"
    )
    explain_layer: str = open_menu(
        layers(DEEPEST),
        LAST,
        "Layer whose attention is shown (mean of its heads)",
        filterable=False,
        min_width=200,
        elem_id="ablation-attention-layer",
    )
    explain_rows: str = options([("[CLS]", "cls"), ("all tokens", "mean")], "mean", "Attention from", min_width=200)
    word: int = unlinked(PICKED, redraws=True)  # the token that is masked
    whole: int | None = unlinked(None)  # the menu of layers to switch off, empty again once it is used
    followed: str = unlinked("")  # for which model the heads were picked
    trained: str = unlinked("")  # the id of this reader's fine-tune


def lay_out_switches(at: Layout) -> None:
    """All heads to click on, beside the states and outputs that a click changes."""
    at.hold("trained", at.page.trained)
    with gr.Row(elem_classes="ablation-top"):
        with gr.Column(elem_classes="ablation-switches", min_width=320):
            at["grid"] = head_grid("Click a head to switch it off", mode="switch", elem_id=GRID, elem_classes="picture")
            at.look()
            off = at.control("heads_off")
            with gr.Row():
                whole = gr.Dropdown(
                    [(layer_name(layer), layer) for layer in range(DEEPEST)],
                    value=None,
                    label="Switch off a whole layer",
                    filterable=False,
                    min_width=150,
                    elem_id="ablation-layer-off",
                )
                at.hold("whole", whole)
                all_on = gr.Button("All heads on", size="sm", min_width=130, elem_id="ablation-all-on")
        with gr.Column(elem_classes="ablation-changes", min_width=320):
            with gr.Column(
                elem_classes=["ablation-picture", "attention-heatmap", "picture"],
                min_width=0,
                elem_id="ablation-picture",
            ):
                at.plot("plot", "How much each token's state changes, layer by layer")
                at["said"] = gr.HTML("", elem_classes="attention-told", elem_id="ablation-said")
            with takeaway_row("Download the picture:"):
                picture_buttons("#ablation-picture", "bert-heads-off-{off}", inputs={"off": off})
            _lay_out_effects(at)
    at["followed"] = at.hold("followed", gr.Textbox("", visible="hidden"))
    at["struck"] = gr.Textbox("", visible="hidden")  # the heads that the grid strikes out
    chosen = f"insideBert.grids['{GRID}'].{{}}.off"
    typed = f"{chosen}.map((head) => head.map((index) => index + 1).join('.')).join(', ')"  # as `read_heads` reads it
    at["grid"].select(None, None, [off], js=f"() => {typed.format('chosen()')}", **IN_BROWSER)
    whole.input(None, [whole], [off, whole], js=f"(layer) => [{typed.format('strike(layer)')}, null]", **IN_BROWSER)
    all_on.click(None, None, [off], js="() => ''", **IN_BROWSER)
    at["struck"].change(None, [at["struck"]], None, js=show_in_grid(GRID, "off"), **IN_BROWSER)


def _lay_out_effects(at: Layout) -> None:
    """Similarities, masked word, classifier: before and after."""
    gr.HTML(TEXT.what_comes_out(), elem_classes="ablation-heading")
    with gr.Row(elem_classes="ablation-effects"):
        with gr.Column(min_width=640, scale=3):
            at["similar"] = gr.HTML("", elem_id="ablation-similar")
            at.control("off_with")
        with gr.Column(min_width=320, scale=3):
            places = [("chosen automatically", PICKED), *((f"token {place}", place) for place in range(MAX_PLACES))]
            word = gr.Dropdown(
                places, value=PICKED, label="Word to mask", filterable=False, visible=False, elem_id="ablation-word"
            )
            at.hold("word", word)
            at["guesses"] = gr.HTML("", elem_id="ablation-guesses")
            at["classes"] = gr.HTML("", elem_id="ablation-classes")


def lay_out_saliency(at: Layout) -> None:
    """Gradient x input and attention, one row per token."""
    with fold(__file__, "saliency", "Which tokens affect the output? Gradient × input next to attention"):
        with gr.Row():
            for name in ("explain", "explain_layer", "explain_rows"):
                at.control(name)
        at["explained"] = gr.HTML("", elem_id="ablation-explained")
        at["agreed"] = gr.HTML("", elem_classes="attention-told", elem_id="ablation-agreed")
        gr.HTML(TEXT.why_they_differ(), elem_classes="ablation-heading")


def lay_out_folds(at: Layout) -> tuple[gr.Button, gr.HTML]:
    """Each head alone, the numbers, the formula, the code. Returns what starts the first of these, and its board."""
    with fold(__file__, "each", "Which head matters most here? Switch off one at a time"):
        start = gr.Button("Try every head", min_width=200, elem_id="ablation-try")
        gr.HTML(TEXT.one_by_one(), elem_classes="ablation-heading")
        board = gr.HTML("", elem_id="ablation-board")
    at.folds("Prints the cosine between each token's states with all heads on and with some off", numbers=["table"])
    return start, board
