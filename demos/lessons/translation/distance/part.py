"""Distance: the way between two words in four kinds of networks, and what is left of the gradient at its end."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.translation.bundled import MOST_WORDS, read_sentence
from demos.bert.translation.gradients import factor_per_word, gradient_norms
from demos.bert.translation.paths import path
from demos.bert.translation.translators import TRANSFORMER
from demos.lessons.translation.distance.figure import gradients_code, gradients_figure, ways
from demos.lessons.translation.wiring import english, results
from demos.page.view import Layout, On, Shown, View, drawn, limit, slider
from demos.templates import templates

TEXT = templates(__file__)
KINDS = {"additive": "GRU, attention", "none": "GRU, no attention", TRANSFORMER: "Transformer"}


class Distance(View):
    tab, order, reads_sentence = "Distance", 3, False
    look = (
        "Each drawing shows how the information from two words travels until it meets in one state. Choose a nearer "
        "word: which paths become shorter? The chart shows what is left of the gradient after that distance."
    )

    @dataclass(frozen=True)
    class Choices:
        distance_english: str = english("distance-sentence", scale=3, min_width=200)
        distance_word: int = slider(
            1, MOST_WORDS, 1, "Path from word", buttons=[], elem_id="distance-word", scale=2, min_width=160
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=5, min_width=320):
                at["picture"] = gr.HTML("", elem_id="distance-paths", elem_classes="picture")
                at.look()
            with gr.Column(scale=5, min_width=320):
                with gr.Row():
                    at.control("distance_english")
                    at.control("distance_word")
                at.plot("plot", "Norm of the gradient of the last state by word", elem_id="distance-gradients")
                at["said"] = gr.HTML("", elem_id="distance-said", elem_classes="said")
        at["table"] = gr.HTML("", elem_id="distance-table", elem_classes="said")
        at.folds("The same gradients, with torch alone")

    @drawn(limits=("distance_word",))
    def draw(self, on: On, c: Choices) -> Shown:
        """The ways of an English sentence's last word and of one before it, and the gradients."""
        source = read_sentence(c.distance_english)
        last = len(source) - 1
        at = min(c.distance_word, last) - 1
        gradients = on.services.shared(results)
        norms = {name: gradients(gradient_norms, kind, source) for kind, name in KINDS.items()}
        drawing = ways(len(source), at, last)
        fits = len(source) > 2
        rows = [(name, of[-2], of[at], factor_per_word(of) if fits else None) for name, of in norms.items()]
        longest = [path(panel.network, 0, last).steps for panel in drawing.panels]
        return {
            "picture": TEXT.picture(drawing, source, at, last),
            "plot": gradients_figure(source, norms, at),
            "distance_word": limit(maximum=max(last, 2), value=at + 1),
            "said": TEXT.said(source, at, rows),
            "table": TEXT.table(list(zip(drawing.panels, longest, strict=True)), len(source)),
            "numbers": lambda: TEXT.numbers(source, list(norms), list(norms.values())),
            "program": lambda: gradients_code(source),
        }
