"""One head, laid out: its choices, the overview, the open head, and the files that its buttons hand out."""

from dataclasses import dataclass
from functools import partial

import gradio as gr
import numpy as np

from demos.bert.attention.contributions import CONTRIBUTION, Measured, contributions, measured
from demos.bert.attention.head_profiles import habit_sentences
from demos.bert.attention.patterns import PATTERNS, is_punctuation
from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.encoding import Encoding
from demos.counting import counted
from demos.figures.download_names import attention_json, file_name
from demos.lessons.attention.heads.figure_standalone import Standalone
from demos.page.lesson import IN_BROWSER
from demos.page.view import Layout, On, measure, of_model, options, unlinked
from demos.templates import templates
from demos.widgets.bertviz.frame import bertviz_frame, lines_buttons, lines_choice, wire_frame
from demos.widgets.bertviz.views import VIEWS
from demos.widgets.head_grid.head_grid import OPENED, head_grid, show_in_grid
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row

GRID = "attention-grid"
PAGE = "One HTML file"
LAYER, HEAD = OPENED
SOURCES = [("this sentence", "sentence"), (f"average of {len(habit_sentences())} sentences", "habit")]
TEXT = templates(__file__)


@dataclass(frozen=True)
class HeadChoices:
    """A head, its view, and the search for heads."""

    view: str = options(
        [(view.title, view.name) for view in VIEWS.values()], "head", "View", elem_id="attention-view", min_width=330
    )
    measure: str = measure("lines and scores: its share of the row", "attention-measure")
    pattern: str = options(
        [("all heads", ""), *((pattern.title, pattern.name) for pattern in PATTERNS.values())],
        "",
        "Show all heads, or find the head that best fits a pattern",
        elem_id="attention-pattern",
    )
    layer: int = of_model("num_layers", LAYER, "Layer", elem_id="attention-layer", min_width=170)
    head: int = of_model("num_heads", HEAD, "Head", elem_id="attention-head", min_width=170)
    habit: str = options(SOURCES, "sentence", "Scores from", elem_id="attention-habit")
    lines: str = lines_choice()
    cached: str = unlinked("")  # what the browser has of the frame's drawing
    key: str = unlinked("")  # what the grid is of
    picked: str = unlinked("", redraws=True)  # another with each choice in the frame or the grid


def lay_out_views(at: Layout) -> None:
    """All heads on the left, the open one on the right."""
    for name in ("cached", "key"):
        at[name] = at.hold(name, gr.Textbox("", visible="hidden"))
    with gr.Row(elem_classes="heads-views"):
        with gr.Column(elem_classes="heads-overview", min_width=330):
            look = {"layer": LAYER, "head": HEAD}
            title = "All heads: rows are layers, columns are heads"
            at["grid"] = head_grid(title, elem_id=GRID, elem_classes="picture", look=look)
            at.control("view")
            at.look()
            at.control("measure")
            at.control("pattern")
            at["reading"] = gr.HTML("", elem_classes="attention-caption")
            with at.all_controls(set_elsewhere=True):
                with gr.Row(elem_classes="heads-place"):
                    at.control("layer")
                    at.control("head")
                at.control("habit")
                with takeaway_row("Download the overview:"):
                    picture_buttons(f"#{GRID}", "bert-heads")
        with gr.Column(elem_classes="heads-opened", min_width=330):
            _lay_out_head(at)
    at["averages"] = gr.Textbox("", visible="hidden")
    _wire(at)


def _lay_out_head(at: Layout) -> None:
    """The open head: as lines, as a heatmap, and as files."""
    with gr.Row(elem_classes="attention-views"):
        with gr.Column(elem_id="attention-frame", elem_classes="picture"):
            at["frame"] = bertviz_frame("bertviz: attention as lines between tokens", elem_id="attention-bertviz")
            lines_buttons()
            at["caption"] = gr.HTML("", elem_classes="attention-caption")
        with gr.Column(elem_id="attention-heatmap"):
            at.plot("plot", "The chosen head, from token to token")
            at["said"] = gr.HTML("", elem_classes="attention-told")
            with takeaway_row("Download the heatmap:"):
                place = {name: at.controls[name] for name in ("layer", "head")}
                picture_buttons("#attention-heatmap", "bert-attention-layer{layer}-head{head}", inputs=place)
                file_button(at.page, "JSON", *at.asking(numbers))
    with takeaway_row("Download the view:"):
        at.control("lines")
        at["whole"] = file_button(at.page, PAGE, *at.asking(alone_in_a_file))


