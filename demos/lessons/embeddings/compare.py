"""Two choices: one vector for a whole sentence, by pooling and layer, two ways side by side."""

from __future__ import annotations

import csv
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings import (
    MAX_SENTENCES,
    cosine_matrix,
    disagreements,
    embed,
    project,
    sentences_of,
    token_weights,
)
from demos.bert.models import LoadedModel
from demos.bert.pooling import Choice
from demos.bert.text import clean_text
from demos.errors import UserError
from demos.figures.code import embeddings_code
from demos.figures.embeddings import cosine_heatmap, sentence_map, short
from demos.figures.embeddings_told import (
    choice_name,
    compared_html,
    explained_html,
    numbers_html,
    sentence_html,
    shape_html,
)
from demos.page.assets import read_asset
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part, with_sentence
from demos.page.pooling import layer_menu, pooling_menus, read_choice
from demos.page.services import Sentence, Services


def example_lists() -> dict[str, str]:
    """The lists that come with the lesson, each as lines for the text box."""
    lists: dict[str, list[str]] = {}
    reader = csv.DictReader(read_asset("data/sentences.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in reader:
        lists.setdefault(row["list"], []).append(row["sentence"])
    return {name: "\n".join(lines) for name, lines in lists.items()}


def with_bar(sentence: Sentence, texts: str) -> tuple[list[str], int]:
    """The bar's sentence or two, then the list without repeating them; and how many came from the bar.

    Raises UserError for fewer than two sentences in all.
    """
    written = (clean_text(sentence.text, "The sentence"), clean_text(sentence.text_pair, "The second sentence"))
    bar = [" ".join(text.split()) for text in written if text.strip()]
    sentences = bar + [line for line in sentences_of(texts) if line not in bar]
    if len(sentences) < 2:
        raise UserError("Comparing takes at least two sentences; write one a line.")
    return sentences, len(bar)


def titled(loaded: LoadedModel, choices: list[Choice]) -> list[tuple[str, Choice]]:
    """Each choice behind its letter and name: "A: [CLS], last hidden layer (6)"."""
    deepest = loaded.model.config.num_hidden_layers
    return [(f"{letter}: {choice_name(one, deepest)}", one) for letter, one in zip("AB", choices, strict=True)]


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    lists = example_lists()

    with gr.Row():
        with gr.Column(scale=2, min_width=260):
            example = gr.Dropdown(list(lists), value=None, label="Pick an example list")
            texts = gr.Textbox(
                next(iter(lists.values())),
                label=f"Sentences, one a line (at most {MAX_SENTENCES})",
                info="The sentence bar's own come first, marked ◆.",
                lines=9,
                max_lines=14,
                elem_id="embeddings-texts",
            )
        with gr.Column(scale=6, min_width=680), gr.Row():
            sides = [_side(services, letter, pooling) for letter, pooling in (("A", "cls"), ("B", "mean"))]
    compared = gr.HTML(elem_classes="said")

    gr.HTML("<h3>From token vectors to one vector</h3>", elem_classes="said")
    picked = gr.Dropdown(
        [(f"sentence {i + 1}", i) for i in range(MAX_SENTENCES + 2)],
        value=0,
        label="Sentence in hand",
        filterable=False,
    )
    counted = gr.HTML(elem_classes="said")
    with gr.Row():
        shapes = [_shape() for _ in "AB"]

    gr.HTML("<h3>A map of the sentences</h3>", elem_classes="said")
    dimensions = gr.Radio([("2-D", 2), ("3-D", 3)], value=2, label="Axes of the map (PCA)")
    with gr.Row():
        maps = [_map(letter) for letter in "AB"]

    with gr.Accordion("The numbers", open=False):
        numbers = gr.HTML()
    formula_fold("embeddings-compare")
    with gr.Accordion("The code", open=False):
        gr.Markdown("Choice B with nothing but transformers; run, it prints B's matrix.")
        code = gr.Code(language="python", interactive=False, show_label=False)
    source_fold("embeddings-compare")

    heatmaps = [side[0] for side in sides]
    menus = [component for _, pooling, layer in sides for component in (pooling, layer)]
    layers = [layer for _, _, layer in sides]
    drawn_maps = [component for pair in maps for component in pair]

    def choices_of(loaded: LoadedModel, *chosen: str) -> list[Choice]:
        return [read_choice(loaded, *chosen[:2]), read_choice(loaded, *chosen[2:])]

    def shapes_of(loaded: LoadedModel, sentence: str, choices: list[Choice]) -> list[str]:
        run = services.runs.get(loaded, sentence)
        width = run.hidden_states.shape[2]
        told = [
            shape_html(title, run.encoding, width, choice, token_weights(run, choice))
            for title, choice in titled(loaded, choices)
        ]
        return [sentence_html(run.encoding), *told]

    def maps_of(
        titles: list[str], vectors: list[np.ndarray], sentences: list[str], from_bar: int, axes: int
    ) -> list[Any]:
        shown: list[Any] = []
        for title, rows in zip(titles, vectors, strict=True):
            projection = project(rows, axes)
            shown += [explained_html(title, projection.explained), sentence_map(projection, sentences, from_bar)]
        return shown

    def show_shapes(sentence: Sentence, listed: str, index: int, *chosen: str) -> list[str]:
        loaded = services.loaded(sentence.model)
        sentences, _ = with_bar(sentence, listed)
        return shapes_of(loaded, sentences[min(index, len(sentences) - 1)], choices_of(loaded, *chosen))

    def show_maps(sentence: Sentence, listed: str, axes: int, *chosen: str) -> list[Any]:
        loaded = services.loaded(sentence.model)
        sentences, from_bar = with_bar(sentence, listed)
        choices = choices_of(loaded, *chosen)
        vectors = embed(services.runs, loaded, sentences, choices)
        return maps_of([title for title, _ in titled(loaded, choices)], vectors, sentences, from_bar, axes)

    def show(sentence: Sentence, listed: str, index: int, axes: int, *chosen: str) -> list[Any]:
        loaded = services.loaded(sentence.model)
        sentences, from_bar = with_bar(sentence, listed)
        choices = choices_of(loaded, *chosen)
        vectors = embed(services.runs, loaded, sentences, choices)
        cosines = [cosine_matrix(rows) for rows in vectors]
        pairs = disagreements(*cosines)
        names = [choice_name(choice, loaded.model.config.num_hidden_layers) for choice in choices]
        index = index if index < len(sentences) else 0
        menu = [(f"{i + 1} {short(one, 60)}", i) for i, one in enumerate(sentences)]
        return [
            *[cosine_heatmap(cosine, sentences, pairs[0], from_bar) for cosine in cosines],
            compared_html(pairs, sentences, names, loaded.spec),
            gr.update(choices=menu, value=index),
            *shapes_of(loaded, sentences[index], choices),
            *maps_of([title for title, _ in titled(loaded, choices)], vectors, sentences, from_bar, axes),
            numbers_html(vectors, pairs, sentences, names),
            embeddings_code(loaded.spec, sentences, choices[1]),
            *[layer_menu(loaded, layer) for layer in chosen[1::2]],
        ]

    shaped = [counted, *shapes]
    inputs = [texts, picked, dimensions, *menus]
    page.draw(
        show,
        inputs,
        [*heatmaps, compared, picked, *shaped, *drawn_maps, numbers, code, *layers],
        triggers=[texts.change, *[component.input for component in menus]],
    )
    page.on(
        [picked.input],
        with_sentence(show_shapes),
        [*page.sentence, texts, picked, *menus],
        shaped,
    )
    page.on(
        [dimensions.input],
        with_sentence(show_maps),
        [*page.sentence, texts, dimensions, *menus],
        drawn_maps,
    )
    page.on([example.input], lambda name: lists.get(name, ""), [example], [texts], show_progress="hidden")
    page.keep(
        list=texts, dimensions=dimensions, pooling_a=menus[0], layer_a=menus[1], pooling_b=menus[2], layer_b=menus[3]
    )


def _side(services: Services, letter: str, pooling: str) -> tuple[gr.Plot, gr.Radio, gr.Dropdown]:
    """One of the two choices: its menus and its heatmap."""
    with gr.Column(min_width=320, elem_classes="choice"):
        radio, layer = pooling_menus(services, letter, pooling)
        heatmap = gr.Plot(label=f"Cosine of every two sentences by {letter}", show_label=False)
    return heatmap, radio, layer


def _shape() -> gr.HTML:
    """Where one choice's shapes and tokens go."""
    with gr.Column(min_width=320, elem_classes="choice"):
        return gr.HTML()


def _map(letter: str) -> tuple[gr.HTML, gr.Plot]:
    """Where one choice's map goes."""
    with gr.Column(min_width=320, elem_classes="choice"):
        return gr.HTML(elem_classes="said"), gr.Plot(label=f"Map of the sentences by {letter}", show_label=False)


PART = Part(
    slug="compare",
    tab="Two choices",
    look="Choose two ways to make one vector of a sentence's token vectors, and compare the same sentences under both. "
    "Look where the two disagree (framed).",
    build=build,
)
