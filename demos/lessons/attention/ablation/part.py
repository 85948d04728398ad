"""Switch heads off: what a sentence loses without some heads, and gradient x input beside attention."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.bert.attention.ablation import check_heads, effect_of_each, read_heads, write_heads
from demos.bert.attention.saliency import attention_received
from demos.bert.model.encoding import encode
from demos.lessons.attention.ablation.figure import change_figure
from demos.lessons.attention.ablation.layout import (
    GRID,
    LAST,
    MAX_PLACES,
    OPENING,
    PICKED,
    folds,
    layers,
    saliency,
    switches,
)
from demos.lessons.attention.ablation.program import ablation_code
from demos.lessons.attention.ablation.results import Causes, Effects, Target
from demos.lessons.attention.ablation.text import (
    agreement_html,
    board_html,
    changed_html,
    classes_html,
    cosine_table,
    guesses_html,
    saliency_html,
    similarities_html,
)
from demos.page.choices import following
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence, Services
from demos.widgets.head_grid.figure import grid_message
from demos.widgets.head_grid.first_head import previous_head
from demos.widgets.head_grid.head_grid import grid_value, show_in_grid

SHORT = 48  # characters of a sentence in a menu
RECEIVED = {"cls": "attention from [CLS]", "mean": "attention from all tokens"}
NO_WORDS = (
    "{title} has no masked-word head in its files, so it can't guess words; BERT base and DistilBERT can. "
    "In Pre-training, heads of ours guess for the bundled model."
)
NOTHING_TO_GUESS = "The sentence has no word to hide."
NO_CLASSIFIER = (
    "Fine-tune this model in the Fine-tune tab, and your own classifier's answer is shown here with the same heads off."
)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    causes = Causes(page.services)
    parts = switches(page) | saliency(page.services) | folds()
    page.keep(
        off=parts["off"],
        off_with=parts["listed"],
        explain=parts["output"],
        explain_layer=parts["layer"],
        explain_rows=parts["rows"],
    )
    _wire_switches(page, parts)
    _wire_effects(page, causes, parts)
    _wire_saliency(page, causes, parts)
    _wire_board(page, parts)


def _wire_switches(page: Page, parts: dict[str, Any]) -> None:
    """Grid, box and buttons all speak of one set of heads: the box holds it."""
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    off, services = parts["off"], page.services

    def show_grid(sentence: Sentence, layer: str) -> list[Any]:
        run = services.runs.get(services.loaded(sentence.model), sentence.text)
        kept = {} if layer in [LAST, *map(str, range(run.num_layers))] else {"value": LAST}
        return [
            grid_value(grid_message(run)),
            gr.update(choices=[(f"layer {number}", number) for number in range(run.num_layers)]),
            gr.update(choices=layers(run.num_layers), **kept),
        ]

    def layer_off(layer: int | None, off: str, model: str) -> list[Any]:
        spec = services.store.spec(services.key(model))
        count = spec.num_heads if layer is not None else 0
        whole = {(layer or 0, head) for head in range(count)}
        return [write_heads(read_heads(off) | check_heads(whole, spec.num_layers, spec.num_heads)), None]

    page.draw(
        show_grid,
        [parts["layer"]],
        [parts["grid"], parts["whole"], parts["layer"]],
        triggers=[],
        show_progress="hidden",
    )
    parts["grid"].select(
        None,
        None,
        [off],
        js=f"() => insideBert.grids[{json.dumps(GRID)}].chosen().off.map((head) => head.join('.')).join(', ')",
        **private,
    )
    parts["struck"].change(None, [parts["struck"]], None, js=show_in_grid(GRID, "off"), **private)
    parts["all_on"].click(None, None, [off], js="() => ''", **private)
    page.on([parts["whole"].input], layer_off, [parts["whole"], off, page.model], [off, parts["whole"]])


def _wire_effects(page: Page, causes: Causes, parts: dict[str, Any]) -> None:
    """Everything above gradient x input."""
    names = ("struck", "said", "plot", "similar", "word", "guesses", "classes", "table", "code")

    def show(sentence: Sentence, off: str, followed: str, *chosen: Any) -> list[Any]:
        own, followed = heads_at_first(causes.services, sentence.model, off, followed)
        return [gr.skip() if own == off else own, followed, *drawn(causes, sentence, own, *chosen)]

    page.draw(
        show,
        [parts["off"], parts["followed"], parts["listed"], parts["word"], page.trained],
        [parts["off"], parts["followed"], *(parts[name] for name in names)],
        triggers=[parts["off"].change, parts["listed"].change, parts["word"].input],
    )


def heads_at_first(services: Services, model: str, off: str, followed: str) -> tuple[str, str]:
    """(the heads that are off, what `followed` is from now on): unmoved, it is this model's previous-token head."""
    key = services.key(model)
    return following(off, OPENING, followed, key, lambda: write_heads([previous_head(services, key)]))


