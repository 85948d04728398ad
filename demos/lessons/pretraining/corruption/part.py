"""Corrupt the text: 15% of a text's tokens are chosen, then masked, replaced or kept; the loss of each prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.model.encoding import Encoding, encode
from demos.bert.pretraining.corruption import Corruption, Shares, corrupt, never_chosen
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
from demos.lessons.pretraining.wiring import SEEDS, count_on, text_of
from demos.page.folds import all_controls, folds
from demos.page.guards import notice_html
from demos.page.larger_model.larger_model import small_model_html
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.seed_box.seed_box import seed_box

OPENING = (
    "The old lighthouse stands at the end of the harbour. Every evening the keeper climbs the narrow stairs, "
    "lights the lamp and looks out over the sea. When the fog comes in from the north, the ships wait until they "
    "see the light, and the children in the village hear the horn through the night."
)
SEED = 34  # all three kinds at once
MANY = (100, 1_000)  # draws


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


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    with gr.Row(elem_classes="corruption-top"):
        with gr.Column(elem_classes="corruption-picture", min_width=320):
            picture = gr.HTML("", elem_id="corruption-picture", elem_classes="picture")
        with gr.Column(elem_classes="corruption-controls", min_width=300):
            with gr.Row(elem_classes="corruption-seed"):
                again = gr.Button("Draw again", variant="primary", min_width=130, elem_id="corruption-again")
                seed = seed_box(SEED, min_width=90, elem_id="corruption-seed")
            legend = gr.HTML("", elem_id="corruption-legend")
            page.show_look()
            with all_controls(page, __file__):
                chosen = gr.Slider(1, 60, 15, step=1, label="Chosen tokens, %", elem_id="corruption-chosen")
                masked = gr.Slider(0, 100, 80, step=1, label="■ Masked, % of these", elem_id="corruption-masked")
                replaced = gr.Slider(
                    0, 100, 10, step=1, label="◆ Random word, % of these", elem_id="corruption-replaced"
                )
                rest = gr.HTML("", elem_id="corruption-rest")
                distribution = gr.Radio(
                    [("uniformly", UNIFORM), ("by frequency", UNIGRAM)],
                    value=UNIFORM,
                    label="◆ Random words are drawn",
                    elem_id="corruption-random",
                )
                whole = gr.Checkbox(
                    False, label="Whole words: choose all pieces of a word or none", elem_id="corruption-whole"
                )
    label = "Text (if empty: the sentence at the top of the page)"
    text = gr.Textbox(OPENING, label=label, lines=2, max_lines=6, elem_id="corruption-text")
    with gr.Row(elem_classes="corruption-losses"):
        with gr.Column(scale=3, min_width=320):
            answers = gr.HTML("", elem_id="corruption-answers")
        with gr.Column(scale=2, min_width=300):
            gr.HTML(TEXT.why(), elem_classes="corruption-why")
            random_words = gr.HTML("", elem_classes="corruption-why", elem_id="corruption-random-words")
    with gr.Row(elem_classes="corruption-many"):
        gr.HTML(TEXT.many_heading(), elem_classes="corruption-heading")
        draws = gr.Radio(
            [(f"{count:,} draws", count) for count in MANY], value=MANY[0], label="Draws", show_label=False,
            container=False, elem_id="corruption-draws",
        )  # fmt: skip
    with gr.Row():
        with gr.Column(min_width=320):
            gr.HTML(TEXT.shares_caption(), elem_classes="corruption-told")
            shares = gr.Plot(show_label=False, label="Shares of the three kinds", elem_id="corruption-shares")
        with gr.Column(min_width=320):
            gr.HTML(TEXT.places_caption(), elem_classes="corruption-told")
            places = gr.Plot(show_label=False, label="How often each position is chosen", elem_id="corruption-places")
    summary = gr.HTML("", elem_classes="corruption-told", elem_id="corruption-said")
    numbers, code = folds(__file__, "Repeats this draw and prints its losses")

    choices = [text, seed, chosen, masked, replaced, whole, distribution]
    page.keep(corrupt_text=text, corrupt_seed=seed)
    page.keep(chosen=chosen, masked=masked, replaced=replaced, whole=whole, draws=draws, random_words=distribution)
    count_on(again, seed, SEEDS)
    moved = [text.change, seed.change, *(choice.input for choice in choices[2:])]
    outputs_of_a_draw = {
        "picture": picture,
        "legend": legend,
        "replaced": replaced,
        "rest": rest,
        "answers": answers,
        "code": code,
    }
    outputs_of_a_draw["random_words"] = random_words
    outputs_of_many = {"shares": shares, "places": places, "said": summary, "numbers": numbers}
    for outputs, show, inputs, triggers in (
        (outputs_of_a_draw, drawn_once, choices, moved),
        (outputs_of_many, drawn_often, [*choices, draws], [*moved, draws.input]),
    ):
        handler = by_component(outputs, partial(show, page.services))
        page.draw(handler, inputs, list(outputs.values()), triggers=triggers, show_progress="hidden", own_text=text)


def setup(
    services: Services,
    sentence: Sentence,
    text: str,
    seed: Any,
    chosen: Any,
    masked: Any,
    replaced: Any,
    whole: Any,
    distribution: Any = UNIFORM,
) -> Setup:
    """`text`, or the bar's sentence where that is empty, and the rest as the controls stand.

    Percentages become shares, within bounds; what is masked leaves the rest to be replaced.
    """
    tokenizer = services.store.tokenizer(services.key(sentence.model))
    encoding = encode(tokenizer, text_of(sentence, text))
    mask = _share(masked, 80)
    shares = Shares(max(_share(chosen, 15), 0.01), mask, min(_share(replaced, 10), round(1 - mask, 4)))
    special = never_chosen(tokenizer, encoding.input_ids)
    unigrams = project_unigrams(tokenizer) if distribution == UNIGRAM else None
    return Setup(tokenizer, encoding, special, clamp(seed, SEEDS), shares, bool(whole), unigrams)


def _share(percent: Any, otherwise: float) -> float:
    return round(min(max(float(otherwise if percent is None else percent), 0), 100)) / 100


def drawn_once(services: Services, sentence: Sentence, *form_values: Any) -> dict[str, Any]:
    """The picture, the legend, the kept share, the losses and the program; also the third slider if it must change."""
    drawn = setup(services, sentence, *form_values)
    encoding, shares = drawn.encoding, drawn.shares
    corruption = drawn.corrupted(drawn.generator())
    ids = corruption.input_ids.tolist()
    read = drawn.tokenizer.convert_ids_to_tokens(ids)

    @cache
    def guesses() -> dict[int, Distribution]:
        """By place. Raises UserError for a model without heads."""
        pretrained = services.pretrained(sentence.model)
        (hidden,) = states(pretrained.encoder, [replace(encoding, tokens=tuple(read), input_ids=tuple(ids))])[0]
        places = corruption.chosen
        truths = corruption.labels[places].tolist()
        each = distributions(pretrained.word_logits, drawn.tokenizer, hidden[places].numpy(), 1, truths)
        return dict(zip(places.tolist(), each, strict=True))

    def picture() -> str:
        try:
            return picture_html(encoding, corruption, read, guesses())
        except UserError:  # the corruption is worth showing all the same
            return picture_html(encoding, corruption, read, {})

    def answers() -> str:
        try:
            pretrained = services.pretrained(sentence.model)
            answered = answers_html(guesses(), corruption, read, drawn.tokenizer.vocab_size)
            return answered + small_model_html(pretrained, services.store.catalogue)
        except UserError as error:
            return notice_html(str(error))

    def program() -> str:
        try:
            spec = services.pretrained(sentence.model).encoder.spec
        except UserError:
            return ""
        return corrupt_code(spec, encoding, drawn.seed, shares, drawn.whole_words, drawn.unigrams is not None)

    shown = {
        "picture": picture,
        "legend": lambda: legend_html(corruption, drawn.special, shares),
        "rest": lambda: rest_html(shares),
        "answers": answers,
        "code": program,
        "random_words": lambda: random_words_html(drawn.tokenizer, drawn.seed, drawn.unigrams is not None),
    }
    slider = round(100 * shares.replaced)
    return shown if form_values[4] == slider else shown | {"replaced": slider}


def drawn_often(services: Services, sentence: Sentence, *form_values: Any) -> dict[str, Any]:
    """The two figures, the same in words, and the table; the first draw is the one in the picture."""
    *controls, draw_count = form_values
    drawn = setup(services, sentence, *controls)
    rng, count = drawn.generator(), int(draw_count) if draw_count in MANY else MANY[0]
    draws = draw_many(lambda: drawn.corrupted(rng), drawn.special, count)

    def said() -> str:
        places_fit = None if drawn.whole_words else fit_places(draws)
        return shares_html(draws, fit_kinds(draws, drawn.shares), places_fit, drawn.whole_words)

    return {
        "shares": lambda: shares_figure(draws, drawn.shares),
        "places": lambda: places_figure(draws, drawn.encoding),
        "said": said,
        "numbers": lambda: numbers_html(draws, drawn.shares, drawn.encoding),
    }


PART = Part(
    tab="Corrupt the text",
    look=(
        "15% of the tokens are chosen: most become [MASK], a few become a random word, and a few stay unchanged. "
        "BERT must predict the original token at every chosen position, and only there. The table shows which "
        "predictions have the largest loss."
    ),
    build=build,
    order=2,
    former="corrupt",
)
