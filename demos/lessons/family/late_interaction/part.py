"""Token by token: a query against every sentence by MaxSim, beside the cosine of mean vectors."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import gradio as gr
import numpy as np

from demos.bert.embeddings.late_interaction import TokenVectors
from demos.bert.embeddings.search import ranking
from demos.bert.model.generators import drained
from demos.bert.model.once_cache import ObjectNumbers, Recent
from demos.bert.model.text import clean_text
from demos.lessons.family.late_interaction.precisions import library_index, library_precisions
from demos.lessons.family.late_interaction.program import max_sim_code
from demos.page.examples import examples_of, fill_from
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, slider, words
from demos.templates import templates
from demos.training.data.lists import our_library
from demos.widgets.late_interaction.figure import SHOWN
from demos.widgets.late_interaction.late_interaction import LONGEST, query_of, searched

TEXT = templates(__file__)
MOST_BYTES = 4 * 2**20  # of the queries that are kept: one of a dozen tokens is 25 kB
QUERY = "Where can I see the rings of a planet?"
QUERIES = [QUERY, "How do I bake bread without yeast?", "My head hurts and I feel sick.", "The striker scored twice."]


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
        """Raises UserError if the query has no word."""

        def search(_: Any) -> Scored:
            query = query_of(self.services, model, text)
            return Scored(query, library_index(self.services, model).scores(query))

        return self._scored.make((self._models.of(self.services.loaded(model).model), text), search)


def query_text(sentence: Sentence, typed: str) -> str:
    """The query: the typed text, or the bar's sentence; at most LONGEST characters of it."""
    text = typed if (typed or "").strip() else sentence.text
    return " ".join(clean_text(text, "The query").split())[:LONGEST]


class LateInteraction(View):
    tab, order = "Search by token", 5
    look = (
        "For each token of the query, the most similar token of the sentence is framed, and the framed cosines "
        "are added. Compare the two lists: which sentences rank higher in B?"
    )

    @dataclass(frozen=True)
    class Choices:
        late_query: str = words(
            QUERY, "Search for (if empty: the sentence above)", lines=1, max_lines=2, elem_id="late-query"
        )
        late_place: int = slider(1, SHOWN, 1, "Sentence shown in the matrix (its rank in list B)", elem_id="late-place")

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_classes="picture attention-heatmap"):
                at.plot("matrix", "Query against sentence", elem_id="late-matrix")
            with gr.Column(scale=5, min_width=320):
                query = at.control("late_query")
                fill_from(examples_of(QUERIES, label="Example query"), [query], {text: [text] for text in QUERIES})
                at.control("late_place")
                at.look()
                at["told"] = gr.HTML("", elem_id="late-told", elem_classes="said")
        at["lists"] = gr.HTML("", elem_id="late-lists")
        gr.HTML(TEXT.compared(), elem_classes="said")
        at.folds("Prints the list of MaxSim, with transformers and torch")

    @drawn(show_progress="minimal")
    def draw(self, on: On, c: Choices) -> Shown:
        """Both lists, and one sentence opened. Raises UserError if there is nothing to search for."""
        services, model = on.services, on.sentence.model
        wanted = query_text(on.sentence, c.late_query)
        precisions, scored = library_precisions(services, model), services.shared(Queries)(model, wanted)
        steps = searched(services, model, our_library(), scored.query, c.late_place, precisions, scored.scores)
        return drained(steps) | {"program": lambda: max_sim_code(on.loaded.spec, wanted, SHOWN)}


def answer(services: Services, sentence: Sentence, late_query: str) -> Answer:
    """The vectors of the app's sentences, the overlap of the two lists' first ten, and the first of each."""
    sentences = our_library().sentences
    query = query_of(services, sentence.model, query_text(sentence, late_query))
    index = library_index(services, sentence.model)
    by_mean, by_token = map(ranking, index.scores(query))
    shared = len({*by_mean[:SHOWN].tolist()} & {*by_token[:SHOWN].tolist()})
    facts = {"shared": shared, "by_mean": sentences[by_mean[0]], "by_token": sentences[by_token[0]]}
    return Answer(facts=facts | {"sentences": f"{len(sentences):,}", "vectors": f"{index.token_count:,}"})