def drawn(causes: Causes, sentence: Sentence, off: str, listed: str, place: int | None, trained: str) -> list[Any]:
    """The nine outputs above gradient x input, of one and the same set of heads."""
    found = causes.effects(sentence, off, listed, PICKED if place is None else place, trained)
    spec = causes.services.loaded(sentence.model).spec
    run = found.before
    return [
        json.dumps(sorted(found.off)),
        changed_html(
            found.cosines,
            run.encoding,
            len(found.off),
            spec.num_layers * spec.num_heads,
            [write_heads([head]) for head in sorted(found.missing)],
        ),
        change_figure(found.cosines, run.encoding),
        similarities_html(found.compared, found.similarities, bool(sentence.text_pair.strip())),
        _places(found, place, spec.mlm),
        _told_guesses(found, spec.title, spec.mlm),
        classes_html(*found.classes) if found.classes else _aside(NO_CLASSIFIER),
        cosine_table(found.cosines, run.encoding),
        ablation_code(spec, run.encoding, found.off),
    ]


def _aside(sentence: str) -> str:
    return f'<p class="aside">{sentence}</p>'


def _told_guesses(found: Effects, title: str, mlm: bool) -> str:
    if found.guesses is None:
        return _aside(NOTHING_TO_GUESS if mlm else NO_WORDS.format(title=title))
    guessed = found.guesses
    return guesses_html(guessed.word, guessed.place, guessed.before, guessed.after, title)


def _places(found: Effects, place: int | None, mlm: bool) -> Any:
    """The menu of words to hide; only where the model can guess one."""
    encoding = found.before.encoding
    words = [
        (f"{index} {token}", index)
        for index, token in enumerate(encoding.tokens[:MAX_PLACES])
        if not encoding.special_tokens_mask[index]
    ]
    kept = {} if place in [PICKED, *(index for _, index in words)] else {"value": PICKED}
    return gr.update(choices=[("picked for you", PICKED), *words], visible=mlm, **kept)


def _wire_saliency(page: Page, causes: Causes, parts: dict[str, Any]) -> None:
    def show(sentence: Sentence, *chosen: Any) -> list[Any]:
        return explained(causes, sentence, *chosen)

    page.draw(
        show,
        [*(parts[name] for name in ("output", "layer", "rows", "listed", "word")), page.trained],
        [parts[name] for name in ("output", "explained", "agreed")],
        triggers=[*(parts[name].input for name in ("output", "layer", "rows", "word")), parts["listed"].change],
    )


def explained(
    causes: Causes, sentence: Sentence, key: str, layer: str, rows: str, listed: str, place: int | None, trained: str
) -> list[Any]:
    """The menu of outputs, both rows of bars, and how far they agree."""
    run, found, target, targets = causes.explained(
        sentence, listed, PICKED if place is None else place, trained, key or ""
    )
    deepest = run.num_layers - 1
    at = deepest if layer == LAST else min(int(layer), deepest)
    attention = attention_received(run, at, rows)
    said = f"{target.title}, {found.output:.3f}"
    received = f"{RECEIVED[rows]}, layer {at}"
    return [
        gr.update(choices=[(_menu(one), one.key) for one in targets], value=target.key),
        saliency_html(found.values, attention, run.encoding, said, received),
        agreement_html(found.values, attention, run.encoding),
    ]


def _menu(target: Target) -> str:
    return target.title if len(target.title) <= SHORT + 24 else f"{target.title[: SHORT + 23]}…"


def _wire_board(page: Page, parts: dict[str, Any]) -> None:
    """Each head alone off; a generator, so that it stops when its reader leaves."""
    services = page.services

    def try_each(sentence: Sentence) -> Iterator[str]:
        loaded = services.loaded(sentence.model)
        heads = [(layer, head) for layer in range(loaded.spec.num_layers) for head in range(loaded.spec.num_heads)]
        found: dict[tuple[int, int], float] = {}
        for batch in effect_of_each(loaded, encode(loaded.tokenizer, sentence.text), heads):
            found |= batch
            yield board_html(found, len(heads))

    tried = page.on(
        [parts["try"].click],
        _each(try_each),
        page.sentence,
        [parts["board"]],
        concurrency_id="each-head",
        concurrency_limit=1,
        trigger_mode="once",
    )
    page.forget([parts["board"]])
    page.settled.change(None, None, None, cancels=[tried], api_visibility="private", show_progress="hidden")


def _each(show: Any) -> Any:
    """`with_sentence` for a generator, which gradio and the guard know by its being one."""
    first = with_sentence(show)

    def stream(*values: Any) -> Iterator[Any]:
        yield from first(*values)

    return stream


PART = Part(
    tab="Switch heads off",
    look=(
        "Press a head and it hands on nothing: the picture shows how far each token's state moves in the layers "
        "behind it. Where little changes, other heads may do the same work; where much changes, part of it is that the "
        "later layers never met such states in training."
    ),
    build=build,
    order=3,
    former="cause",
)
