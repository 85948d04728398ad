"""The fold of Search that compares the same list token by token, as ColBERT does."""

from collections.abc import Generator

import gradio as gr

from demos.bert.embeddings.token_index import MOST_TEXTS, MOST_TOKENS
from demos.errors import UserError
from demos.page.folds import fold, keep_open
from demos.page.progress import relayed
from demos.page.view import Layout, On, Shown
from demos.templates import templates
from demos.training.data.lists import Listed
from demos.widgets.late_interaction.late_interaction import LONGEST, query_of, searched

TEXT = templates(__file__)
EMPTY: Shown = {"lists": "", "matrix": None, "told": "", "numbers": ""}


def by_token_fold(at: Layout) -> None:
    """The shut fold: both lists, and one sentence as a matrix."""
    with fold(__file__, "tokens", "The same list, token by token (MaxSim)") as shut:
        gr.HTML(TEXT.by_token(MOST_TEXTS, MOST_TOKENS, LONGEST), elem_classes="said")
        at["token_status"] = gr.HTML("", elem_classes="said")
        at["token_lists"] = gr.HTML("", elem_id="search-token-lists")
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_classes="attention-heatmap"):
                at.plot("token_matrix", "Query against sentence", elem_id="search-token-matrix")
            with gr.Column(scale=5, min_width=320):
                at.control("search_place")
                at["token_told"] = gr.HTML("", elem_id="search-token-told", elem_classes="said")
        at["token_numbers"] = gr.HTML("")
    keep_open(at.page, "search_tokens", shut)


def drawn_by_token(on: On, listed: Listed | None, query: str, place: int) -> Generator[Shown]:
    """Both lists, and the sentence at a place as a matrix; nothing before there is a list."""
    shown = EMPTY
    if listed is not None:
        try:
            steps = searched(
                on.services, on.sentence.model, listed, query_of(on.services, on.sentence.model, query), place
            )
            shown = yield from relayed(steps, lambda step: {"token_status": TEXT.progress(step)})
        except UserError:  # no line of progress may stay
            yield {"token_status": ""}
            raise
    yield {"token_status": "", **{f"token_{name}": value for name, value in shown.items()}}
