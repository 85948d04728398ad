"""Token by token: a query against every sentence by MaxSim, beside the cosine of mean vectors."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import gradio as gr
import numpy as np

from demos.bert.embeddings.late_interaction import TokenVectors
from demos.bert.model.generators import drained
from demos.bert.model.once_cache import ObjectNumbers, Recent
from demos.bert.model.text import clean_text
from demos.lessons.family.late_interaction.precisions import library_index, library_precisions
from demos.lessons.family.late_interaction.program import max_sim_code
from demos.page.examples import examples_of, fill_from
from demos.page.folds import folds
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.templates import templates
from demos.training.data.lists import our_library
from demos.widgets.late_interaction.figure import SHOWN
from demos.widgets.late_interaction.late_interaction import LONGEST, query_of, searched

TEXT = templates(__file__)
MOST_BYTES = 4 * 2**20  # of the queries that are kept: one of a dozen tokens is 25 kB
QUERY = "Where can I see the rings of a planet?"
QUERIES = [QUERY, "How do I bake bread without yeast?", "My head hurts and I feel sick.", "The striker scored twice."]


def build(page: Page) -> None:
    """The matrix beside the query; both lists under it."""
    parts: dict[str, gr.Component] = {}
    with gr.Row():
        with gr.Column(scale=6, min_width=320, elem_classes="picture attention-heatmap"):
            parts["matrix"] = gr.Plot(label="Query against sentence", show_label=False, elem_id="late-matrix")
        with gr.Column(scale=5, min_width=320):
            query = gr.Textbox(
                QUERY, label="Search for (if empty: the sentence above)", lines=1, max_lines=2, elem_id="late-query"
            )
            example = examples_of(QUERIES, label="Example query")
            place = gr.Slider(
                1, SHOWN, 1, step=1, label="Sentence shown in the matrix (its rank in list B)", elem_id="late-place"
            )
            page.show_look()
            parts["told"] = gr.HTML("", elem_id="late-told", elem_classes="said")
    parts["lists"] = gr.HTML("", elem_id="late-lists")
    gr.HTML(TEXT.compared(), elem_classes="said")
    parts["numbers"], parts["program"] = folds(__file__, "Prints the list of MaxSim, with transformers and torch")
    fill_from(example, [query], {text: [text] for text in QUERIES})
    page.keep(late_query=query, late_place=place)
    page.draw(by_component(parts, partial(drawn, Queries(page.services))), [query, place], list(parts.values()))


class Scored(NamedTuple):
    """A query, and both scores of every sentence."""

    query: TokenVectors
    scores: tuple[np.ndarray, np.ndarray]


class Queries:
    """The latest searches, for all readers: opening another result of a list is not a new search."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._models = ObjectNumbers()
        self._scored: Recent[Scored] = Recent(
            MOST_BYTES,
            lambda scored: scored.query.units.nbytes + sum(score.nbytes for score in scored.scores),
            services.memory,
            "queries",
        )

    def __call__(self, model: str, text: str) -> Scored:
        """Raises UserError where the query has no word."""

        def search(_: Any) -> Scored:
            query = query_of(self.services, model, text)
            return Scored(query, library_index(self.services, model).scores(query))

        return self._scored.make((self._models.of(self.services.loaded(model).model), text), search)


def drawn(queries: Queries, sentence: Sentence, typed: str, place: int) -> dict[str, Any]:
    """Both lists, and one sentence opened. Raises UserError where there is nothing to search for."""
    wanted, model, services = query_text(sentence, typed), sentence.model, queries.services
    precisions, scored = library_precisions(services, model), queries(model, wanted)
    shown = drained(searched(services, model, our_library(), scored.query, place, precisions, scored.scores))
    return shown | {"program": lambda: max_sim_code(services.loaded(model).spec, wanted, SHOWN)}


def query_text(sentence: Sentence, typed: str) -> str:
    """The query: the typed text, or the bar's sentence; at most LONGEST characters of it."""
    text = typed if (typed or "").strip() else sentence.text
    return " ".join(clean_text(text, "The query").split())[:LONGEST]


PART = Part(
    tab="Search by token",
    look="For each token of the query, the most similar token of the sentence is framed, and the framed cosines "
    "are added. Compare the two lists: which sentences rank higher in B?",
    build=build,
    order=5,
)
