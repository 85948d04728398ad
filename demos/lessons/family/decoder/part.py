"""A decoder that writes: the distribution over the next word piece, and a text written piece by piece."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.measured import measured
from demos.bert.causal.writing import MOST, Candidate, Method, beginning, looked_up, next_word, write
from demos.bert.decoding.sampling import Sampling
from demos.bert.model.models import nbytes_of
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.figures.numbers import with_prefix
from demos.figures.token_chips import token_label
from demos.lessons.family.decoder.beams import WIDEST, WIDTH, Searches, searched
from demos.lessons.family.decoder.figure import (
    TEXT,
    candidates_html,
    looked_up_html,
    next_html,
    search_code,
    text_html,
    writing_code,
)
from demos.page.progress import EventOptions, relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, options, slider, unlinked, words
from demos.widgets.seed_box.seed_box import seed_choice

SHOWN = 12  # word pieces whose probabilities are drawn
LONGEST = 40  # written at one press, and searched for by a beam
LENGTH = 20  # of a beam's texts, at first
METHODS = [
    ("the likeliest piece (greedy)", "greedy"),
    ("a random piece", "sampling"),
    ("beam search", "beam"),
]
SETTINGS = ("method", "temperature", "top_k", "top_p", "writing_seed", "width", "length")  # of what is written


@dataclass(frozen=True)
class Story:
    """The text that a reader has had written after one beginning."""

    text: str = ""
    pieces: tuple[Candidate, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is written; an empty story is drawn the same for all readers."""
        return bool(self.pieces)

    def after(self, text: str) -> Story:
        """Itself, or an empty one where the beginning is another."""
        return self if self.text == text else Story(text)

    def ids(self, decoder: Pretrained) -> list[int]:
        """The token ids that the decoder continues. Raises UserError for a text that is too long."""
        return [*beginning(decoder, self.text), *(piece.guess.token_id for piece in self.pieces)]


class Writing(View):
    tab, order = "A decoder that writes", 0
    look = (
        "The sentence above is the beginning of a text. The bars show how likely each word piece is to come next; one "
        "piece is chosen and appended. Beam search instead keeps several texts and compares the probabilities of the "
        "whole texts."
    )

    @dataclass(frozen=True)
    class Choices:
        method: str = options(METHODS, "greedy", "How the text is written", elem_id="decoder-method")
        look_up: str = words(
            "", "Look up a word", placeholder="fish", max_lines=1, max_length=40, elem_id="decoder-look-up"
        )
        width: int = slider(1, WIDEST, WIDTH, "Width of the beam", elem_id="decoder-width")
        length: int = slider(1, LONGEST, LENGTH, "Word pieces to write", elem_id="decoder-length")
        temperature: float = slider(0.1, 2, 1, "Temperature (random draws)", step=0.05, elem_id="decoder-temperature")
        top_k: int = slider(0, 100, 0, "Top-k (0: all)", elem_id="decoder-top-k")
        top_p: float = slider(0.05, 1, 1, "Top-p (1: all)", step=0.05, elem_id="decoder-top-p")
        writing_seed: int = seed_choice(1, elem_id="decoder-seed")
        story: Story = unlinked(Story(), redraws=True)

        def chosen_by(self) -> Method:
            """The method that chooses each word piece."""
            sampling = Sampling(self.temperature, self.top_k, self.top_p)
            return Method(self.method == "greedy", sampling, self.writing_seed)

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="decoder-views"):
            with gr.Column(scale=6, min_width=320, elem_classes="picture"):
                with gr.Column() as at["stepwise"]:
                    at["text"] = gr.HTML("", elem_id="decoder-text")
                    at["next"] = gr.HTML("", elem_id="decoder-next")
                    at["looked"] = gr.HTML("", elem_id="decoder-looked")
                with gr.Column(visible=False) as at["searching"]:
                    at["beams"] = gr.HTML("", elem_id="decoder-beams")
                    at.plot("tree", "The tree of the beam search", elem_id="decoder-tree")
            with gr.Column(scale=4, min_width=320):
                at.control("method")
                with gr.Row(elem_classes="decoder-buttons") as at["buttons"]:
                    next_button = gr.Button(
                        "Next word piece", variant="primary", size="md", min_width=180, elem_id="decoder-one"
                    )
                    many = gr.Button(f"Write {LONGEST}", size="md", min_width=70, elem_id="decoder-many")
                    stop = gr.Button("Stop", size="md", min_width=70, elem_id="decoder-stop")
                    again = gr.Button("Start over", size="md", min_width=70, elem_id="decoder-again")
                at.control("look_up")
                with gr.Column(visible=False) as at["sizes"]:
                    at.control("width")
                    at.control("length")
                at.control("temperature")
                at.look()
                with at.all_controls(), gr.Row():
                    for name in ("top_k", "top_p", "writing_seed"):
                        at.control(name)
                at["model"] = gr.HTML("", elem_id="decoder-model")
        at.folds("Writes on from this text, with transformers alone")
        moving = {"story": at.hold("story")} | {name: at[name] for name in ("text", "next", "numbers")}
        line: EventOptions = {"concurrency_id": "decoder", "concurrency_limit": 2, "trigger_mode": "once"}
        page = at.page

        def writes(button: gr.Button, count: int) -> Any:
            return at.answers(button.click, partial(written, count), moving, **line)

        writes(next_button, 1)
        writing = writes(many, LONGEST)
        writes(again, 0)
        for ends in (stop.click, again.click, page.settled.change):
            ends(None, None, None, cancels=[writing], api_visibility="private", show_progress="hidden")

    @drawn(by=(*SETTINGS, "story"))
    def draw(self, on: On, c: Choices) -> Shown:
        """The text so far, or what belongs to a search; which of the two is seen."""
        beam, text, services = c.method == "beam", on.sentence.text, on.services
        shown: Shown = {name: gr.update(visible=beam) for name in ("searching", "sizes")}
        shown |= {name: gr.update(visible=not beam) for name in ("stepwise", "buttons")}
        if not beam:
            code = writing_code(text, c.chosen_by(), LONGEST)
            return shown | so_far(services, c.story.after(text), c.chosen_by()) | {"program": code}

        def candidates() -> str:
            result, _ = services.shared(Searches)(text, c.width, c.length)
            return candidates_html(result, services.decoder().tokenizer.convert_ids_to_tokens)

        return shown | {"numbers": candidates, "program": search_code(text, c.width, c.length)}

    @drawn("beams", "tree", by=SETTINGS)
    def draw_search(self, on: On, c: Choices) -> Shown:
        """The results of a search, for all readers alike: none has had them written."""
        return searched(on.services, on.sentence.text, c.width, c.length, c.chosen_by()) if c.method == "beam" else {}

    @drawn("looked", by=("story", "look_up"))
    def draw_looked_up(self, on: On, c: Choices) -> Shown:
        """The probability of a word after the text so far; empty without one. Raises UserError as `looked_up`."""
        if not c.look_up.strip():
            return {"looked": ""}
        decoder = on.services.decoder()
        ids = c.story.after(on.sentence.text).ids(decoder)
        tokens = decoder.tokenizer.convert_ids_to_tokens(ids[1:])
        return {"looked": looked_up_html(tokens, looked_up(decoder, ids, c.look_up), decoder.decoder.out_features)}

    @drawn("model", by=(), reads_sentence=False)
    def draw_model(self, on: On, c: Choices) -> Shown:
        """The model, its training data and its perplexity."""
        decoder = on.services.decoder()
        parameters = nbytes_of(decoder.encoder.model, decoder.transform, decoder.decoder) // 4
        return {
            "model": TEXT.model(with_prefix(parameters, ""), with_prefix(int(decoder.about["tokens"]), ""), measured())
        }


