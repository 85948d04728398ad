"""A decoder that writes: the distribution over the next word piece, and a text written piece by piece."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.measured import measured
from demos.bert.causal.writing import MOST, Candidate, Method, beginning, looked_up, next_word, write
from demos.bert.decoding.sampling import Sampling
from demos.bert.model.models import nbytes_of
from demos.errors import UserError
from demos.lessons.family.decoder.beams import WIDEST, WIDTH, Searches, searched
from demos.lessons.family.decoder.figure import looked_up_html, model_html, next_html, numbers_html, text_html
from demos.lessons.family.decoder.program import writing_code
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part, by_component
from demos.page.progress import relayed
from demos.page.services import Sentence, Services
from demos.training.form_values import NO_NUMBER
from demos.widgets.seed_box.seed_box import seed_box

SHOWN = 12  # word pieces whose probabilities are drawn
LONGEST = 40  # written at one press, and searched for by a beam
LENGTH = 20  # of a beam's texts, at first
METHODS = [
    ("the likeliest piece (greedy)", "greedy"),
    ("a random piece", "sampling"),
    ("beam search", "beam"),
]


@dataclass(frozen=True)
class Story:
    """The text that a reader has had written after one beginning."""

    text: str = ""
    pieces: tuple[Candidate, ...] = ()

    def after(self, text: str) -> Story:
        """Itself, or an empty one where the beginning is another."""
        return self if self.text == text else Story(text)


def build(page: Page) -> None:
    """The text and the bars beside the choices; the model; the folds."""
    services = page.services
    story = gr.State(Story())
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="decoder-views"):
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            with gr.Column() as parts["stepwise"]:
                parts["text"] = gr.HTML("", elem_id="decoder-text")
                parts["next"] = gr.HTML("", elem_id="decoder-next")
                looked = gr.HTML("", elem_id="decoder-looked")
            with gr.Column(visible=False) as parts["searching"]:
                parts["beams"] = gr.HTML("", elem_id="decoder-beams")
                parts["tree"] = gr.Plot(label="The tree of the beam search", show_label=False, elem_id="decoder-tree")
        with gr.Column(scale=4, min_width=320):
            method = gr.Radio(METHODS, value="greedy", label="How the text is written", elem_id="decoder-method")
            with gr.Row(elem_classes="decoder-buttons") as parts["buttons"]:
                next_button = gr.Button(
                    "Next word piece", variant="primary", size="md", min_width=180, elem_id="decoder-one"
                )
                many = gr.Button(f"Write {LONGEST}", size="md", min_width=70, elem_id="decoder-many")
                stop = gr.Button("Stop", size="md", min_width=70, elem_id="decoder-stop")
                again = gr.Button("Start over", size="md", min_width=70, elem_id="decoder-again")
            word = gr.Textbox(
                "", label="Look up a word", placeholder="fish", max_lines=1, max_length=40, elem_id="decoder-look-up"
            )
            with gr.Column(visible=False) as parts["sizes"]:
                width = gr.Slider(1, WIDEST, value=WIDTH, step=1, label="Width of the beam", elem_id="decoder-width")
                length = gr.Slider(
                    1, LONGEST, value=LENGTH, step=1, label="Word pieces to write", elem_id="decoder-length"
                )
            temperature = gr.Slider(
                0.1, 2, value=1, step=0.05, label="Temperature (random draws)", elem_id="decoder-temperature"
            )
            page.show_look()
            with all_controls(page, __file__), gr.Row():
                top_k = gr.Slider(0, 100, value=0, step=1, label="Top-k (0: all)", elem_id="decoder-top-k")
                top_p = gr.Slider(0.05, 1, value=1, step=0.05, label="Top-p (1: all)", elem_id="decoder-top-p")
                seed = seed_box(1, elem_id="decoder-seed")
            parts["model"] = gr.HTML("", elem_id="decoder-model")
    parts["numbers"], parts["program"] = folds(__file__, "Writes on from this text, with transformers alone")
    choices = [method, temperature, top_k, top_p, seed]
    page.keep(
        method=method, temperature=temperature, top_k=top_k, top_p=top_p, writing_seed=seed, width=width, length=length,
        look_up=word,
    )  # fmt: skip

    search = services.drawings.remembered(partial(searched, services, Searches(services)))  # whatever they have written
    changed = by_component(parts, partial(drawn, services, search))
    page.draw(changed, [story, width, length, *choices], list(parts.values()), show_progress="hidden")
    page.draw(partial(probability_of, services), [story, word], [looked], show_progress="hidden")
    moving = {"story": story} | {name: parts[name] for name in ("text", "next", "numbers")}
    inputs = [*page.sentence, story, *choices]
    line: dict[str, Any] = {"concurrency_id": "decoder", "concurrency_limit": 2, "trigger_mode": "once"}
    outputs = list(moving.values())
    page.on([next_button.click], by_component(moving, partial(written, services, 1)), inputs, outputs, **line)
    writing = page.on([many.click], by_component(moving, partial(written, services, LONGEST)), inputs, outputs, **line)
    page.on([again.click], by_component(moving, partial(written, services, 0)), inputs, outputs, **line)
    for ends in (stop.click, again.click, page.settled.change):
        ends(None, None, None, cancels=[writing], api_visibility="private", show_progress="hidden")


def drawn(
    services: Services, search: Callable[..., dict[str, Any]], sentence: Sentence, story: Story,
    width: Any, length: Any, *choices: Any,
) -> dict[str, Any]:  # fmt: skip
    """All outputs of the part: the text so far, or the results of `search`."""
    method, decoder, beam = read_method(*choices), services.decoder(), choices[0] == "beam"
    parameters = nbytes_of(decoder.encoder.model, decoder.transform, decoder.decoder) // 4
    values = {name: gr.update(visible=beam) for name in ("searching", "sizes")}
    values |= {name: gr.update(visible=not beam) for name in ("stepwise", "buttons")}
    values["model"] = model_html(parameters, decoder.about, measured())
    if beam:
        wide, long = (at_most(value, most) for value, most in ((width, WIDEST), (length, LONGEST)))
        return values | search(sentence.text, wide, long, method)
    code = writing_code(sentence.text, method, LONGEST)
    return values | shown(services, story.after(sentence.text), method) | {"program": code}


def shown(services: Services, story: Story, method: Method) -> dict[str, Any]:
    """The text so far, and the distribution over what follows. Raises UserError for a text that is too long."""
    decoder = services.decoder()
    start = beginning(decoder, story.text)
    ids = [*start, *(piece.guess.token_id for piece in story.pieces)]
    prediction = next_word(decoder, ids, method, SHOWN)
    largest = math.log(decoder.decoder.out_features)
    tokens = decoder.tokenizer.convert_ids_to_tokens(list(start[1:]))
    return {
        "text": text_html(tokens, story.pieces, len(ids) - WINDOW),
        "next": next_html(prediction, method, largest),
        "numbers": numbers_html(prediction, story.pieces),
    }


def probability_of(services: Services, sentence: Sentence, story: Story, word: str) -> str:
    """The probability of a word after the text so far; empty without one. Raises UserError as `looked_up`."""
    if not (word or "").strip():
        return ""
    decoder, now = services.decoder(), story.after(sentence.text)
    start = beginning(decoder, now.text)
    ids = [*start, *(piece.guess.token_id for piece in now.pieces)]
    tokens = decoder.tokenizer.convert_ids_to_tokens(ids[1:])
    return looked_up_html(tokens, looked_up(decoder, ids, word), decoder.decoder.out_features)


def written(
    services: Services, count: int, text: str, _pair: str, _model: str, story: Story, *choices: Any
) -> Iterator[dict[str, Any]]:
    """`count` more word pieces, each shown as it is written; with 0 all that was written goes.

    It stops when its reader leaves. Raises UserError where a choice is out of bounds, or too much is written.
    """
    method, decoder = read_method(*choices), services.decoder()
    now = story.after(text or "") if count else Story(text or "")
    if len(now.pieces) + count > MOST:
        raise UserError(f"{len(now.pieces)} word pieces are written, and the limit is {MOST}. Press “Start over”.")
    ids = [*beginning(decoder, now.text), *(piece.guess.token_id for piece in now.pieces)]

    def stories() -> Generator[Story, None, Story]:
        pieces = now.pieces
        for piece in write(decoder, ids, method, count):
            pieces = (*pieces, piece)
            yield Story(now.text, pieces)
        return Story(now.text, pieces)

    def of(story: Story) -> dict[str, Any]:
        return {"story": story, **shown(services, story, method)}

    yield of((yield from relayed(stories(), of)))


def read_method(method: Any, temperature: Any, top_k: Any, top_p: Any, seed: Any) -> Method:
    """The controls' values. Raises UserError where one is out of bounds."""
    try:
        sampling = Sampling(float(temperature), int(top_k), float(top_p))
        return Method(method == "greedy", sampling, int(seed)).check()
    except (TypeError, ValueError, OverflowError) as error:
        raise error if isinstance(error, UserError) else UserError(NO_NUMBER) from error


def at_most(value: Any, most: int) -> int:
    """A slider's number, brought between 1 and `most`. Raises UserError where it is none."""
    try:
        return min(max(int(value), 1), most)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(NO_NUMBER) from error


PART = Part(
    tab="A decoder that writes",
    look=(
        "The sentence above is the beginning of a text. The bars show how likely each word piece is to come next; one "
        "piece is chosen and appended. Beam search instead keeps several texts and compares their total probabilities."
    ),
    build=build,
    order=0,
)
