"""Switch heads off: what a sentence loses without some heads, and gradient x input beside attention."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.ablation import Head, check_heads, effect_of_each, read_heads, write_heads
from demos.bert.attention.saliency import Saliency, attention_received
from demos.bert.model.encoding import encode
from demos.bert.model.run import Run
from demos.counting import layer_name
from demos.figures.short_text import short
from demos.lessons.attention.ablation.figure import change_figure
from demos.lessons.attention.ablation.layout import (
    GRID,
    LAST,
    MAX_PLACES,
    OPENING,
    PICKED,
    folded,
    layers,
    saliency,
    switches,
)
from demos.lessons.attention.ablation.results import Ablation, Effects
from demos.lessons.attention.ablation.text import (
    TEXT,
    ablation_code,
    agreement_html,
    board_html,
    changed_html,
    classes_html,
    cosine_table,
    saliency_html,
    similarities_html,
)
from demos.page.layer_head_choices import following
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.head_grid.figure import grid_message
from demos.widgets.head_grid.head_grid import grid_value, previous_head, show_in_grid

MENU = 72  # characters of an output's name in its menu
RECEIVED = {"cls": "attention from [CLS]", "mean": "attention from all tokens"}


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    ablation = Ablation(page.services)
    deepest = max(spec.num_layers for spec in page.services.store.catalogue.values())
    parts = switches(page, deepest) | saliency(deepest) | folded()
    page.keep(
        heads_off=parts["off"],
        off_with=parts["listed"],
        explain=parts["output"],
        explain_layer=parts["layer"],
        explain_rows=parts["rows"],
    )
    page.from_zero["heads_off"] = "off"
    _wire_switches(page, parts)
    filled = ("off", "followed", "struck", "said", "plot", "similar", "word", "guesses", "classes", "table", "code")
    page.draw(
        by_component(parts, partial(drawn_at_first, ablation)),
        [parts["off"], parts["followed"], parts["listed"], parts["word"], page.trained],
        [parts[name] for name in filled],
        triggers=[parts["off"].change, parts["listed"].change, parts["word"].input],
    )
    menus = [parts[name] for name in ("output", "layer", "rows")]
    page.draw(
        by_component(parts, partial(explained, ablation)),
        [*menus, parts["listed"], parts["word"], page.trained],
        [parts[name] for name in ("output", "explained", "agreed")],
        triggers=[parts["listed"].change, *(menu.input for menu in (*menus, parts["word"]))],
    )
    _wire_board(page, parts)


def _wire_switches(page: Page, parts: dict[str, Any]) -> None:
    """Grid, box and buttons share one set of heads, which the box holds."""
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    off, whole, services = parts["off"], parts["whole"], page.services

    def layer_off(layer: int | None, off_now: str, model: str) -> dict[Any, Any]:
        spec = services.store.spec(services.key(model))
        heads = set() if layer is None else {(layer, head) for head in range(spec.num_heads)}
        check_heads(heads, spec.num_layers, spec.num_heads)
        return {off: write_heads(read_heads(off_now) | heads), whole: None}

    page.draw(
        by_component(parts, partial(of_this_model, services)),
        [parts["layer"]],
        [parts["grid"], whole, parts["layer"]],
        triggers=[],
        show_progress="hidden",
    )
    chosen = f"insideBert.grids[{json.dumps(GRID)}].chosen().off"
    typed = f"{chosen}.map((head) => head.map((index) => index + 1).join('.')).join(', ')"  # as `read_heads` reads it
    parts["grid"].select(None, None, [off], js=f"() => {typed}", **private)
    parts["struck"].change(None, [parts["struck"]], None, js=show_in_grid(GRID, "off"), **private)
    parts["all_on"].click(None, None, [off], js="() => ''", **private)
    page.on([whole.input], layer_off, [whole, off, page.model], [off, whole])


def of_this_model(services: Services, sentence: Sentence, layer: str) -> dict[str, Any]:
    """The grid of heads, and the two menus of layers."""
    run = services.runs.get(services.loaded(sentence.model), sentence.text)
    known = layer in [LAST, *map(str, range(run.num_layers))]
    return {
        "grid": grid_value(grid_message(run)),
        "whole": gr.update(choices=[(layer_name(number), number) for number in range(run.num_layers)]),
        "layer": gr.update(choices=layers(run.num_layers), **({} if known else {"value": LAST})),
    }


def drawn_at_first(ablation: Ablation, sentence: Sentence, off: str, followed: str, *choices: Any) -> dict[str, Any]:
    """`drawn`, with this model's own head off as long as the reader has not changed the heads."""
    own, followed = heads_at_first(ablation.services, sentence.model, off, followed)
    values = {"followed": followed, **drawn(ablation, sentence, own, *choices)}
    return values if own == off else values | {"off": own}


