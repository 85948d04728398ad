"""Next sentence: does B follow A? Four inputs side by side, the making of pairs, and the model's accuracy."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gradio as gr

from demos.bert.model.encoding import encode
from demos.bert.pretraining.next_sentence import LABELS, next_probabilities
from demos.files import Json
from demos.lessons.pretraining.next_sentence.answers import FIRST, SECOND, WAYS, Reader, check_sentences, made
from demos.lessons.pretraining.next_sentence.figure import (
    TEXT,
    answer_html,
    cases_html,
    gist_html,
    next_code,
    numbers_html,
    sequence_html,
)
from demos.lessons.pretraining.wiring import count_on
from demos.page.larger_model.larger_model import small_model_html
from demos.page.layer_head_choices import clamp
from demos.page.lesson import IN_BROWSER
from demos.page.services import Sentence, Services
from demos.page.view import Control, Layout, On, Shown, View, choice, drawn, index, limit, options, slider, words
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

DRAWS = 10_000  # numbers of draws, from 0
OPENING = 3  # a draw with each kind of chosen token but a kept one
SEEDS = 50


class NextSentence(View):
    tab, order, former = "Next sentence", 3, "next"
    look = (
        "Two sentences form one input, and the state of [CLS] is used to predict whether the second follows the "
        "first. Change B, swap the two, or use one twice: does the prediction depend on their order, or only on their "
        "topic?"
    )

    @dataclass(frozen=True)
    class Choices:
        next_a: str = words(FIRST, "A", max_lines=3, elem_id="next-a")
        next_b: str = words(SECOND, "B", max_lines=3, elem_id="next-b")
        next_put: str = options(
            [(name, key) for key, name in WAYS.items()], "true", "Use as sentence B", by_script=True, elem_id="next-put"
        )
        next_draw: int = index(0, DRAWS)
        next_bar: str = choice(  # which pair of the bar's is in both boxes
            "", Control(lambda _: gr.Textbox("", visible="hidden"), lambda _, said: said or "", redraws=False)
        )
        next_tossed: int = index(OPENING, DRAWS)
        next_seed: int = slider(1, SEEDS, 1, "Seed for drawing the test pairs", elem_id="next-seed")

    def lay_out(self, at: Layout) -> None:
        reader = at.page.services.shared(Reader)
        with gr.Row(elem_classes="next-top"):
            with gr.Column(elem_classes="next-shown", min_width=320):
                place = {"elem_id": "pretraining-next_sentence-picture", "elem_classes": ["next-shown", "picture"]}
                with gr.Column(min_width=320, **place):
                    at["answer"] = gr.HTML("", elem_id="next-answer")
                    at["sequence"] = gr.HTML("", elem_id="next-sequence")
                with takeaway_row("Download the picture:"):
                    picture_buttons("#pretraining-next_sentence-picture", "bert-next-sentence")
            with gr.Column(elem_classes="next-controls", min_width=300):
                first, second, put = (at.control(name) for name in ("next_a", "next_b", "next_put"))
                at.look()
                with at.all_controls():
                    with gr.Row(elem_classes="next-buttons"):
                        another = gr.Button("Another random sentence", size="sm", min_width=120, elem_id="next-another")
                        ours = gr.Button("Another example pair", size="sm", min_width=120, elem_id="next-ours")
                    at.control("next_seed")
        at["cases"] = gr.HTML("", elem_id="next-cases")
        draw, _ = at.control("next_draw"), at.control("next_bar")
        with gr.Row(elem_classes="next-heading"):
            gr.HTML(TEXT.made_heading(), min_width=280)
            toss = gr.Button("Draw two other pairs", size="sm", min_width=140, elem_id="next-toss")
        at["made"] = gr.HTML("", elem_id="next-made")
        count_on(toss, at.control("next_tossed"), DRAWS)
        trials(at, reader)
        at.folds("Prints these logits, probabilities and losses")
        js = f"(number) => [((number || 0) + 1) % {DRAWS}, 'random']"
        another.click(None, [draw], [draw, put], js=js, **IN_BROWSER)
        ours.click(None, [first], [first, second], js=next_pair_js(reader), **IN_BROWSER)

    @drawn(by=("next_a", "next_b", "next_put", "next_draw", "next_bar"), limits=("next_a", "next_b", "next_bar"))
    def draw(self, on: On, c: Choices) -> Shown:
        """The outputs on A and B; also both boxes and the mark of the bar's pair, if they take a new one."""
        reader, first, second = on.services.shared(Reader), c.next_a, c.next_b
        boxes: Shown = {}
        taken = bar_mark(on.sentence)
        if taken and taken != c.next_bar:  # the bar's own pair goes into the boxes once; what is typed there then stays
            first, second = on.sentence.text, on.sentence.text_pair
            boxes = {"next_a": limit(value=first), "next_b": limit(value=second), "next_bar": limit(value=taken)}
        cases, shown = reader.four(on.sentence.model, first, second, c.next_draw), list(WAYS).index(c.next_put)
        pretrained, catalogue = on.services.pretrained(on.sentence.model), on.services.store.catalogue
        return boxes | {
            "answer": lambda: answer_html(cases[shown]),
            "sequence": lambda: sequence_html(cases[shown].encoding, "The input: A and B as one sequence of tokens"),
            "cases": lambda: gist_html(cases) + cases_html(cases, shown) + small_model_html(pretrained, catalogue),
            "numbers": lambda: numbers_html(cases, shown),
            "program": lambda: next_code(
                pretrained.encoder.spec, [(case.encoding.text, case.encoding.text_pair) for case in cases]
            ),
        }

    @drawn("made", by=("next_tossed",), reads_sentence=False)
    def draw_made(self, on: On, c: Choices) -> Shown:
        """The making of the two kinds of instances."""
        return {"made": made(on.services.shared(Reader), on.sentence.model, c.next_tossed)}


