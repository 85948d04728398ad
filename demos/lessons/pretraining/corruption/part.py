"""The corruption machine: 15 % of a text's tokens chosen, masked, replaced or kept, and what each guess costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from demos.bert.model.encoding import Encoding, encode
from demos.bert.pretraining.corruption import Corruption, corrupt, kind_shares, never_chosen
from demos.bert.pretraining.draws import draw_many, fit_kinds, fit_places
from demos.bert.pretraining.lens import states
from demos.bert.pretraining.losses import Answers, answers
from demos.errors import UserError
from demos.lessons.pretraining.corruption.figure import places_figure, shares_figure
from demos.lessons.pretraining.corruption.layout import MANY, folds, losses, machine, many
from demos.lessons.pretraining.corruption.program import corrupt_code
from demos.lessons.pretraining.corruption.text import (
    answers_html,
    legend_html,
    numbers_html,
    picture_html,
    rest_html,
    shares_html,
)
from demos.lessons.pretraining.program_lines import Settings
from demos.lessons.pretraining.wiring import count_on
from demos.page.lesson import Page, Part, by_component, notice_html
from demos.page.services import Sentence, Services

MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Drawn:
    """One corruption of a text, and what made it."""

    encoding: Encoding
    special: tuple[int, ...]  # 1 for a token that is never chosen
    settings: Settings
    corruption: Corruption


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts = machine() | losses() | many() | folds()
    choices = [parts[name] for name in ("text", "seed", "chosen", "masked", "replaced", "whole")]
    services = page.services
    page.keep(corrupt_text=parts["text"], corrupt_seed=parts["seed"])
    page.keep(**{name: parts[name] for name in ("chosen", "masked", "replaced", "whole", "draws")})
    count_on(parts["again"], parts["seed"], MOST_SEED)
    moved = [parts["text"].change, parts["seed"].change, *(choice.input for choice in choices[2:])]
    page.draw(
        by_component(parts, partial(drawn_once, services)),
        choices,
        [parts[name] for name in ("picture", "legend", "replaced", "rest", "answers", "code")],
        triggers=moved,
        show_progress="hidden",
    )
    page.draw(
        by_component(parts, partial(drawn_often, services)),
        [*choices, parts["draws"]],
        [parts[name] for name in ("shares", "places", "said", "numbers")],
        triggers=[*moved, parts["draws"].input],
        show_progress="hidden",
    )


def draw(services: Services, sentence: Sentence, text: str, *form_values: Any) -> Drawn:
    """The first corruption of `text`, or of the bar's sentence where that is empty; the rest as the controls stand."""
    tokenizer = services.store.tokenizer(services.key(sentence.model))
    encoding = encode(tokenizer, text if (text or "").strip() else sentence.text)
    settings = read_settings(*form_values)
    special = never_chosen(tokenizer, encoding.input_ids)
    rng = np.random.default_rng(settings.seed)
    return Drawn(encoding, special, settings, _corrupt(tokenizer, encoding, special, settings, rng))


def read_settings(seed: Any, chosen: Any, masked: Any, replaced: Any, whole: Any) -> Settings:
    """Percentages as shares, within bounds; what is masked leaves the rest to be replaced."""
    hide = _share(masked, 80)
    return Settings(
        seed=min(max(int(seed or 0), 0), MOST_SEED),
        chosen=max(_share(chosen, 15), 0.01),
        masked=hide,
        replaced=min(_share(replaced, 10), round(1 - hide, 4)),
        whole_words=bool(whole),
    )


def _share(percent: Any, otherwise: float) -> float:
    return round(min(max(float(otherwise if percent is None else percent), 0), 100)) / 100


def _corrupt(
    tokenizer: Any, encoding: Encoding, special: tuple[int, ...], settings: Settings, rng: np.random.Generator
) -> Corruption:
    return corrupt(
        tokenizer,
        encoding.input_ids,
        rng,
        settings.chosen,
        settings.masked,
        settings.replaced,
        words=encoding.word_index if settings.whole_words else None,
        special=special,
    )


def drawn_once(services: Services, sentence: Sentence, *form_values: Any) -> dict[str, Any]:
    """The picture, the legend, what is left, the losses and the program; the third slider where it had to give way."""
    drawn = draw(services, sentence, *form_values)
    encoding, corruption, settings = drawn.encoding, drawn.corruption, drawn.settings
    tokenizer = services.store.tokenizer(services.key(sentence.model))
    ids = corruption.input_ids.tolist()
    read = tokenizer.convert_ids_to_tokens(ids)
    guesses: Answers | None = None
    try:
        pretrained = services.pretrained(sentence.model)
        hidden = states(pretrained.encoder, [replace(encoding, tokens=tuple(read), input_ids=tuple(ids))])[
            0, 0
        ]  # [n, d]
        guesses = answers(pretrained.word_logits, tokenizer, hidden, corruption)
        told = answers_html(guesses, corruption, read, tokenizer.vocab_size)
        program = corrupt_code(pretrained.encoder.spec, encoding, settings)
    except UserError as error:  # a model without heads: the corruption is worth showing all the same
        told, program = notice_html(str(error)), ""
    shown = {
        "picture": picture_html(encoding, corruption, read, guesses),
        "legend": legend_html(
            corruption, drawn.special, settings.chosen, kind_shares(settings.masked, settings.replaced)
        ),
        "rest": rest_html(settings.masked, settings.replaced),
        "answers": told,
        "code": program,
    }
    slider = round(100 * settings.replaced)
    return shown if form_values[4] == slider else shown | {"replaced": slider}


def drawn_often(services: Services, sentence: Sentence, *form_values: Any) -> dict[str, Any]:
    """The two figures, what they show in words, and the table; the first draw is the one in the picture."""
    *controls, often = form_values
    first = draw(services, sentence, *controls)
    tokenizer = services.store.tokenizer(services.key(sentence.model))
    settings, shares = first.settings, (first.settings.masked, first.settings.replaced)
    rng = np.random.default_rng(settings.seed)
    draws = draw_many(
        lambda: _corrupt(tokenizer, first.encoding, first.special, settings, rng),
        first.special,
        int(often) if often in MANY else MANY[0],
    )
    places_fit = None if settings.whole_words else fit_places(draws)
    return {
        "shares": shares_figure(draws, *shares),
        "places": places_figure(draws, first.encoding),
        "said": shares_html(draws, fit_kinds(draws, *shares), places_fit, settings.whole_words),
        "numbers": numbers_html(draws, kind_shares(*shares), first.encoding),
    }


PART = Part(
    tab="The corruption machine",
    look=(
        "15 % of the tokens are chosen; most become [MASK], a few a random word, a few stay. "
        "BERT is asked for the true token at every chosen place and nowhere else: see which guesses are dear."
    ),
    build=build,
    order=2,
    former="corrupt",
)
