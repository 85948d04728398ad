"""Corrupt the text: 15% of a text's tokens are chosen, then masked, replaced or kept; the loss of each prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.model.encoding import Encoding, encode
from demos.bert.pretraining.corruption import PAPER, Corruption, Shares, corrupt, never_chosen
from demos.bert.pretraining.corruption_counts import draw_many, fit_kinds, fit_places
from demos.bert.pretraining.lens import Distribution, distributions, states
from demos.bert.pretraining.unigrams import UNIFORM, UNIGRAM, Unigrams, project_unigrams
from demos.errors import UserError
from demos.lessons.pretraining.corruption.figure import places_figure, shares_figure
from demos.lessons.pretraining.corruption.text import (
    TEXT,
    answers_html,
    corrupt_code,
    legend_html,
    numbers_html,
    picture_html,
    random_words_html,
    rest_html,
    shares_html,
)
from demos.lessons.pretraining.wiring import SEEDS, count_on, seed_of_draw, text_of
from demos.page.guards import notice_html
from demos.page.larger_model.larger_model import small_model_html
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, slider, switch, words

OPENING = (
    "The old lighthouse stands at the end of the harbour. Every evening the keeper climbs the narrow stairs, "
    "lights the lamp and looks out over the sea. When the fog comes in from the north, the ships wait until they "
    "see the light, and the children in the village hear the horn through the night."
)
SEED = 34  # all three kinds at once
MANY = (100, 1_000)  # draws
OF_A_DRAW = ("corrupt_text", "corrupt_seed", "chosen", "masked", "replaced", "random_words", "whole")


@dataclass(frozen=True)
class Setup:
    """A text and the settings of its corruption."""

    tokenizer: Any
    encoding: Encoding
    special: tuple[int, ...]  # 1 for a token that is never chosen
    seed: int
    shares: Shares
    whole_words: bool
    unigrams: Unigrams | None  # None: random words are drawn uniformly

    @classmethod
    def of(cls, on: On, c: CorruptText.Choices) -> Setup:
        """The choices' own; what is masked leaves the rest to be replaced. Raises UserError for a too long text."""
        tokenizer = on.services.store.tokenizer(on.services.key(on.sentence.model))
        encoding = encode(tokenizer, text_of(on.sentence, c.corrupt_text))
        shares = Shares(c.chosen / 100, c.masked / 100, min(c.replaced, 100 - c.masked) / 100)
        special = never_chosen(tokenizer, encoding.input_ids)
        unigrams = project_unigrams(tokenizer) if c.random_words == UNIGRAM else None
        return cls(tokenizer, encoding, special, c.corrupt_seed, shares, c.whole, unigrams)

    def generator(self) -> np.random.Generator:
        """A fresh generator: its first corruption is the one in the picture."""
        return np.random.default_rng(self.seed)

    def corrupted(self, rng: np.random.Generator) -> Corruption:
        """The next corruption."""
        words = self.encoding.word_index if self.whole_words else None
        return corrupt(
            self.tokenizer,
            self.encoding.input_ids,
            rng,
            self.shares,
            words=words,
            special=self.special,
            unigrams=self.unigrams,
        )


