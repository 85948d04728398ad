"""Compare two choices: one vector for a whole sentence, by pooling and layer, two ways side by side."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import gradio as gr
import numpy as np

from demos.bert.embeddings.pooling import Choice, check_choice, pool_run, token_shares
from demos.bert.embeddings.similarity import (
    MAX_SENTENCES,
    as_in_library,
    beyond_library,
    cosine_matrix,
    disagreements,
    sentences_of,
)
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
)
from demos.page.examples import examples_of, fill_from
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, switch, unlinked, words
from demos.widgets.pooling_menus.pooling_menus import layer_choice, layer_limit, pooling_choice, read_two

SIDES = "ab"


@cache
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


@dataclass(frozen=True)
class Pooled:
    """The sentences and their vectors by both choices."""

    sentences: list[str]
    longer: int  # than sentence-transformers reads
    choices: list[Choice]
    vectors: list[np.ndarray]  # of each choice [m, d]
    cosines: list[np.ndarray]  # [m, m]
    from_bar: int  # the first sentences


def pooled(on: On, texts: str, limited: bool, chosen: Sequence[str]) -> Pooled:
    """One vector a sentence for each choice: those of the bar from their runs, the list's from the cache.

    Raises UserError if there are too few sentences, or the model does not have a choice.
    """
    services, loaded = on.services, on.loaded
    sentences, from_bar = with_bar(on.sentence, texts)
    longer = beyond_library(loaded, sentences)
    if limited and longer:
        sentences = as_in_library(loaded, sentences)
    choices = read_two(loaded, chosen)
    for choice in choices:
        check_choice(loaded, choice)
    runs = services.runs.get_many(loaded, [(text, "") for text in sentences[:from_bar]])
    vectors = [np.array([pool_run(loaded, run, choice) for run in runs]) for choice in choices]
    if from_bar < len(sentences):
        listed = services.vectors.get(loaded, sentences[from_bar:], choices)
        vectors = [np.vstack([own, rows]) if from_bar else rows for own, rows in zip(vectors, listed, strict=True)]
    return Pooled(sentences, longer, choices, vectors, [cosine_matrix(rows) for rows in vectors], from_bar)


class Pooling(View):
    tab, order, former = "Compare two choices", 1, "compare"
    look = (
        "Choose two ways of combining the token vectors into one sentence vector, and compare the same sentences "
        "with both. Look at the pair on which the two disagree most (framed), and at the nearest neighbors of each "
        "sentence."
    )

    @dataclass(frozen=True)
    class Choices:
        list: str = words(
            next(iter(example_lists().values())),
            f"Sentences, one per line (at most {MAX_SENTENCES})",
            info="The sentences from the top of the page come first, marked ◆.",
            lines=5,
            max_lines=5,
            elem_id="embeddings-texts",
        )
        limited: bool = switch(
            "Use at most as many tokens as sentence-transformers", visible=False, elem_id="embeddings-limited"
        )
        pooling_a: str = pooling_choice("cls", "A")
        layer_a: str = layer_choice("A")
        pooling_b: str = pooling_choice("mean", "B")
        layer_b: str = layer_choice("B")
        picked: int = unlinked(0, redraws=True)  # the selected sentence

        @property
        def both(self) -> tuple[str, ...]:
            """The menus' answers, for `read_two`."""
            return self.pooling_a, self.layer_a, self.pooling_b, self.layer_b

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="controls-first"):
            with gr.Column(scale=2, min_width=260):
                lists = example_lists()
                example = examples_of([*lists], label="Example list")
                fill_from(example, [at.control("list")], {name: [lines] for name, lines in lists.items()})
                at.hold(
                    "picked",
                    gr.Dropdown(
                        [(f"sentence {number + 1}", number) for number in range(MAX_SENTENCES + 2)],
                        value=0,
                        label="Selected sentence",
                        filterable=False,
                        elem_id="embeddings-picked",
                    ),
                )
                at["counted"] = gr.HTML(elem_classes="said", elem_id="embeddings-pooling-count")
                at.look()
                with at.all_controls():
                    at.control("layer_a")
                    at.control("layer_b")
            with gr.Column(scale=6, min_width=680), gr.Row():
                for side in SIDES:
                    with gr.Column(min_width=320, elem_classes="choice"):
                        place = f"embeddings-pooling-{side}"
                        title = f"Cosine of every two sentences by {side.upper()}"
                        at.plot(f"heatmap_{side}", title, elem_classes="picture", elem_id=place)
                        at.control(f"pooling_{side}")
                        at[f"how_{side}"] = gr.HTML()
                        at[f"tokens_{side}"] = gr.HTML(elem_id=f"{place}-tokens")
        with gr.Row():
            with gr.Column(scale=3, min_width=340, elem_id="embeddings-neighbours"):
                gr.HTML(TEXT.neighbours_heading(), elem_classes="said")
                at["nearest"], at["listed"] = gr.HTML(elem_classes="said"), gr.HTML()
            with gr.Column(scale=2, min_width=340):
                gr.HTML(TEXT.pairs_heading(), elem_classes="said")
                at["compared"] = gr.HTML(elem_classes="said")
                at.control("limited")
                at["widest"] = gr.HTML()
        at.folds("Prints the matrix of B, using only transformers")

    @drawn(
        by=("list", "limited", "pooling_a", "layer_a", "pooling_b", "layer_b"),
        limits=("limited", "layer_a", "layer_b"),
        show_progress="minimal",
    )
    def draw(self, on: On, c: Choices) -> Shown:
        """Both matrices, and the pairs on which they disagree."""
        loaded, of = on.loaded, pooled(on, c.list, c.limited, c.both)
        pairs = disagreements(*of.cosines)
        names = [choice_name(choice, loaded.model.config.num_hidden_layers) for choice in of.choices]
        heatmaps = {
            f"heatmap_{side}": partial(
                cosine_heatmap, cosine, of.sentences, pairs[0], of.from_bar, f"<b>Cosine by {side.upper()}</b>"
            )
            for side, cosine in zip(SIDES, of.cosines, strict=True)
        }
        return {
            **heatmaps,
            "layer_a": layer_limit(loaded, c.layer_a),
            "layer_b": layer_limit(loaded, c.layer_b),
            "compared": lambda: compared_html(pairs, loaded.spec, of.longer, c.limited),
            "limited": limit(visible=bool(of.longer)),
            "widest": lambda: pairs_html(pairs, of.sentences),
            "numbers": lambda: numbers_html(of.vectors, pairs, of.sentences, names),
            "program": lambda: embeddings_code(loaded.spec, of.sentences, of.choices[1]),
        }

    @drawn(
        "counted",
        "how_a",
        "how_b",
        "tokens_a",
        "tokens_b",
        "nearest",
        "listed",
        limits=("picked",),
        show_progress="minimal",
    )
    def draw_selected(self, on: On, c: Choices) -> Shown:
        """The selected sentence: its size; under A and B its pooling and tokens; its nearest sentences."""
        of = pooled(on, c.list, c.limited, c.both)
        index = c.picked if c.picked < len(of.sentences) else 0
        run = on.services.runs.get(on.loaded, of.sentences[index])
        menu = [(f"{number + 1} {short(text, 60)}", number) for number, text in enumerate(of.sentences)]
        shown = {
            "picked": limit(choices=menu, value=index),
            "counted": sentence_html(run.encoding),
        }
        for side, choice in zip(SIDES, of.choices, strict=True):
            shown[f"how_{side}"] = how_html(run.encoding, choice, run.num_layers, run.hidden_states.shape[2])
            shown[f"tokens_{side}"] = pooled_tokens(run.encoding, token_shares(run, choice), index + 1)
        names = [choice_name(choice, run.num_layers) for choice in of.choices]
        shown["nearest"], shown["listed"] = neighbours_html(of.cosines, of.sentences, index, names)
        return shown


def answer(services: Services, sentence: Sentence) -> Answer:
    """n and d of the reader's own input, and its words."""
    _, tokens, width = services.run(sentence).hidden_states.shape
    words = len(f"{sentence.text} {sentence.text_pair}".split())
    return Answer(facts={"words": words, "tokens": tokens, "size": width, "total": f"{tokens * width:,}"})