def trials(at: Layout, reader: Reader) -> None:
    """The trials on our own documents, and why the task was dropped."""
    page, seed = at.page, at.controls["next_seed"]
    with gr.Row(elem_classes="next-heading"):
        gr.HTML(TEXT.trials_heading(len(reader.documents)), min_width=280)
        ask = gr.Button("Test the model", size="sm", variant="primary", min_width=140, elem_id="next-ask")
    outputs = {"status": gr.HTML("", elem_id="next-status"), "results": gr.HTML("", elem_id="next-results")}
    gr.HTML(TEXT.why())

    def run_trials(model: str, seed: float) -> Iterator[dict[str, str]]:  # it stops when its reader leaves
        yield from reader.trials(model, 1 + clamp((seed or 1) - 1, SEEDS))

    page.on(
        [ask.click],
        run_trials,
        [page.model, seed],
        outputs,
        concurrency_id="next-trials",
        concurrency_limit=1,
        trigger_mode="once",
        show_progress="hidden",
    )
    # They were about another model, or other pairs.
    page.forget(list(outputs.values()), [page.model.change, seed.change])


def next_pair_js(reader: Reader) -> str:
    """Another true pair: the first two sentences of the document behind the one that A opens."""
    pairs = json.dumps([sentences[:2] for sentences in reader.documents])
    return f"(first) => {{ const all = {pairs}; return all[(all.findIndex(([a]) => a === first) + 1) % all.length]; }}"


def bar_mark(sentence: Sentence) -> str:
    """A short mark of the bar's pair, "" where it holds one sentence; it travels in the link with the boxes."""
    if not sentence.text.strip() or not sentence.text_pair.strip():
        return ""
    both = f"{sentence.text}\n{sentence.text_pair}".encode("utf-8", "replace")
    return hashlib.sha256(both).hexdigest()[:8]


def next_endpoint(services: Services) -> Callable[..., Json]:
    """The API's `next_sentence`."""

    def next_sentence(first: str, second: str, model: str = "") -> Json:
        """Whether `second` comes right after `first`, by the model's next-sentence head.

        "tokens" and their "segments"; "logits", "probabilities" and "losses" for the labels "IsNext" and "NotNext".
        Up to 120 tokens each; model is a catalogue key, empty for the default.
        """
        pretrained = services.pretrained(services.key(model))
        check_sentences(pretrained, first, second)
        encoding = encode(pretrained.tokenizer, first, second)
        answers = next_probabilities(pretrained, [(first, second)])
        numbers = {
            name: dict(zip(LABELS, map(float, getattr(answers, name)[0]), strict=True))
            for name in ("logits", "probabilities", "losses")
        }
        return {"tokens": list(encoding.tokens), "segments": list(encoding.token_type_ids)} | numbers

    return next_sentence
