"""Encoder, decoder, both: one head's weights under the three masks, and the effect of attending to both sides."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.encoder.masks import MOST, causal, change_last_word, cross_weights, run_causal, writing_cost
from demos.bert.encoder.size import shape_of
from demos.bert.model.encoding import check_length
from demos.errors import UserError
from demos.lessons.encoder.choices import OfHead, OfLayer
from demos.lessons.encoder.masks.figure import TEXT, change_figure, cost_summary, mask_code, mask_figure
from demos.page.guards import notice_html
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, words

WRITTEN = "Her money is on the bank."
NEW = 20  # tokens to be written, in the reckoning of what that costs
PANELS = (
    ("bert", "BERT's weights, no mask: an encoder", "Every token attends to every token."),
    (
        "gpt",
        "BERT's weights with GPT's causal mask (not GPT)",
        "Each token attends only to itself and to earlier tokens; gray cells are masked.",
    ),
    (
        "both",
        "BERT's weights as cross-attention (not a trained Transformer)",
        "Each token of the output text (rows) attends to all tokens of the input text (columns).",
    ),
)


class Masks(View):
    tab, order = "Encoder, decoder, both", 8
    look = (
        "All three pictures use one formula; they differ in which tokens may be attended to. Compare the three. Then "
        "change the last word: which states change in BERT, and which with a causal mask?"
    )

    @dataclass(frozen=True)
    class Choices(OfHead, OfLayer):
        last: str = words("cake", "Replace the last word with", max_lines=1, elem_id="encoder-word")
        written: str = words(
            WRITTEN,
            "Output text for cross-attention (or use the second sentence above)",
            max_lines=2,
            elem_id="encoder-written",
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="encoder-masks"):
            for slug, name, what in PANELS:
                with gr.Column(min_width=340, elem_classes=["attention-heatmap", "encoder-mask", "picture"]):
                    gr.HTML(TEXT.panel(name), elem_classes="encoder-told")
                    at.plot(slug, f"Attention weights: {name}", elem_id=f"encoder-mask-{slug}")
                    gr.HTML(TEXT.look(what), elem_classes="encoder-told")
        with gr.Row():
            with gr.Column(scale=3, min_width=340):
                at.plot("change", "Change of each state with the last word", elem_id="encoder-change")
            with gr.Column(scale=2, min_width=320):
                at.control("last")
                at.control("written")
                at["said"] = gr.HTML("", elem_classes="encoder-told")
        at.folds("Prints this head's weights with the causal mask", numbers=())

    def draw(self, on: On, c: Choices) -> Shown:
        """If the word can't be changed, the masks are still shown."""
        alone = On(on.services, Sentence(on.sentence.text, "", on.sentence.model))
        loaded, encoding, n = alone.loaded, alone.encoding, len(alone.encoding)
        check_length(encoding, MOST)
        output = on.sentence.text_pair or c.written or WRITTEN
        other = on.services.run(Sentence(output, "", on.sentence.model))
        changed: Shown = {}
        try:
            run, decoder, change = change_last_word(loaded, encoding, c.last)
            changed["change"] = change_figure(change)
            summary = TEXT.change(c.last.strip(), change, int(change.both_sides.argmax()) if change.tokens else None)
        except UserError as error:
            run, decoder = alone.run, run_causal(loaded, encoding)
            summary = notice_html(str(error))
        weights, masked = run.attentions[c.layer, c.head], decoder.attentions[c.layer, c.head]
        cross = cross_weights(loaded, run, other, c.layer)[c.head]
        limit = max(float(matrix.max()) for matrix in (weights, masked, cross))
        cost = cost_summary(n, NEW, *writing_cost(shape_of("", loaded.model), n, NEW))
        return {
            "bert": mask_figure(weights, None, encoding, encoding, limit),
            "gpt": mask_figure(masked, causal(n), encoding, encoding, limit),
            "both": mask_figure(cross, None, other.encoding, encoding, limit),
            **changed,
            "said": summary + cost,
            "program": lambda: mask_code(loaded.spec, encoding.text, c.layer, c.head),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of tokens in the input."""
    return Answer(facts={"tokens": len(services.run(sentence).encoding)})
