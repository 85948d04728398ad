"""Search: the sentences nearest in meaning to a query, by two choices of vectors and by a word search."""

import json
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Keywords, Precision, precision_at, ranking
from demos.bert.embeddings.similar_tokens import MOST_TOKENS
from demos.bert.embeddings.similarity import cosine, cosine_matrix
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosine_heatmap import choice_name
from demos.lessons.embeddings.search import one_token
from demos.lessons.embeddings.search.by_token import by_token_fold, drawn_by_token
from demos.lessons.embeddings.search.figure import (
    KEYWORDS,
    SHOWN,
    Searched,
    hits_html,
    numbers_html,
    results_html,
    search_code,
)
from demos.page.examples import examples_of, fill_from
from demos.page.lesson import IN_BROWSER
from demos.page.links import Link
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, linked, menu, options, slider, unlinked, words
from demos.templates import templates
from demos.training.data.lists import MAX_LINES, Listed, load_list, our_library, read_lines
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.late_interaction.figure import SHOWN as OPENED
from demos.widgets.pooling_menus.pooling_menus import (
    DEEPEST,
    layer_choice,
    layer_limit,
    pooling_choice,
    read_two,
    state_choice,
)

TEXT = templates(__file__)
LIBRARY, OWN = "library", "own"
SENTENCES, TOKEN = "sentences", "token"
QUERY = "How do I bake bread without yeast?"
QUERIES = [
    QUERY,
    "Where can I see the rings of a planet?",
    "My head hurts and I feel sick.",
    "The striker scored twice.",
    "It is pouring, take your raincoat.",
    "My laptop is slow, what can I do?",
    one_token.QUERY,
]
# An example of the other mode gives way to one that suits this mode; the token is chosen again.
BROUGHT = f"""(by, query) => {{
    const [sentences, token] = [{json.dumps(QUERIES[:-1])}, {json.dumps(one_token.QUERY)}];
    const known = by === {TOKEN!r} ? sentences.includes(query) : query === token;
    return [known ? (by === {TOKEN!r} ? token : sentences[0]) : query, {one_token.CHOSEN}];
}}"""
REMEMBERED = 2**20  # characters; how well a longer list is searched is computed each time, so that caches stay small
FIRST = 3
KEYS = ("none", "some", "some", "all")


def remembered(cached: Any, listed: Listed) -> Any:
    """The cached function for a list of up to REMEMBERED characters, for a longer one the function without its cache.

    A cache keeps each list as a key, so this bounds its size.
    """
    return cached if sum(map(len, listed.sentences)) <= REMEMBERED else cached.__wrapped__


