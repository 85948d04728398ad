"""The two menus that choose how a sentence's vector is made: pooling and layer; the same in every part."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from demos.bert.embeddings.pooling import (
    CONCAT_LAST_FOUR,
    POOLER,
    POOLINGS,
    SUM_ALL,
    SUM_LAST_FOUR,
    Choice,
    has_pooler,
    unknown_pooling,
)
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.figures.cosine_heatmap import POOLING_NAMES
from demos.page.layer_head_choices import clamp, moving_slider
from demos.page.services import Services
from demos.page.view import Control, On, Update, choice, limit, options

LAST = "last"
DEEPEST = 1_000  # as a hidden state: the last of any model
SECOND_TO_LAST = "second_to_last"
NAMED = {
    "sum of the last four": SUM_LAST_FOUR,
    "sum of all layers": SUM_ALL,
    "last four, concatenated": CONCAT_LAST_FOUR,
}


def layer_choices(deepest: int, known: bool = True) -> list[tuple[str, str]]:
    """Last and second to last first, the combinations, then every hidden state down to the embedding output.

    Before the model is `known`, `deepest` is the most that a link may name, and the first two go without their numbers;
    the single layers do not show meanwhile (demos/page/page.css).
    """
    return [
        (f"last (layer {deepest})" if known else "last", LAST),
        (f"second to last ({deepest - 1})" if known else "second to last", SECOND_TO_LAST),
        *NAMED.items(),
        *((f"layer {layer}", str(layer)) for layer in range(deepest - 2, 0, -1)),
        ("first (0, the embedding output)", "0"),
    ]


def pooling_choice(value: str = "mean", letter: str = "", *, by_script: bool = False) -> Any:
    """A view's choice of the pooling."""
    offers = [(POOLING_NAMES[key], key) for key in (*POOLINGS, POOLER)]
    return options(offers, value, f"Pooling {letter}".strip(), by_script=by_script)


def layer_choice(letter: str = "", *more: tuple[str, str], by_script: bool = False) -> Any:
    """A view's choice of the layer, with `more` choices; `draw` answers with `layer_limit`."""

    def make(services: Services) -> gr.Component:
        deepest = max(spec.num_layers for spec in services.store.catalogue.values())
        offers = [*layer_choices(deepest, known=False), *more]
        return gr.Dropdown(offers, value=LAST, label=f"Layer {letter}".strip(), filterable=False)

    return choice(LAST, Control(make, lambda _, said: str(said or LAST), by_script=by_script))


def state_choice(value: int, label: str, *, cut: bool = True, **look: Any) -> Any:
    """A view's choice of one hidden state, from 0 (the embedding output).

    Beyond the model's last it is the last, unless it is not `cut`: `draw` does that then.
    """

    def make(services: Services) -> gr.Component:
        deepest = max(spec.num_layers for spec in services.store.catalogue.values())
        return moving_slider(0, deepest, min(value, deepest), label=label, **look)

    def last(on: On, _: Any = None) -> int:
        return int(on.loaded.model.config.num_hidden_layers)

    def read(on: On, said: Any) -> int:
        return clamp(said, last(on) + 1) if cut else max(int(said or 0), 0)

    return choice(value, Control(make, read, last))


def read_choice(loaded: LoadedModel, pooling: str, layer: str) -> Choice:
    """The menus' answers as a Choice; a layer that only a deeper model has becomes the last one.

    Raises UserError for the pooler of a model that has no trained one, and for what no menu offers.
    """
    deepest = loaded.model.config.num_hidden_layers
    if pooling == POOLER:
        if not has_pooler(loaded):
            raise UserError(f"The pooler of {loaded.spec.title} was never trained; choose [CLS] or a mean.")
        return Choice(POOLER, deepest)
    if pooling not in POOLINGS:
        raise UserError(unknown_pooling(pooling))
    if layer in NAMED.values():
        return Choice(pooling, layer)
    if layer in (LAST, SECOND_TO_LAST):
        return Choice(pooling, deepest - (layer == SECOND_TO_LAST))
    if not str(layer).isdecimal():
        raise UserError(f"There is no layer {str(layer)[:20]!r} here.")
    return Choice(pooling, min(int(layer), deepest))


def read_two(loaded: LoadedModel, answers: Sequence[str]) -> list[Choice]:
    """`read_choice` of A's two menus and of B's."""
    return [read_choice(loaded, *answers[:2]), read_choice(loaded, *answers[2:])]


def menu_values(choice: Choice, deepest: int) -> tuple[str, str]:
    """The values of the two menus for this choice, the inverse of `read_choice`."""
    named = {deepest: LAST, deepest - 1: SECOND_TO_LAST}
    layer = choice.layer if isinstance(choice.layer, str) else named.get(choice.layer, str(choice.layer))
    return choice.pooling, LAST if choice.pooling == POOLER else layer


def layer_limit(loaded: LoadedModel, layer: str, *more: tuple[str, str], **update: Any) -> Update:
    """The layer menu's entries for this model, with `more`; a layer that only a deeper model has becomes the last.

    "last" stays "last", so that it means the next model's last one too.
    """
    offered = [*layer_choices(loaded.model.config.num_hidden_layers), *more]
    return limit(choices=offered, value=layer if layer in [value for _, value in offered] else LAST, **update)
