"""Switch heads off: what a sentence loses without some heads, and gradient x input beside attention."""

import json
from collections.abc import Iterator
from functools import cache

import gradio as gr
import numpy as np

from demos.bert.attention.ablation import MAX_PASS_TOKENS, Head, effect_of_each, sentence_vectors, write_heads
from demos.bert.attention.saliency import Saliency, attention_received
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.encoding import check_length, encode
from demos.bert.model.run import Run
from demos.counting import counted, layer_name
from demos.figures.short_text import short
from demos.lessons.attention.ablation.figure import change_figure
from demos.lessons.attention.ablation.layout import (
    LAST,
    MAX_PLACES,
    OPENING,
    PICKED,
    AblationChoices,
    lay_out_folds,
    lay_out_saliency,
    lay_out_switches,
    layers,
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
from demos.page.lesson import IN_BROWSER, Page
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import CUT, Layout, On, Shown, View, drawn, limit
from demos.templates import in_script
from demos.widgets.head_grid.figure import grid_message
from demos.widgets.head_grid.head_grid import previous_head

MENU = 72  # characters of an output's name in its menu
RECEIVED = {"cls": "attention from [CLS]", "mean": "attention from all tokens"}


class SwitchOff(View):
    tab, order, former = "Switch heads off", 3, "cause"
    look = (
        "Click a head to switch it off: its output becomes zero. The picture shows how much each token's state (its "
        "vector after a layer) then changes. A small change may mean that other heads do the same work. Part of a "
        "large change arises because the later layers never received such inputs in training."
    )
    Choices = AblationChoices

    def lay_out(self, at: Layout) -> None:
        lay_out_switches(at)
        lay_out_saliency(at)
        start, board = lay_out_folds(at)
        _wire_board(at.page, start, board)

    @drawn(
        by=("heads_off", "followed", "off_with", "word", "trained"),
        limits=("heads_off", "word"),
        show_progress="minimal",
    )
    def draw(self, on: On, c: AblationChoices) -> Shown:
        """Everything above gradient x input, for the same set of heads.

        This model's own head is off as long as the reader has not changed the heads.
        """
        off, followed = heads_at_first(on.services, on.sentence.model, c.heads_off, c.followed)
        ablation = on.services.shared(Ablation)
        effects = ablation.effects(on.sentence, off, c.off_with, c.word, c.trained)
        spec = on.loaded.spec
        encoding, guesses = effects.before.encoding, effects.guesses
        if guesses:
            guessed = TEXT.guesses(spec.title, guesses.place, guesses.word, guesses.before, guesses.after)
        else:
            guessed = TEXT.no_word_to_hide() if spec.mlm else TEXT.no_masked_word_head(spec.title)
        missing, heads = [write_heads([head]) for head in sorted(effects.missing)], spec.num_layers * spec.num_heads
        return {
            CUT: [encoding],
            "followed": followed,
            "heads_off": limit(value=off),
            "struck": json.dumps(sorted(effects.off)),
            "said": changed_html(effects.cosines, encoding, len(effects.off), heads, missing),
            "plot": change_figure(effects.cosines, encoding),
            "similar": similarities_html(effects.compared, effects.similarities, bool(on.sentence.text_pair.strip())),
            "word": _places(effects, c.word, spec.mlm),
            "guesses": guessed,
            "classes": classes_html(*effects.classes) if effects.classes else TEXT.no_classifier(),
            "table": lambda: cosine_table(effects.cosines, encoding),
            "program": lambda: ablation_code(spec, encoding, effects.off),
        }

    @drawn("grid", by=(), limits=("whole",))  # after `draw`, which reads the sentence with and without heads in a pass
    def draw_grid(self, on: On, _: AblationChoices) -> Shown:
        """The grid of heads, and the menu of this model's layers."""
        run = on.services.runs.get(on.loaded, on.sentence.text)
        offers = [(layer_name(number), number) for number in range(run.num_layers)]
        return {"grid": in_script(grid_message(run)), "whole": limit(choices=offers)}

    @drawn(
        "explained",
        "agreed",
        by=("explain", "explain_layer", "explain_rows", "off_with", "word", "trained"),
        limits=("explain", "explain_layer"),
        show_progress="minimal",
    )
    def draw_explained(self, on: On, c: AblationChoices) -> Shown:
        """The menu of outputs, both rows of bars, and their agreement; an unknown key means the first output."""
        ablation = on.services.shared(Ablation)
        targets = ablation.targets(on.sentence, c.off_with, c.word, c.trained)
        target = next((target for target in targets if target.key == c.explain), targets[0])
        offers = layers(on.loaded.spec.num_layers)
        layer = c.explain_layer if c.explain_layer in [key for _, key in offers] else LAST

        @cache
        def computed() -> tuple[Run, Saliency, np.ndarray, str, str]:
            run, saliency, title = ablation.explained(target)
            at = run.num_layers - 1 if layer == LAST else int(layer)
            attention = attention_received(run, at, c.explain_rows)
            received = f"{RECEIVED[c.explain_rows]}, {layer_name(at)}"
            return run, saliency, attention, f"{title}, {saliency.output:.3f}", received

        def bars() -> str:
            run, saliency, attention, output, received = computed()
            return saliency_html(saliency.values, attention, run.encoding, output, received)

        def agreement() -> str:
            run, saliency, attention, *_ = computed()
            return agreement_html(saliency.values, attention, run.encoding)

        titles = [(short(target.title, MENU), target.key) for target in targets]
        return {
            "explain": limit(choices=titles, value=target.key),
            "explain_layer": limit(choices=offers, value=layer),
            "explained": bars,
            "agreed": agreement,
        }


def heads_at_first(services: Services, model: str, off: str, followed: str) -> tuple[str, str]:
    """(the heads that are off, what `followed` is from now on): unmoved, it is this model's previous-token head."""
    key = services.loaded(model).spec.key
    return following(off, OPENING, followed, key, lambda: write_heads([previous_head(services, model)]))


def _places(effects: Effects, place: int, mlm: bool) -> Shown:
    """The menu of words to hide; only where the model can guess one."""
    encoding = effects.before.encoding
    words = [
        (f"{index} {token}", index)
        for index, token in enumerate(encoding.tokens[:MAX_PLACES])
        if not encoding.special_tokens_mask[index]
    ]
    offers = [("chosen automatically", PICKED), *words]
    known = place in [index for _, index in offers]
    return limit(choices=offers, visible=mlm, value=place if known else PICKED)


def _wire_board(page: Page, start: gr.Button, board: gr.HTML) -> None:
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
        [start.click],
        try_each,
        page.sentence,
        [board],
        concurrency_id="each-head",
        concurrency_limit=1,
        trigger_mode="once",
    )
    page.forget([board])
    page.settled.change(None, None, None, cancels=[run], **IN_BROWSER)


def answer(services: Services, sentence: Sentence) -> Answer:
    """The layers without whose heads the sentence vector changes most and least. UserError for a long input."""
    loaded = services.loaded(sentence.model)
    encoding = encode(loaded.tokenizer, sentence.text, sentence.text_pair)
    check_length(encoding, MAX_PASS_TOKENS)
    layers, heads = loaded.spec.num_layers, loaded.spec.num_heads
    off = [frozenset((layer, head) for head in range(heads)) for layer in range(layers)]
    vectors = sentence_vectors(loaded, [encoding] * (layers + 1), [frozenset(), *off])  # [1 + L, d]
    alike = cosine(vectors[1:], np.broadcast_to(vectors[0], vectors[1:].shape))  # [L]
    most, least = int(alike.argmin()), int(alike.argmax())
    facts = {"layer": counted(most), "cosine": alike[most], "least": counted(least), "closest": alike[least]}
    return Answer(facts=facts)