def so_far(services: Services, story: Story, method: Method) -> Shown:
    """The text so far, and the distribution over what follows. Raises UserError for a text that is too long."""
    decoder = services.decoder()
    ids = story.ids(decoder)
    prediction = next_word(decoder, ids, method, SHOWN)
    tokens = decoder.tokenizer.convert_ids_to_tokens(ids[1 : len(ids) - len(story.pieces)])
    return {
        "text": text_html(tokens, story.pieces, len(ids) - WINDOW),
        "next": next_html(prediction, method, math.log(decoder.decoder.out_features)),
        "numbers": TEXT.numbers(prediction, story.pieces, token_label),
    }


def written(count: int, on: On, c: Writing.Choices) -> Generator[Shown]:
    """Writes `count` more word pieces and shows each at once; 0 removes everything written.

    It stops when its reader leaves. Raises UserError if too much is written.
    """
    method, decoder = c.chosen_by(), on.services.decoder()
    now = c.story.after(on.sentence.text) if count else Story(on.sentence.text)
    if len(now.pieces) + count > MOST:
        raise UserError(f"{len(now.pieces)} word pieces are written, and the limit is {MOST}. Press “Start over”.")

    def stories() -> Generator[Story, None, Story]:
        pieces = now.pieces
        for piece in write(decoder, now.ids(decoder), method, count):
            pieces = (*pieces, piece)
            yield Story(now.text, pieces)
        return Story(now.text, pieces)

    def of(story: Story) -> Shown:
        return {"story": story, **so_far(on.services, story, method)}

    yield of((yield from relayed(stories(), of)))


def answer(services: Services, sentence: Sentence) -> Answer:
    """The likeliest next word piece, its probability, and the entropy."""
    decoder = services.decoder()
    prediction = next_word(decoder, beginning(decoder, sentence.text), Method(), 1)
    guess = prediction.chosen.guess
    return Answer(facts={"piece": guess.token, "chance": guess.probability, "entropy": prediction.entropy})