class Scores:
    """The precision of each choice on a list, independent of the query; computed once for all readers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.of_choice = lru_cache(maxsize=16)(self._of_choice)
        self.keywords = lru_cache(maxsize=4)(_keywords)

    def _of_choice(self, listed: Listed, model: str, choice: Choice) -> Precision:
        (rows,) = self.services.vectors.get(self.services.loaded(model), listed.sentences, [choice])
        return precision_at(cosine_matrix(rows), listed.topics, SHOWN)


def _keywords(listed: Listed) -> tuple[Keywords, Precision | None]:
    """The words of the list, and the precision of a word search if the list has topics."""
    keywords = Keywords(listed.sentences)
    return keywords, precision_at(keywords.matrix(), listed.topics, SHOWN, above=0) if listed.topics else None


def progress(step: Encoded) -> Shown:
    """The progress of encoding the list, which the reader may cancel."""
    return {"status": TEXT.progress(step), "cancel": gr.update(visible=True)}


def by_sentences(
    on: On, listed: Listed, query: str, menus: tuple[str, ...], ours: bool
) -> Generator[Shown, None, Shown]:
    """The lists of both choices and of a word search. Raises UserError for a choice that the model does not have."""
    loaded, scores = on.loaded, on.services.shared(Scores)
    choices = read_two(loaded, menus)
    vectors = yield from relayed(on.services.vectors.steps(loaded, listed.sentences, choices), progress)
    lists = []
    queries = on.services.vectors.get(loaded, [query], choices)
    for letter, choice, rows, vector in zip("AB", choices, vectors, queries, strict=True):
        name = choice_name(choice, loaded.model.config.num_hidden_layers)
        score = remembered(scores.of_choice, listed)(listed, on.sentence.model, choice) if listed.topics else None
        lists.append(Searched(letter, name, cosine(vector, rows), precision=score))
    keywords, score = remembered(scores.keywords, listed)(listed)
    lists.append(Searched("words", KEYWORDS, keywords.scores(query), 0.0, score))
    shared = keywords.shared(query, listed.sentences)
    return {
        "rankings": hits_html(lists, listed.sentences, listed.topics, shared),
        "summary": results_html(query, lists, listed.sentences, shared),
        "numbers": lambda: numbers_html(lists, listed.sentences, listed.topics),
        "program": lambda: search_code(loaded.spec, query, choices[1], ours),
    }


class Search(View):
    tab, order = "Search", 3
    look = (
        "The query and all sentences are turned into vectors, and the nearest sentences come first. Compare A and B: "
        "which of their results share a word with the query?"
    )

    @dataclass(frozen=True)
    class Choices:
        search_query: str = linked(
            words(
                QUERY,
                "Search for (if empty: the sentence above)",
                lines=1,
                max_lines=3,
                scale=4,
                min_width=320,
                elem_id="search-query",
            ),
            Link(follows=[("search_by", {TOKEN: one_token.QUERY})]),
        )
        search_by: str = options(
            [("whole sentences", SENTENCES), ("one token of the query", TOKEN)],
            SENTENCES,
            "Compare",
            elem_id="search-by",
        )
        search_token: int = menu(  # all that a link may name; the menu is cut to the query's tokens
            [("chosen automatically", one_token.CHOSEN), *((str(at), at) for at in range(1, MOST_TOKENS))],
            one_token.CHOSEN,
            "Token",
            visible=False,
            elem_id="search-token",
        )
        search_token_a: int = state_choice(1, "Layer A", visible=False, elem_id="search-token-layer-a")
        search_token_b: int = state_choice(DEEPEST, "Layer B", visible=False, elem_id="search-token-layer-b")
        search_a: str = pooling_choice("cls", "A")
        search_layer_a: str = layer_choice("A")
        search_b: str = pooling_choice("mean", "B")
        search_layer_b: str = layer_choice("B")
        search_place: int = slider(
            1, OPENED, 1, "Sentence shown in the matrix (its rank in list B)", elem_id="search-token-place"
        )
        source: str = unlinked(LIBRARY, redraws=True)
        file: str | None = unlinked(None, redraws=True)
        pasted: str = unlinked("", redraws=True)

        def listed(self) -> Listed | None:
            """The sentences to search: ours, a file's, or those pasted; None before there are any of one's own.

            By TOKEN, the sentences of words with several senses are in our list too. Raises UserError as `load_list`
            and `read_lines` do.
            """
            if self.source == LIBRARY:
                return one_token.our_uses() if self.search_by == TOKEN else our_library()
            if self.file:
                return load_list(self.file)
            return read_lines(self.pasted) if (self.pasted or "").strip() else None

        def query(self, text: str) -> str:
            """The typed query, or the bar's `text`. Raises UserError if there is nothing to search for."""
            typed = self.search_query if self.search_query.strip() else text
            query = " ".join(clean_text(typed, "The query").split())
            if not query:
                raise UserError("There is nothing to search for; write a query.")
            return query

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="search-ask"):
            query = at.control("search_query")
            example = examples_of(QUERIES, label="Example query", scale=2, min_width=200)
        fill_from(example, [query], {text: [text] for text in QUERIES})
        at["rankings"] = gr.HTML(elem_id="search-found", elem_classes="picture")
        at["status"] = gr.HTML("", elem_id="search-status", elem_classes="said")
        at["cancel"] = gr.Button("Cancel", size="md", visible=False, elem_id="search-cancel")
        with gr.Row(elem_classes="search-menus"):
            for side in "ab":
                with gr.Column(min_width=320, elem_classes="choice"):
                    at.control(f"search_{side}")
                    at.control(f"search_token_{side}")
            with gr.Column(min_width=320, elem_classes="choice"):
                token = at.control("search_token")
                at["words"] = gr.HTML(TEXT.words(), elem_classes="said")
        with at.all_controls():
            with gr.Row():
                sources = [(f"{len(our_library().sentences)} sentences of this app", LIBRARY), ("your own", OWN)]
                at.hold("source", gr.Radio(sources, value=LIBRARY, label="Search in", elem_id="search-source"))
                by = at.control("search_by")
                at.control("search_layer_a")
                at.control("search_layer_b")
            with gr.Row(visible=False) as own:
                kinds = f"TXT (one sentence per line), CSV, Excel or JSON; up to {MAX_LINES:,} sentences"
                at.hold("file", file_picker(kinds, height=120, elem_id="search-file"))
                paste = "Or paste sentences, one per line"
                at.hold("pasted", gr.Textbox("", label=paste, lines=4, max_lines=8, elem_id="search-pasted"))
        at["own"] = own
        at["summary"] = gr.HTML(elem_classes="said")
        gr.HTML(TEXT.engines(), elem_classes="said", elem_id="search-engines")
        by_token_fold(at)
        at.folds("Prints the lists “B” and “Words”, with transformers and scikit-learn")
        stopped = json.dumps([TEXT.stopped(), gr.update(visible=False)])
        at["cancel"].click(None, None, [at["status"], at["cancel"]], js=f"() => {stopped}", **IN_BROWSER)
        by.input(None, [by, query], [query, token], js=BROUGHT, **IN_BROWSER)

    @drawn(
        by=(
            "search_query", "search_by", "search_token", "search_token_a", "search_token_b", "search_a",
            "search_layer_a", "search_b", "search_layer_b", "source", "file", "pasted",
        ),
        limits=("search_token", "search_token_a", "search_token_b", "search_a", "search_layer_a", "search_b",
                "search_layer_b"),
        own_text="search_query",
        cancel="cancel",
    )  # fmt: skip
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """Yield the model's progress; then the lists, and which controls are visible."""
        is_token, is_own = c.search_by == TOKEN, c.source == OWN
        always: Shown = {"own": gr.update(visible=is_own), "cancel": gr.update(visible=False)}
        try:
            loaded = on.loaded
            ready = always | {
                "words": gr.update(visible=not is_token),
                "search_a": limit(visible=not is_token),
                "search_b": limit(visible=not is_token),
                "search_layer_a": layer_limit(loaded, c.search_layer_a, visible=not is_token),
                "search_layer_b": layer_limit(loaded, c.search_layer_b, visible=not is_token),
                "search_token": limit(visible=is_token),
                "search_token_a": limit(visible=is_token),
                "search_token_b": limit(visible=is_token),
            }
            listed = c.listed()
            if listed is None:
                yield ready | {"status": TEXT.awaited(), "rankings": "", "summary": "", "numbers": ""}
                return
            query = c.query(on.sentence.text)
            if is_token:
                at_layers = (c.search_token_a, c.search_token_b)
                steps = one_token.searched(on.services.layer_tokens, loaded, listed, query, c.search_token, at_layers)
                shown = yield from relayed(steps, progress)
                shown["search_token"] |= ready["search_token"]
            else:
                menus = (c.search_a, c.search_layer_a, c.search_b, c.search_layer_b)
                shown = yield from by_sentences(on, listed, query, menus, c.source == LIBRARY)
        except UserError:  # no line of progress may stay, and the list of one's own must be in reach
            yield always | {"status": ""}
            raise
        read_as = TEXT.read_as(listed.read_as.note) if is_own and listed.read_as else ""
        yield ready | {"status": read_as} | shown

    @drawn(
        "token_status",
        "token_lists",
        "token_matrix",
        "token_told",
        "token_numbers",
        by=("search_query", "search_place", "source", "file", "pasted"),
        own_text="search_query",
    )
    def draw_by_token(self, on: On, c: Choices) -> Generator[Shown]:
        """The same list token by token; nothing before there is a list."""
        listed = c.listed()
        yield from drawn_by_token(on, listed, c.query(on.sentence.text) if listed else "", c.search_place)


def answer(services: Services, sentence: Sentence, search_query: str) -> Answer:
    """The three sentences with the largest cosine, and how many of them have a word of the query that counts."""
    loaded, sentences = services.loaded(sentence.model), our_library().sentences
    query = clean_text(search_query, "The query").strip() or sentence.text
    choice = Choice("mean", loaded.spec.num_layers)
    (library,) = services.vectors.get(loaded, sentences, [choice])
    (query_vector,) = services.vectors.get(loaded, [query], [choice])
    alike = cosine(library, np.broadcast_to(query_vector, library.shape))
    best = ranking(alike)[:FIRST]
    nearest = [sentences[place] for place in best]
    shared = sum(map(bool, Keywords(sentences).shared(query, nearest)))
    facts = {"shared": shared, "first": nearest[0], "cosine": alike[best[0]]}
    return Answer(keys=frozenset({KEYS[shared]}), facts=facts)
