"""Next sentence: does B follow A? Four inputs side by side, the making of pairs, and the model's accuracy."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.model.encoding import encode
from demos.bert.pretraining.next_sentence import LABELS, next_probabilities
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
from demos.page.folds import all_controls, folds
from demos.page.larger_model.larger_model import small_model_html
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

DRAWS = 10_000  # numbers of draws, from 0
OPENING = 3  # a draw with each kind of chosen token but a kept one
SEEDS = 50


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    reader = Reader(page.services)
    with gr.Row(elem_classes="next-top"):
        with gr.Column(elem_classes="next-shown", min_width=320):
            place = {"elem_id": "pretraining-next_sentence-picture", "elem_classes": ["next-shown", "picture"]}
            with gr.Column(min_width=320, **place):
                answer = gr.HTML("", elem_id="next-answer")
                sequence = gr.HTML("", elem_id="next-sequence")
            with takeaway_row("Download the picture:"):
                picture_buttons("#pretraining-next_sentence-picture", "bert-next-sentence", page)
        with gr.Column(elem_classes="next-controls", min_width=300):
            first = gr.Textbox(FIRST, label="A", max_lines=3, elem_id="next-a")
            second = gr.Textbox(SECOND, label="B", max_lines=3, elem_id="next-b")
            options = [(name, key) for key, name in WAYS.items()]
            put = gr.Radio(options, value="true", label="Use as sentence B", elem_id="next-put")
            page.show_look()
            with all_controls(page, __file__):
                with gr.Row(elem_classes="next-buttons"):
                    another = gr.Button("Another random sentence", size="sm", min_width=120, elem_id="next-another")
                    ours = gr.Button("Another example pair", size="sm", min_width=120, elem_id="next-ours")
                seed = gr.Slider(1, SEEDS, 1, step=1, label="Seed for drawing the test pairs", elem_id="next-seed")
    cases = gr.HTML("", elem_id="next-cases")
    draw = gr.Number(0, precision=0, visible="hidden")
    bar = gr.Textbox("", visible="hidden")  # which pair of the bar's is in both boxes
    page.keep(next_a=first, next_b=second, next_put=put, next_draw=draw, next_bar=bar)
    _making(page, reader)
    _trials(page, reader, seed)
    numbers, code = folds(__file__, "Prints these logits, probabilities and losses")

    outputs = {
        "first": first, "second": second, "bar": bar, "answer": answer, "sequence": sequence, "cases": cases,
        "numbers": numbers, "code": code,
    }  # fmt: skip
    page.draw(
        by_component(outputs, partial(drawn, reader)),
        [first, second, put, draw, bar],
        list(outputs.values()),
        triggers=[choice.change for choice in (first, second, put, draw)],
        show_progress="hidden",
    )
    another.click(
        None,
        [draw],
        [draw, put],
        js=f"(n) => [((n || 0) + 1) % {DRAWS}, 'random']",
        api_visibility="private",
        show_progress="hidden",
    )
    page.on([ours.click], partial(next_pair, reader), [first], [first, second], show_progress="hidden")


def _making(page: Page, reader: Reader) -> None:
    """The fold on the making of the two kinds of instances."""
    with gr.Row(elem_classes="next-heading"):
        gr.HTML(TEXT.made_heading(), min_width=280)
        toss = gr.Button("Draw two other pairs", size="sm", min_width=140, elem_id="next-toss")
    instances = gr.HTML("", elem_id="next-made")
    tossed = gr.Number(OPENING, precision=0, visible="hidden")

    def show(sentence: Sentence, tossed: float) -> str:
        return made(reader, sentence.model, clamp(tossed, DRAWS))

    page.keep(next_tossed=tossed)
    replace(page, reads_sentence=False).draw(show, [tossed], [instances], show_progress="hidden")
    count_on(toss, tossed, DRAWS)


def _trials(page: Page, reader: Reader, seed: gr.Slider) -> None:
    """The trials on our own documents, and why the task was dropped."""
    with gr.Row(elem_classes="next-heading"):
        gr.HTML(TEXT.trials_heading(len(reader.documents)), min_width=280)
        ask = gr.Button("Test the model", size="sm", variant="primary", min_width=140, elem_id="next-ask")
    outputs = {"status": gr.HTML("", elem_id="next-status"), "results": gr.HTML("", elem_id="next-results")}
    gr.HTML(TEXT.why())

    def run_trials(model: str, seed: float) -> Iterator[dict[str, str]]:  # it stops when its reader leaves
        yield from reader.trials(model, 1 + clamp((seed or 1) - 1, SEEDS))

    page.keep(next_seed=seed)
    page.on(
        [ask.click],
        by_component(outputs, run_trials),
        [page.model, seed],
        list(outputs.values()),
        concurrency_id="next-trials",
        concurrency_limit=1,
        trigger_mode="once",
        show_progress="hidden",
    )
    # They were about another model, or other pairs.
    page.forget(list(outputs.values()), [page.model.change, seed.change])


def drawn(
    reader: Reader, sentence: Sentence, first: str, second: str, put: str, draw: float, bar: str
) -> dict[str, Any]:
    """The outputs on A and B; also both boxes and the mark of the bar's pair, if they take a new one."""
    boxes: dict[str, Any] = {}
    taken = bar_mark(sentence)
    if taken and taken != bar:  # the bar's own pair goes into the boxes once; what is typed there then stays
        first, second = sentence.text, sentence.text_pair
        boxes = {"first": first, "second": second, "bar": taken}
    cases = reader.four(sentence.model, first or "", second or "", clamp(draw, DRAWS))
    shown = list(WAYS).index(put) if put in WAYS else 0
    pretrained, catalogue = reader.services.pretrained(sentence.model), reader.services.store.catalogue
    return boxes | {
        "answer": lambda: answer_html(cases[shown]),
        "sequence": lambda: sequence_html(cases[shown].encoding, "The input: A and B as one sequence of tokens"),
        "cases": lambda: gist_html(cases) + cases_html(cases, shown) + small_model_html(pretrained, catalogue),
        "numbers": lambda: numbers_html(cases, shown),
        "code": lambda: next_code(
            pretrained.encoder.spec, [(case.encoding.text, case.encoding.text_pair) for case in cases]
        ),
    }


def bar_mark(sentence: Sentence) -> str:
    """A short mark of the bar's pair, "" where it holds one sentence; it travels in the link with the boxes."""
    if not sentence.text.strip() or not sentence.text_pair.strip():
        return ""
    both = f"{sentence.text}\n{sentence.text_pair}".encode("utf-8", "replace")
    return hashlib.sha256(both).hexdigest()[:8]


def next_pair(reader: Reader, first: str) -> list[str]:
    """Another true pair: the first two sentences of the document behind the one that `first` opens."""
    openings = [sentences[0] for sentences in reader.documents]
    number = openings.index(first) + 1 if first in openings else 0
    return list(reader.documents[number % len(openings)][:2])


def next_endpoint(services: Services) -> Callable[..., dict[str, Any]]:
    """The API's `next_sentence`."""

    def next_sentence(first: str, second: str, model: str = "") -> dict[str, Any]:
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


PART = Part(
    tab="Next sentence",
    look=(
        "Two sentences form one input, and the state of [CLS] is used to predict whether the second follows the "
        "first. Change B, swap the two, or use one twice: does the prediction depend on their order, or only on their "
        "topic?"
    ),
    build=build,
    order=3,
    former="next",
)
