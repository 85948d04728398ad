"""Translate, step by step: the weights on the English words, and how one French word is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import gradio as gr
import numpy as np

from demos.bert.attention.matrix_labels import Labels
from demos.bert.translation.bundled import bundled, read_sentence, right
from demos.bert.translation.decoding import LONGEST, Trained, decoder_step, step_at, steps
from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.gru import SPECIAL
from demos.figures.matrix import matrix_table
from demos.lessons.translation.decoding.figure import decoding_code, one_vector_figure
from demos.lessons.translation.figure import alignment_figure, length_figure, shares_by_length
from demos.lessons.translation.wiring import LISTED, english, results, text_of
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, slider
from demos.templates import templates
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

TEXT = templates(__file__)
WITH, WITHOUT = "with attention", "without attention"
KINDS = [("additive (Bahdanau)", "additive"), ("none (one vector for the whole sentence)", "none")]


class Decoding(View):
    tab, order, reads_sentence = "Translate, step by step", 0, False
    look = (
        "Each row is one step of the decoder, which outputs a French word; with attention, the weights show how much "
        "each English word's state counts. Follow the largest weight from row to row, and compare the order of these "
        "English words with their order in the sentence."
    )

    @dataclass(frozen=True)
    class Choices:
        english: str = english("translation-sentence")
        attention: str = options(KINDS, "additive", "Attention", elem_id="translation-attention")
        word: int = slider(1, LONGEST, 5, "French word", buttons=[], elem_id="translation-step")

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=5, min_width=320):
                with gr.Column(elem_id="translation-alignment", elem_classes="picture"):
                    at.plot("plot", "Attention weights of each French word")
                    with takeaway_row("Download the picture:"):
                        picture_buttons("#translation-alignment", "translation-attention")
                at["both"] = gr.HTML("", elem_id="translation-both", elem_classes="said")
            with gr.Column(scale=4, min_width=320):
                for name in ("english", "attention", "word"):
                    at.control(name)
                at.look()
                at["step"] = gr.HTML("", elem_id="translation-one-step")
        with gr.Column():
            gr.HTML(TEXT.length_heading(len(held_out())), elem_classes="said")
            at.plot("lengths", "Share of correct sentences by length")
        at.folds("The same steps, with torch alone")

    @drawn(limits=("word",))
    def draw(self, on: On, c: Choices) -> Shown:
        """An English sentence, one of its French words, and a decoder with or without attention."""
        attends = c.attention != "none"
        trained, source = bundled(c.attention), read_sentence(c.english)
        by_kind = {kind: on.services.shared(results)(steps, kind, source) for _, kind in KINDS}
        written, decoded = by_kind[trained.model.score]
        both = [words[:-1] for words, _ in by_kind.values()]
        pair = next((pair for pair in held_out() if pair.source == source), None)
        weights = decoded.weights[0].numpy()
        at = step_at(c.word, written)
        links = pair.links if pair and pair.target == written[:-1] else ()
        return {
            "plot": alignment_figure(source, written, weights, links, at)
            if attends
            else one_vector_figure(
                source, written, decoded.logits[0].softmax(-1).amax(-1).tolist(), at, decoded.context.shape[-1]
            ),
            "word": limit(maximum=len(written), value=at + 1),
            "step": TEXT.step(decoder_step(trained, source, written, decoded, at)),
            "both": TEXT.both(
                *both,
                pair.target if pair else None,
                attends and bool(links),
                lost() if lost() != " ".join(source[:-1]) else "",
            ),
            "numbers": lambda: numbers(trained, source, written, weights if attends else None),
            "program": lambda: decoding_code(source, trained.model.score, at + 1),
        }

    @drawn("lengths", by=())
    def draw_lengths(self, on: On, c: Choices) -> Shown:
        """The shares of correct sentences by length."""
        return {"lengths": length_figure(*by_length())}


def numbers(trained: Trained, source: Sequence[str], written: Sequence[str], weights: np.ndarray | None) -> str:
    """The weights, where there are any, as a table; the shares by length; and the words that can be typed."""
    lengths, answers = by_length()
    return TEXT.numbers(
        "" if weights is None else matrix_table(weights, labels(written), labels(source), "Attention weights"),
        list(answers),
        list(zip(*(shares_by_length(lengths, of_name) for of_name in answers.values()), strict=True)),
        [word for word in trained.source.words[len(SPECIAL) :] if word != "."],
    )


@cache
def lost() -> str:
    """The longest sentence of the menu that is right with attention and wrong without."""
    rights = zip(held_out()[:LISTED], right("additive"), right("none"), strict=False)
    sentences = [text_of(pair) for pair, with_attention, without in rights if with_attention and not without]
    return max(sentences, key=len, default="")


def labels(words: Sequence[str]) -> Labels:
    """The names of a table's rows or columns."""
    return Labels(tuple(words), (False,) * len(words))


def by_length() -> tuple[list[int], dict[str, tuple[bool, ...]]]:
    """(the lengths of the held-out sentences, whether each translator renders them right)."""
    pairs: tuple[Pair, ...] = held_out()
    return [len(pair.source) for pair in pairs], {WITH: right("additive"), WITHOUT: right("none")}


def answer(services: Services, sentence: Sentence, english: str) -> Answer:
    """The key: whether the largest weights only move forward, or also back."""
    written, decoded = steps(bundled("additive"), read_sentence(str(english or "")))
    most = decoded.weights[0].argmax(-1).tolist()
    back = sum(later < earlier for earlier, later in pairwise(most))
    return Answer(keys=frozenset({"crossed" if back else "diagonal"}), facts={"back": back, "words": len(written) - 1})
