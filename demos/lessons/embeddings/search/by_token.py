"""The fold of Search that compares the same list token by token, as ColBERT does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.embeddings.token_index import MOST_TEXTS, MOST_TOKENS
from demos.errors import UserError
from demos.page.folds import fold, keep_open
from demos.page.lesson import Page, by_component
from demos.page.progress import HEAVY, relayed
from demos.templates import templates
from demos.training.data.lists import Listed
from demos.widgets.late_interaction.figure import SHOWN
from demos.widgets.late_interaction.late_interaction import LONGEST, query_of, searched

TEXT = templates(__file__)


def by_token_fold(page: Page) -> tuple[gr.Accordion, dict[str, gr.Component], gr.Slider]:
    """The shut fold, what it shows, by name, and its control: the place of the sentence that is opened."""
    parts: dict[str, gr.Component] = {}
    with fold(__file__, "tokens", "The same list, token by token (MaxSim)") as shut:
        gr.HTML(TEXT.by_token(MOST_TEXTS, MOST_TOKENS, LONGEST), elem_classes="said")
        parts["status"] = gr.HTML("", elem_classes="said")
        parts["lists"] = gr.HTML("", elem_id="search-token-lists")
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_classes="attention-heatmap"):
                parts["matrix"] = gr.Plot(
                    label="Query against sentence", show_label=False, elem_id="search-token-matrix"
                )
            with gr.Column(scale=5, min_width=320):
                place = gr.Slider(
                    1,
                    SHOWN,
                    1,
                    step=1,
                    label="Sentence shown in the matrix (its rank in list B)",
                    elem_id="search-token-place",
                )
                parts["told"] = gr.HTML("", elem_id="search-token-told", elem_classes="said")
        parts["numbers"] = gr.HTML("")
    page.keep(search_place=place)
    keep_open(page, "search_tokens", shut)
    return shut, parts, place


def wire_by_token(
    page: Page,
    made: tuple[gr.Accordion, dict[str, gr.Component], gr.Slider],
    done: gr.Component,
    list_and_query: Callable[..., tuple[Listed | None, str]],
    inputs: list[gr.Component],
) -> None:
    """Draw the fold while it is open, whenever `done` says that the lists above have changed.

    `list_and_query` makes the list and the query of the bar's text and `inputs`, as the lists above are made.
    """
    shut, parts, place = made
    inner = page.within(shut, done)
    inner.on(
        [inner.settled.change, place.input],
        by_component(parts, partial(drawn, page, list_and_query)),
        [page.text, page.model, place, *inputs],
        list(parts.values()),
        trigger_mode="always_last",
        show_progress="hidden",
        **HEAVY,
    )


def drawn(
    page: Page,
    list_and_query: Callable[..., tuple[Listed | None, str]],
    text: str,
    model: str,
    place: int,
    *inputs: Any,
) -> Iterator[dict[str, Any]]:
    """Both lists, and one sentence as a matrix; nothing before there is a list."""
    listed, wanted = list_and_query(text, *inputs)
    if listed is None:
        yield {"status": "", "lists": "", "matrix": None, "told": "", "numbers": ""}
        return
    try:
        query = query_of(page.services, model, wanted)
        steps = searched(page.services, model, listed, query, place)
        shown = yield from relayed(steps, lambda step: {"status": TEXT.progress(step)})
    except UserError:  # no line of progress may stay
        yield {"status": ""}
        raise
    yield shown | {"status": ""}
