"""Token by token: a query against every sentence by MaxSim, beside the cosine of mean vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.embeddings.late_interaction import interaction
from demos.bert.embeddings.search import ranking
from demos.bert.model.text import clean_text
from demos.lessons.family.late_interaction.figure import (
    SHOWN,
    TEXT,
    interaction_figure,
    lists_html,
    numbers_html,
    told_html,
)
from demos.lessons.family.late_interaction.index import index_of, query_of
from demos.lessons.family.late_interaction.program import max_sim_code
from demos.page.examples import examples_of, fill_from
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.training.data.lists import our_library

QUERY = "Where can I see the rings of a planet?"
QUERIES = [QUERY, "How do I bake bread without yeast?", "My head hurts and I feel sick.", "The striker scored twice."]
NAMES = ("A: one vector per sentence (cosine)", "B: one vector per token (MaxSim)")
LONGEST = 300  # characters of a query


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
            place = gr.Slider(1, SHOWN, 1, step=1, label="Sentence to open: place in list B", elem_id="late-place")
            page.show_look()
            parts["told"] = gr.HTML("", elem_id="late-told", elem_classes="said")
    parts["lists"] = gr.HTML("", elem_id="late-lists")
    gr.HTML(TEXT.compared(), elem_classes="said")
    parts["numbers"], parts["program"] = folds(__file__, "Prints the list of MaxSim, with transformers and torch")
    fill_from(example, [query], {text: [text] for text in QUERIES})
    page.keep(late_query=query, late_place=place)
    page.draw(by_component(parts, partial(drawn, page.services)), [query, place], list(parts.values()))


def drawn(services: Services, sentence: Sentence, typed: str, place: int) -> dict[str, Any]:
    """Both lists, and one sentence opened. Raises UserError where there is nothing to search for."""
    wanted = asked_for(sentence, typed)
    listed, index = our_library(), index_of(services, sentence.model)
    query = query_of(services, sentence.model, wanted)
    by_mean, by_token = index.scores(query)
    opened = int(ranking(by_token)[clamp(place - 1, SHOWN)])
    against = index.tokens[opened]
    found = interaction(query, against)
    return {
        "matrix": interaction_figure(query, against, found),
        "told": told_html(query, listed.sentences[opened], against, found, float(by_mean[opened])),
        "lists": lists_html(
            NAMES,
            (by_mean, by_token),
            (index.by_mean, index.by_token),
            listed.sentences,
            listed.topics,
            (1.0, float(len(query))),
        ),
        "numbers": numbers_html(query, against, found, sum(map(len, index.tokens)), len(index.tokens)),
        "program": max_sim_code(services.loaded(sentence.model).spec, wanted, SHOWN),
    }


def asked_for(sentence: Sentence, typed: str) -> str:
    """The query: what was typed, or the bar's sentence; at most LONGEST characters of it."""
    text = typed if (typed or "").strip() else sentence.text
    return " ".join(clean_text(text, "The query").split())[:LONGEST]


PART = Part(
    tab="Search by token",
    look="For each token of the query, the most similar token of the sentence is framed, and the framed cosines "
    "are added. Compare the two lists: which sentences stand higher in B?",
    build=build,
    order=5,
)
