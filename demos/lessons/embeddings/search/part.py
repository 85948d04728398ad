"""Search: the sentences nearest in meaning to a query, by two choices of vectors and by a word search."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import gradio as gr

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Keywords, Precision, precision_at
from demos.bert.embeddings.similarity import cosine, cosine_matrix
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosine_heatmap import choice_name
from demos.lessons.embeddings.search.by_token import by_token_fold, wire_by_token
from demos.lessons.embeddings.search.figure import (
    KEYWORDS,
    SHOWN,
    Searched,
    hits_html,
    numbers_html,
    results_html,
    search_code,
)  # fmt: skip
from demos.page.examples import examples_of, fill_from
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part
from demos.page.progress import HEAVY, relayed
from demos.templates import templates
from demos.training.data.lists import MAX_LINES, Listed, load_list, our_library, read_lines
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.pooling_menus.pooling_menus import layer_menu, pooling_menus, read_two

TEXT = templates(__file__)
LIBRARY, OWN = "library", "own"
QUERY = "How do I bake bread without yeast?"
QUERIES = [
    QUERY,
    "Where can I see the rings of a planet?",
    "My head hurts and I feel sick.",
    "The striker scored twice.",
    "It is pouring, take your raincoat.",
    "My laptop is slow, what can I do?",
]
REMEMBERED = 2**20  # characters; how well a longer list is searched is computed each time, so that caches stay small


def listed_by(source: str, file: str | None, pasted: str) -> Listed | None:
    """The sentences to search: the library's, a file's, or those pasted; None before there are any of one's own.

    Raises UserError as `load_list` and `read_lines` do.
    """
    if source == LIBRARY:
        return our_library()
    if file:
        return load_list(file)
    return read_lines(pasted) if (pasted or "").strip() else None


def list_and_query(text: str, typed: str, source: str, file: str | None, pasted: str) -> tuple[Listed | None, str]:
    """The list, as `listed_by` gives it, and the query: what was typed, or the bar's text.

    Raises UserError where there is a list but nothing to search for, and as `listed_by` does.
    """
    listed = listed_by(source, file, pasted)
    wanted = " ".join(clean_text(typed if (typed or "").strip() else text or "", "The query").split())
    if listed is not None and not wanted:
        raise UserError("There is nothing to search for; write a query.")
    return listed, wanted


def remembered(cached: Any, listed: Listed) -> Any:
    """The cached function for a list of up to REMEMBERED characters, for a longer one the function without its cache.

    A cache keeps the list that it is asked about, so its size is bounded by this.
    """
    return cached if sum(map(len, listed.sentences)) <= REMEMBERED else cached.__wrapped__


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    with gr.Row(elem_classes="search-ask"):
        query = gr.Textbox(
            QUERY, label="Search for (if empty: the sentence above)", lines=1, max_lines=3, scale=4, min_width=320,
            elem_id="search-query",
        )  # fmt: skip
        example = examples_of(QUERIES, label="Example query", scale=2, min_width=200)
    rankings = gr.HTML(elem_id="search-found", elem_classes="picture")
    status = gr.HTML("", elem_id="search-status", elem_classes="said")
    with gr.Row(elem_classes="search-menus"):
        menus: list[gr.Component] = []
        for letter, pooling in (("A", "cls"), ("B", "mean")):
            with gr.Column(min_width=320, elem_classes="choice"):
                menus += pooling_menus(services, letter, pooling, render_layer=False)
        with gr.Column(min_width=320, elem_classes="choice"):
            gr.HTML(TEXT.words(), elem_classes="said")
    with all_controls(page, __file__):
        with gr.Row():
            sources = [(f"{len(our_library().sentences)} sentences of this app", LIBRARY), ("your own", OWN)]
            source = gr.Radio(sources, value=LIBRARY, label="Search in", elem_id="search-source")
            for layer in menus[1::2]:
                layer.render()
        with gr.Row(visible=False) as own:
            kinds = f"TXT (one sentence per line), CSV, Excel or JSON; up to {MAX_LINES:,} sentences"
            file = file_picker(kinds, height=120, elem_id="search-file")
            pasted = gr.Textbox(
                "", label="Or paste sentences, one per line", lines=4, max_lines=8, elem_id="search-pasted"
            )
    summary = gr.HTML(elem_classes="said")
    gr.HTML(TEXT.engines(), elem_classes="said", elem_id="search-engines")
    by_token = by_token_fold(page)
    searched = gr.Textbox("nothing", visible="hidden")  # names the list and query searched last; the fold follows it
    numbers, code = folds(__file__, "Prints the lists “B” and “Words”, with transformers and scikit-learn")

    @lru_cache(maxsize=16)
    def score_of(listed: Listed, model: str, choice: Choice) -> Precision:
        """The precision of a choice on the list, independent of the query; computed once for all readers."""
        (rows,) = services.vectors.get(services.loaded(model), listed.sentences, [choice])
        return precision_at(cosine_matrix(rows), listed.topics, SHOWN)

    @lru_cache(maxsize=4)
    def keywords_of(listed: Listed) -> tuple[Keywords, Precision | None]:
        """The words of the list, and the precision of a word search if the list has topics."""
        keywords = Keywords(listed.sentences)
        return keywords, precision_at(keywords.matrix(), listed.topics, SHOWN, above=0) if listed.topics else None

    def show(
        text: str, pair: str, model: str, typed: str, where: str, path: str | None, lines: str, *chosen: str
    ) -> Iterator[dict[gr.Component, Any]]:
        ready: dict[gr.Component, Any] = {status: "", own: gr.update(visible=where == OWN)}
        try:
            loaded = services.loaded(model)
            choices = read_two(loaded, chosen)
            ready |= {menu: layer_menu(loaded, layer) for menu, layer in zip(menus[1::2], chosen[1::2], strict=True)}
            listed, wanted = list_and_query(text, typed, where, path, lines)
            ready[searched] = str(hash((listed, wanted, model)))
            if listed is None:
                yield ready | {status: TEXT.awaited(), rankings: "", summary: "", numbers: ""}
                return
            steps = services.vectors.steps(loaded, listed.sentences, choices)
            vectors = yield from relayed(steps, lambda step: {status: TEXT.progress(step)})
            lists = []
            queries = services.vectors.get(loaded, [wanted], choices)
            for letter, choice, rows, vector in zip("AB", choices, vectors, queries, strict=True):
                name = choice_name(choice, loaded.model.config.num_hidden_layers)
                score = remembered(score_of, listed)(listed, model, choice) if listed.topics else None
                lists.append(Searched(letter, name, cosine(vector, rows), precision=score))
        except UserError:  # no line of progress may stay, and the list of one's own must be in reach
            yield {status: "", own: ready[own]}
            raise
        keywords, score = remembered(keywords_of, listed)(listed)
        lists.append(Searched("words", KEYWORDS, keywords.scores(wanted), 0.0, score))
        shared = keywords.shared(wanted, listed.sentences)
        yield ready | {
            status: TEXT.read_as(listed.read_as.note) if where == OWN and listed.read_as else "",
            rankings: hits_html(lists, listed.sentences, listed.topics, shared),
            summary: results_html(wanted, lists, listed.sentences, shared),
            numbers: numbers_html(lists, listed.sentences, listed.topics),
            code: search_code(loaded.spec, wanted, choices[1], where == LIBRARY),
        }

    moved = [query.change, source.input, file.change, pasted.change, *[menu.input for menu in menus]]
    inputs = [*page.sentence, query, source, file, pasted, *menus]
    filled = [status, rankings, summary, numbers, code, own, *menus[1::2], searched]
    page.on(
        [page.settled.change, *moved], show, inputs, filled, own_text=query, trigger_mode="always_last",
        show_progress="hidden", **HEAVY,
    )  # fmt: skip
    wire_by_token(page, by_token, searched, list_and_query, [query, source, file, pasted])
    fill_from(example, [query], {text: [text] for text in QUERIES})
    page.keep(search_query=query)
    page.keep(search_a=menus[0], search_layer_a=menus[1], search_b=menus[2], search_layer_b=menus[3])


PART = Part(
    tab="Search",
    look="The query and all sentences are turned into vectors, and the nearest sentences come first. Look at the "
    "differences between A and B, and at results that share no word with the query.",
    build=build,
    order=3,
)
