"""The stack: the token's path through all layers."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.embeddings.similarity import cosine
from demos.bert.encoder.residual_stream import paths
from demos.lessons.encoder.choices import OfLayer, OfToken
from demos.lessons.encoder.program_input import stack_code
from demos.lessons.encoder.residual_stream.figure import curves_figure, path_figure, path_summary, path_table
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View
from demos.widgets.token_picker.token_picker import pick

TIE = 0.02  # cosines that differ by less are the same


class ResidualStream(View):
    tab, order, former = "The stack", 6, "stack"
    look = (
        "Each layer changes the vector of every token. Follow the chosen token from its embedding (0) to the last "
        "layer: how far its vector moves, and which vectors it becomes similar to. The bars show how much each layer "
        "changes the vector, relative to its length."
    )

    @dataclass(frozen=True)
    class Choices(OfLayer, OfToken):
        pass

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes=["encoder-steps", "encoder-pair"]):
            for name, label in (("path", "Paths of the vectors, projected"), ("curves", "Change from layer to layer")):
                with gr.Column(elem_classes="encoder-half", elem_id=f"encoder-residual_stream-{name}", min_width=320):
                    at.plot(name, label, elem_classes="picture")
        at["told"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-residual_stream-told")
        at.folds("Prints this token's path")

    def draw(self, on: On, c: Choices) -> Shown:
        every, encoding = paths(on.run), on.encoding
        return {
            "told": path_summary(every, encoding, c.token, c.layer),
            "path": path_figure(every, encoding, c.token, c.layer),
            "curves": curves_figure(every, encoding, c.token, c.layer),
            "numbers": lambda: path_table(every, encoding, c.token),
            "program": lambda: stack_code(on.loaded.spec, encoding, c.token),
        }


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The cosines of a token's embedding output with its first and with its last hidden state."""
    run = services.run(sentence)
    at = pick(run.encoding, token)
    first, last = (cosine(run.hidden_states[0], run.hidden_states[layer]) for layer in (1, -1))  # [n] each
    key = "falls" if last[at] < first[at] - TIE else "rises" if last[at] > first[at] + TIE else "same"
    facts = {"piece": run.encoding.tokens[at], "first": first[at], "last": last[at], "layers": run.num_layers}
    return Answer(keys=frozenset({key}), facts=facts | {"mean_first": first.mean(), "mean_last": last.mean()})