def _wire(at: Layout) -> None:
    """A pick in the frame or the grid is written to the controls at once, in the browser."""
    view, layer, head, lines, pattern = (at.controls[name] for name in ("view", "layer", "head", "lines", "pattern"))
    picked = at.hold("picked", gr.Textbox("", visible="hidden"))
    wire_frame(at["frame"], layer, head, lines, at.controls["cached"], picked)
    for event, script in ((at["grid"].select, "fill(place, 0)"), (pattern.input, "aim(place, 0, 2)")):
        event(  # a head picked among all heads is shown alone, so the model view closes
            None,
            [view, layer, head, pattern],
            [view, layer, head, lines, picked],
            js=f"(view, ...place) => [view === 'model' ? 'head' : view, "
            f"...insideBert.grids['{GRID}'].{script}.slice(0, 2), '', String(Date.now())]",
            **IN_BROWSER,
        )
    look = {name: at.controls[name] for name in ("layer", "head", "pattern")}
    look |= {"source": at.controls["habit"], "habits": at["averages"]}
    shown = list(look.values())
    gr.on([seen.change for seen in shown], None, shown, None, js=show_in_grid(GRID, *look), **IN_BROWSER)


def numbers(on: On, c: HeadChoices) -> tuple[str, str]:
    """The file that the button JSON hands out: its name, and the head's weights; by contribution, its norms too."""
    by_norm = c.measure == CONTRIBUTION
    what = "bert-contribution" if by_norm else "bert-attention"
    name = file_name(what, f"layer{counted(c.layer)}", f"head{counted(c.head)}", extension="json")
    lengths = contributions(on.loaded, on.run, c.layer).lengths[c.head] if by_norm else None
    return name, attention_json(on.run, on.loaded.spec.title, c.layer, c.head, lengths)


def alone_in_a_file(on: On, c: HeadChoices) -> tuple[str, str]:
    """The file that shows bertviz's views of this run with no server: its name, and its text."""
    vectors, by = partial(queries_and_keys, on.loaded, on.run), measured(on.loaded, on.run, c.measure)
    text = Standalone(on.run, c.view, c.layer, c.head, vectors, on.loaded.spec.title, c.lines, by).html()
    return file_name("bert-attention", c.view, "view", extension="html"), text


def head_html(chosen: Measured, other: Measured, layer: int, head: int) -> str:
    """A paragraph on a head by the `chosen` measure, with special tokens' share by the `other`; and one on all heads.

    Shares are of the sum of a row, averaged over the rows.
    """
    encoding = chosen.run.encoding
    amounts, shares = chosen.amounts(layer)[head], chosen.shares(layer)[head]
    query, key = (
        {"index": int(index), "text": encoding.tokens[index]}
        for index in np.unravel_index(int(amounts.argmax()), amounts.shape)
    )
    special = np.array(encoding.special_tokens_mask, dtype=bool)
    before, itself, after = (
        float(np.diagonal(shares, offset).mean()) if len(shares) > abs(offset) else 0.0 for offset in (-1, 0, 1)
    )
    return TEXT.head(
        chosen.measure == CONTRIBUTION,
        {"layer": layer, "head": head, "largest": amounts.max(), "query": query, "key": key},
        {"before": before, "itself": itself, "after": after},
        *(float(measured.shares(layer)[head][:, special].sum(axis=1).mean()) for measured in (chosen, other)),
    ) + all_heads_html(*sorted((chosen, other), key=lambda measured: measured.measure == CONTRIBUTION))


def all_heads_html(weights: Measured, norms: Measured) -> str:
    """The share of [CLS] and [SEP], and of punctuation marks, in all heads: by weight, and by contribution."""
    encoding = weights.run.encoding
    marks = np.array(list(map(is_punctuation, encoding.tokens)))
    of_special, of_marks = (
        [mean_share(measured, tokens) for measured in (weights, norms)]
        for tokens in (np.array(encoding.special_tokens_mask, dtype=bool), marks)
    )
    return TEXT.all_heads(of_special, of_marks if marks.any() else None)


def mean_share(by: Measured, tokens: np.ndarray) -> float:
    """The share of these tokens <bool>[n] in a row, averaged over all rows of all heads of all layers."""
    rows = [by.shares(layer)[..., tokens].sum(axis=-1).mean() for layer in range(by.run.num_layers)]
    return float(np.mean(rows))


def title(encoding: Encoding, measure: str, head: str, shown: int) -> str:
    """The title of the table of `head`, which has the first `shown` tokens."""
    what = "Norms of the contributions in" if measure == CONTRIBUTION else "Attention weights of"
    cut = f", the first {shown} of {len(encoding)} tokens" if shown < len(encoding) else ""
    return f"{what} {head}{cut}"
