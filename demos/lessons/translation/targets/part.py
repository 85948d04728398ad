"""Targets and loss: the right word at each place, the model's distribution before and after training, and the cost."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import gradio as gr

from demos.bert.translation.bundled import bundled
from demos.bert.translation.cost import costs
from demos.bert.translation.decoding import Trained
from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.gru import BEGIN, SPECIAL
from demos.errors import UserError
from demos.lessons.translation.targets.figure import target_figure
from demos.lessons.translation.targets.program import targets_code
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp, moving_slider
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence
from demos.templates import templates
from demos.training.translation.training import Plan, untrained

TEXT = templates(__file__)
KINDS = [("GRU, attention", "additive"), ("GRU, no attention", "none"), ("Transformer", "transformer")]
WORDS, LISTED = 6, 24  # bars; sentences in the menu
OPENING = "i am a student"  # among them


def build(page: Page) -> None:
    """The target and two distributions beside the choices; the costs; the folds."""
    offered = sorted((" ".join(pair.source[:-1]) for pair in held_out()[:LISTED]), key=len)
    parts: dict[str, Any] = {}
    with gr.Row():
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            parts["bars"] = gr.Plot(label="Target and probabilities", show_label=False, elem_id="targets-bars")
        with gr.Column(scale=4, min_width=320):
            sentence = gr.Dropdown(offered, value=OPENING, label="English sentence", elem_id="targets-sentence")
            place = moving_slider(1, 20, 2, label="French word", elem_id="targets-place")
            page.show_look()
            parts["said"] = gr.HTML("", elem_id="targets-said", elem_classes="said")
            with all_controls(page, __file__):
                kind = gr.Radio(KINDS, value="additive", label="Translator")
    parts["costs"] = gr.HTML("", elem_id="targets-costs")
    parts["numbers"], parts["program"] = folds(__file__, "The same costs, with cross_entropy of torch")
    parts["place"] = place
    page.keep(english=sentence, word=place, translator=kind)
    page.draw(
        by_component(parts, drawn), [sentence, place, kind], list(parts.values()), show_progress="hidden",
        triggers=[sentence.input, place.input, kind.input],
    )  # fmt: skip


@cache
def beginner(kind: str) -> Trained:
    """The translator before its training."""
    made = untrained(Plan(kind))
    made.model.eval().requires_grad_(False)
    return made


def chosen_pair(sentence: Any) -> Pair:
    """The held-out pair of this English sentence."""
    for pair in held_out():
        if " ".join(pair.source[:-1]) == sentence:
            return pair
    raise UserError("Choose a sentence of the list: its right translation must be known.")


def drawn(_: Sentence, sentence: Any, place: Any, kind: Any) -> dict[str, Any]:
    """All that one pair, and a place in its translation, show."""
    if kind not in [name for _, name in KINDS]:
        raise UserError("Choose one of the translators.")
    pair, after_training = chosen_pair(sentence), bundled(str(kind))
    before, after = (costs(trained, pair.source, pair.target) for trained in (beginner(str(kind)), after_training))
    at = clamp(float(place or 1) - 1, len(after.targets))
    words, right = after_training.target.words, after.targets[at]
    likeliest = [word for word in after.distributions[at].topk(WORDS).indices.tolist() if word != right]
    shown = [right, *likeliest[: WORDS - 1]]
    names = [words[word] for word in after.targets]
    first, last = (float(one.distributions[at, right]) for one in (before, after))
    return {
        "bars": target_figure(
            [
                (words[word], float(word == right), *(float(one.distributions[at, word]) for one in (before, after)))
                for word in shown
            ]
        ),
        "place": gr.update(maximum=len(after.targets), value=at + 1),
        "said": TEXT.said(
            pair.source, [SPECIAL[BEGIN], *names[:at]], words[right], (first, before.costs[at]),
            (last, after.costs[at]), len(words),
        ),
        "costs": TEXT.costs(
            [
                (name, math.exp(-old), old, math.exp(-new), new)
                for name, old, new in zip(names, before.costs, after.costs, strict=True)
            ],
            (sum(before.costs), sum(after.costs)), (before.loss, after.loss),
        ),
        "numbers": TEXT.numbers(len(words), math.log(len(words))),
        "program": targets_code(str(kind), pair.source, pair.target),
    }  # fmt: skip


PART = Part(
    tab="Targets and loss",
    look=(
        "At each place, one word of the vocabulary is right: its target is 1, that of all others 0. Compare the bars "
        "before and after training; the loss is the mean of what all places cost."
    ),
    build=build,
    reads_sentence=False,
    order=4,
)
