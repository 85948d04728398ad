"""Compare two choices: one vector for a whole sentence, by pooling and layer, two ways side by side."""

from __future__ import annotations

import csv
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.pooling import Choice, check_choice, pool_run, token_shares
from demos.bert.embeddings.similarity import MAX_SENTENCES, beyond_library, cosine_matrix, disagreements, sentences_of
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosine_heatmap import choice_name, cosine_heatmap, short
from demos.figures.program import embeddings_code
from demos.files import read_asset
from demos.lessons.embeddings.pooling.text import (
    TEXT,
    compared_html,
    how_html,
    neighbours_html,
    numbers_html,
    pairs_html,
    pooled_tokens,
    sentence_html,
)  # fmt: skip
from demos.page.examples import examples_of, fill_from
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence, Services
from demos.widgets.pooling_menus.pooling_menus import layer_menu, pooling_menus, read_two


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
        raise UserError("At least two sentences are needed; write one sentence per line.")
    return sentences, len(bar)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    lists = example_lists()

    with gr.Row(elem_classes="controls-first"):
        with gr.Column(scale=2, min_width=260):
            example = examples_of(list(lists), label="Example list")
            texts = gr.Textbox(
                next(iter(lists.values())),
                label=f"Sentences, one per line (at most {MAX_SENTENCES})",
                info="The sentences from the top of the page come first, marked ◆.",
                lines=5,
                max_lines=5,
                elem_id="embeddings-texts",
            )
            picked = gr.Dropdown(
                [(f"sentence {i + 1}", i) for i in range(MAX_SENTENCES + 2)],
                value=0,
                label="Selected sentence",
                filterable=False,
                elem_id="embeddings-picked",
            )
            counted = gr.HTML(elem_classes="said", elem_id="embeddings-pooling-count")
            page.show_look()
            more = gr.Column()
        with gr.Column(scale=6, min_width=680), gr.Row():
            sides = [_side(services, letter, pooling) for letter, pooling in (("A", "cls"), ("B", "mean"))]
    with more, all_controls(page, __file__):
        for *_, layer in sides:
            layer.render()

    with gr.Row():
        with gr.Column(scale=3, min_width=340, elem_id="embeddings-neighbours"):
            gr.HTML(TEXT.neighbours_heading(), elem_classes="said")
            nearest, listed = gr.HTML(elem_classes="said"), gr.HTML()
        with gr.Column(scale=2, min_width=340):
            gr.HTML(TEXT.pairs_heading(), elem_classes="said")
            compared, widest = gr.HTML(elem_classes="said"), gr.HTML()

    numbers, code = folds(__file__, "Prints the matrix of B, using only transformers")

    hows, heatmaps, tokens = ([side[at] for side in sides] for at in range(3))
    menus = [component for side in sides for component in side[3:]]

    def in_hand(
        loaded: LoadedModel, sentences: list[str], index: int, choices: list[Choice], cosines: list[np.ndarray]
    ) -> dict[gr.Component, Any]:
        """The outputs on one sentence: its size; under A and B its pooling and tokens; its nearest sentences."""
        run = services.runs.get(loaded, sentences[index])
        names = [choice_name(choice, run.num_layers) for choice in choices]
        values: dict[gr.Component, Any] = {counted: sentence_html(run.encoding)}
        for choice, how, made_of in zip(choices, hows, tokens, strict=True):
            values[how] = how_html(run.encoding, choice, run.num_layers, run.hidden_states.shape[2])
            values[made_of] = pooled_tokens(run.encoding, token_shares(run, choice), index + 1)
        values[nearest], values[listed] = neighbours_html(cosines, sentences, index, names)
        return values

    def pooled(loaded: LoadedModel, sentences: list[str], from_bar: int, choices: list[Choice]) -> list[np.ndarray]:
        """One vector a sentence for each choice: those of the bar from their runs, the list's from the cache."""
        for choice in choices:
            check_choice(loaded, choice)
        runs = services.runs.get_many(loaded, [(text, "") for text in sentences[:from_bar]])
        vectors = [np.array([pool_run(loaded, run, choice) for run in runs]) for choice in choices]
        if from_bar == len(sentences):
            return vectors
        listed = services.vectors.get(loaded, sentences[from_bar:], choices)
        return [np.vstack([own, rows]) if from_bar else rows for own, rows in zip(vectors, listed, strict=True)]

    def vectors_of(sentence: Sentence, lines: str, *chosen: str) -> tuple[Any, ...]:
        loaded = services.loaded(sentence.model)
        sentences, from_bar = with_bar(sentence, lines)
        choices = read_two(loaded, chosen)
        vectors = pooled(loaded, sentences, from_bar, choices)
        return loaded, sentences, from_bar, choices, vectors, [cosine_matrix(rows) for rows in vectors]

    def show_in_hand(sentence: Sentence, lines: str, index: int, *chosen: str) -> dict[gr.Component, Any]:
        loaded, sentences, _, choices, _, cosines = vectors_of(sentence, lines, *chosen)
        return in_hand(loaded, sentences, min(index, len(sentences) - 1), choices, cosines)

    def show(sentence: Sentence, lines: str, index: int, *chosen: str) -> dict[gr.Component, Any]:
        loaded, sentences, from_bar, choices, vectors, cosines = vectors_of(sentence, lines, *chosen)
        pairs = disagreements(*cosines)
        names = [choice_name(choice, loaded.model.config.num_hidden_layers) for choice in choices]
        index = index if index < len(sentences) else 0
        menu = [(f"{number + 1} {short(text, 60)}", number) for number, text in enumerate(sentences)]
        figures = [
            partial(cosine_heatmap, cosine, sentences, pairs[0], from_bar, f"<b>Cosine by {letter}</b>")
            for letter, cosine in zip("AB", cosines, strict=True)
        ]
        layers = [layer_menu(loaded, layer) for layer in chosen[1::2]]
        selected = cache(lambda: in_hand(loaded, sentences, index, choices, cosines))
        return {
            **dict(zip([*heatmaps, *menus[1::2]], [*figures, *layers], strict=True)),
            compared: lambda: compared_html(pairs, loaded.spec, beyond_library(loaded, sentences)),
            widest: lambda: pairs_html(pairs, sentences),
            picked: gr.update(choices=menu, value=index),
            **{output: partial(lambda output: selected()[output], output) for output in sentence_outputs},
            numbers: lambda: numbers_html(vectors, pairs, sentences, names),
            code: lambda: embeddings_code(loaded.spec, sentences, choices[1]),
        }

    sentence_outputs = [counted, *hows, *tokens, nearest, listed]
    page.draw(
        show,
        [texts, picked, *menus],
        [*heatmaps, compared, widest, picked, *sentence_outputs, numbers, code, *menus[1::2]],
        triggers=[texts.change, *[component.input for component in menus]],
    )
    page.on([picked.input], with_sentence(show_in_hand), [*page.sentence, texts, picked, *menus], sentence_outputs)
    fill_from(example, [texts], {name: [lines] for name, lines in lists.items()})
    page.keep(list=texts, pooling_a=menus[0], layer_a=menus[1], pooling_b=menus[2], layer_b=menus[3])


def _side(services: Services, letter: str, pooling: str) -> tuple[gr.HTML, gr.Plot, gr.HTML, gr.Radio, gr.Dropdown]:
    """One of the two choices: how it makes a vector, its heatmap, the tokens it takes, and its menus.

    The menu of layers is not rendered yet.
    """
    with gr.Column(min_width=320, elem_classes="choice"):
        title = f"Cosine of every two sentences by {letter}"
        place = f"embeddings-pooling-{letter.lower()}"
        heatmap = gr.Plot(label=title, show_label=False, elem_classes="picture", elem_id=place)
        radio, layer = pooling_menus(services, letter, pooling, render_layer=False)
        how = gr.HTML()
        tokens = gr.HTML(elem_id=f"{place}-tokens")
    return how, heatmap, tokens, radio, layer


PART = Part(
    tab="Compare two choices",
    look="Choose two ways of combining the token vectors into one sentence vector, and compare the same sentences "
    "with both. Look at the pair on which the two disagree most (framed), and at the nearest neighbors of each "
    "sentence.",
    build=build,
    order=1,
    former="compare",
)