def heads_at_first(services: Services, model: str, off: str, followed: str) -> tuple[str, str]:
    """(the heads that are off, what `followed` is from now on): unmoved, it is this model's previous-token head."""
    key = services.key(model)
    return following(off, OPENING, followed, key, lambda: write_heads([previous_head(services, key)]))


def drawn(ablation: Ablation, sentence: Sentence, off: str, listed: str, place: int, trained: str) -> dict[str, Any]:
    """The components above gradient x input by their names, all for the same set of heads."""
    effects = ablation.effects(sentence, off, listed, place, trained)
    spec = ablation.services.loaded(sentence.model).spec
    encoding, guesses = effects.before.encoding, effects.guesses
    if guesses:
        guessed = TEXT.guesses(spec.title, guesses.place, guesses.word, guesses.before, guesses.after)
    else:
        guessed = TEXT.no_word_to_hide() if spec.mlm else TEXT.no_masked_word_head(spec.title)
    missing = [write_heads([head]) for head in sorted(effects.missing)]
    return {
        "struck": json.dumps(sorted(effects.off)),
        "said": changed_html(effects.cosines, encoding, len(effects.off), spec.num_layers * spec.num_heads, missing),
        "plot": change_figure(effects.cosines, encoding),
        "similar": similarities_html(effects.compared, effects.similarities, bool(sentence.text_pair.strip())),
        "word": _places(effects, place, spec.mlm),
        "guesses": guessed,
        "classes": classes_html(*effects.classes) if effects.classes else TEXT.no_classifier(),
        "table": lambda: cosine_table(effects.cosines, encoding),
        "code": lambda: ablation_code(spec, encoding, effects.off),
    }


def _places(effects: Effects, place: int, mlm: bool) -> Any:
    """The menu of words to hide; only where the model can guess one."""
    encoding = effects.before.encoding
    words = [
        (f"{index} {token}", index)
        for index, token in enumerate(encoding.tokens[:MAX_PLACES])
        if not encoding.special_tokens_mask[index]
    ]
    known = place in [PICKED, *(index for _, index in words)]
    return gr.update(
        choices=[("chosen automatically", PICKED), *words], visible=mlm, **({} if known else {"value": PICKED})
    )


def explained(
    ablation: Ablation,
    sentence: Sentence,
    key: str,
    layer: str,
    rows: str,
    listed: str,
    place: int,
    trained: str,
) -> dict[str, Any]:
    """The menu of outputs, both rows of bars, and how far they agree; a key that is not there is the first."""
    targets = ablation.targets(sentence, listed, place, trained)
    target = next((target for target in targets if target.key == key), targets[0])

    @cache
    def computed() -> tuple[Run, Saliency, np.ndarray, str, str]:
        run, saliency, title = ablation.explained(target)
        last = run.num_layers - 1
        at = last if layer == LAST else min(int(layer), last)
        attention = attention_received(run, at, rows)
        return run, saliency, attention, f"{title}, {saliency.output:.3f}", f"{RECEIVED[rows]}, {layer_name(at)}"

    def bars() -> str:
        run, saliency, attention, output, received = computed()
        return saliency_html(saliency.values, attention, run.encoding, output, received)

    def agreement() -> str:
        run, saliency, attention, *_ = computed()
        return agreement_html(saliency.values, attention, run.encoding)

    choices = [(short(target.title, MENU), target.key) for target in targets]
    return {"output": gr.update(choices=choices, value=target.key), "explained": bars, "agreed": agreement}


def _wire_board(page: Page, parts: dict[str, Any]) -> None:
    """Each head alone off; a generator, so that it stops when its reader leaves."""
    services = page.services

    def try_each(text: str, _pair: str, model: str) -> Iterator[str]:
        loaded = services.loaded(model)
        heads = [(layer, head) for layer in range(loaded.spec.num_layers) for head in range(loaded.spec.num_heads)]
        effects: dict[Head, float] = {}
        for batch in effect_of_each(loaded, encode(loaded.tokenizer, text or ""), heads):
            effects |= batch
            yield board_html(effects, len(heads))

    run = page.on(
        [parts["try"].click],
        try_each,
        page.sentence,
        [parts["board"]],
        concurrency_id="each-head",
        concurrency_limit=1,
        trigger_mode="once",
    )
    page.forget([parts["board"]])
    page.settled.change(None, None, None, cancels=[run], api_visibility="private", show_progress="hidden")


PART = Part(
    tab="Switch heads off",
    look=(
        "Click a head to switch it off: its output becomes zero. The picture shows how much each token's state (its "
        "vector after a layer) then changes. A small change may mean that other heads do the same work. Part of a "
        "large change arises because the later layers never received such inputs in training."
    ),
    build=build,
    order=3,
    former="cause",
)