class CorruptText(View):
    tab, order, former = "Corrupt the text", 2, "corrupt"
    look = (
        "15% of the tokens are chosen: most become [MASK], a few become a random word, and a few stay unchanged. "
        "BERT must predict the original token at every chosen position, and only there. The table shows which "
        "predictions have the largest loss."
    )

    @dataclass(frozen=True)
    class Choices:
        corrupt_text: str = words(
            OPENING,
            "Text (if empty: the sentence at the top of the page)",
            lines=2,
            max_lines=6,
            elem_id="corruption-text",
        )
        corrupt_seed: int = seed_of_draw(SEED, "corruption-seed", "Seed", min_width=90)
        chosen: int = slider(1, 60, 15, "Chosen tokens, %", elem_id="corruption-chosen")
        masked: int = slider(0, 100, 80, "■ Masked, % of these", elem_id="corruption-masked")
        replaced: int = slider(0, 100, 10, "◆ Random word, % of these", elem_id="corruption-replaced")
        random_words: str = options(
            [("uniformly", UNIFORM), ("by frequency", UNIGRAM)],
            UNIFORM,
            "◆ Random words are drawn",
            elem_id="corruption-random",
        )
        whole: bool = switch("Whole words: choose all pieces of a word or none", elem_id="corruption-whole")
        draws: int = options(
            [(f"{count:,} draws", count) for count in MANY],
            MANY[0],
            "Draws",
            show_label=False,
            container=False,
            elem_id="corruption-draws",
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="corruption-top"):
            with gr.Column(elem_classes="corruption-picture", min_width=320):
                at["picture"] = gr.HTML("", elem_id="corruption-picture", elem_classes="picture")
            with gr.Column(elem_classes="corruption-controls", min_width=300):
                with gr.Row(elem_classes="corruption-seed"):
                    again = gr.Button("Draw again", variant="primary", min_width=130, elem_id="corruption-again")
                    count_on(again, at.control("corrupt_seed"), SEEDS)
                at["legend"] = gr.HTML("", elem_id="corruption-legend")
                at.look()
                with at.all_controls():
                    for name in ("chosen", "masked", "replaced"):
                        at.control(name)
                    at["rest"] = gr.HTML("", elem_id="corruption-rest")
                    at.control("random_words")
                    at.control("whole")
        at.control("corrupt_text")
        with gr.Row(elem_classes="corruption-losses"):
            with gr.Column(scale=3, min_width=320):
                at["answers"] = gr.HTML("", elem_id="corruption-answers")
            with gr.Column(scale=2, min_width=300):
                gr.HTML(TEXT.why(), elem_classes="corruption-why")
                at["way"] = gr.HTML("", elem_classes="corruption-why", elem_id="corruption-random-words")
        with gr.Row(elem_classes="corruption-many"):
            gr.HTML(TEXT.many_heading(), elem_classes="corruption-heading")
            at.control("draws")
        with gr.Row():
            with gr.Column(min_width=320):
                gr.HTML(TEXT.shares_caption(), elem_classes="corruption-told")
                at.plot("shares", "Shares of the three kinds", elem_id="corruption-shares")
            with gr.Column(min_width=320):
                gr.HTML(TEXT.places_caption(), elem_classes="corruption-told")
                at.plot("places", "How often each position is chosen", elem_id="corruption-places")
        at["said"] = gr.HTML("", elem_classes="corruption-told", elem_id="corruption-said")
        at.folds("Repeats this draw and prints its losses")

    @drawn(by=OF_A_DRAW, limits=("replaced",), own_text="corrupt_text")
    def draw(self, on: On, c: Choices) -> Shown:
        """The picture, the legend, the shares that are left, the losses and the program of one draw."""
        setup = Setup.of(on, c)
        encoding, shares = setup.encoding, setup.shares
        corruption = setup.corrupted(setup.generator())
        ids = corruption.input_ids.tolist()
        read = setup.tokenizer.convert_ids_to_tokens(ids)

        @cache
        def guesses() -> dict[int, Distribution]:
            """By place. Raises UserError for a model without heads."""
            pretrained = on.services.pretrained(on.sentence.model)
            (hidden,) = states(pretrained.encoder, [replace(encoding, tokens=tuple(read), input_ids=tuple(ids))])[0]
            places = corruption.chosen
            truths = corruption.labels[places].tolist()
            each = distributions(pretrained.word_logits, setup.tokenizer, hidden[places].numpy(), 1, truths)
            return dict(zip(places.tolist(), each, strict=True))

        def picture() -> str:
            try:
                return picture_html(encoding, corruption, read, guesses())
            except UserError:  # the corruption is worth showing all the same
                return picture_html(encoding, corruption, read, {})

        def answers() -> str:
            try:
                pretrained = on.services.pretrained(on.sentence.model)
                answered = answers_html(guesses(), corruption, read, setup.tokenizer.vocab_size)
                return answered + small_model_html(pretrained, on.services.store.catalogue)
            except UserError as error:
                return notice_html(str(error))

        def program() -> str:
            try:
                spec = on.services.pretrained(on.sentence.model).encoder.spec
            except UserError:
                return ""
            return corrupt_code(spec, encoding, setup.seed, shares, setup.whole_words, setup.unigrams is not None)

        return {
            "picture": picture,
            "legend": lambda: legend_html(corruption, setup.special, shares),
            "replaced": limit(value=round(100 * shares.replaced)),
            "rest": lambda: rest_html(shares),
            "answers": answers,
            "program": program,
            "way": lambda: random_words_html(setup.tokenizer, setup.seed, setup.unigrams is not None),
        }

    @drawn("shares", "places", "said", "numbers", own_text="corrupt_text")
    def draw_often(self, on: On, c: Choices) -> Shown:
        """The two figures, the same in words, and the table; the first draw is the one in the picture."""
        setup = Setup.of(on, c)
        rng = setup.generator()
        draws = draw_many(lambda: setup.corrupted(rng), setup.special, c.draws)

        def said() -> str:
            places_fit = None if setup.whole_words else fit_places(draws)
            return shares_html(draws, fit_kinds(draws, setup.shares), places_fit, setup.whole_words)

        return {
            "shares": lambda: shares_figure(draws, setup.shares),
            "places": lambda: places_figure(draws, setup.encoding),
            "said": said,
            "numbers": lambda: numbers_html(draws, setup.shares, setup.encoding),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """The numbers of the paper's shares, for the bar's sentence."""
    tokens = len(encode(services.loaded(sentence.model).tokenizer, sentence.text, sentence.text_pair))
    chosen = max(1, round(tokens * PAPER.chosen))
    numbers = [chosen * share for share in PAPER.kinds]
    kinds = dict(zip(("masked", "random", "same"), numbers, strict=True))
    return Answer(facts={"tokens": tokens, "chosen": chosen, **kinds})
