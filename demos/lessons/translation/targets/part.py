"""Targets and loss: the right word at each place, the model's distribution before and after training, and the cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import gradio as gr

from demos.bert.translation import six_words
from demos.bert.translation.bundled import bundled
from demos.bert.translation.cost import Costs, costs
from demos.bert.translation.decoding import Trained
from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.gru import BEGIN, SPECIAL
from demos.errors import UserError
from demos.lessons.translation.targets.figure import places_figure, target_figure
from demos.lessons.translation.targets.program import six_words_code, targets_code
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp, moving_slider
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence
from demos.templates import templates
from demos.training.translation.training import Plan, untrained

TEXT = templates(__file__)
SIX, OURS = "six", "ours"
EXAMPLES = [("a small example of six words", SIX), ("our translator", OURS)]
KINDS = [("GRU, attention", "additive"), ("GRU, no attention", "none"), ("Transformer", "transformer")]
WORDS, LISTED = 6, 24  # bars; sentences in the menu
OPENING = "i am a student"  # among them


def build(page: Page) -> None:
    """All places as matrices; the target and two distributions beside the choices; the costs; the folds."""
    offered = sorted((" ".join(pair.source[:-1]) for pair in held_out()[:LISTED]), key=len)
    parts: dict[str, Any] = {}
    parts["places"] = gr.Plot(
        label="Targets and probabilities of all positions",
        show_label=False,
        elem_id="targets-places",
        elem_classes="picture",
    )
    with gr.Row():
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            parts["bars"] = gr.Plot(label="Target and probabilities", show_label=False, elem_id="targets-bars")
        with gr.Column(scale=4, min_width=320):
            example = gr.Radio(EXAMPLES, value=SIX, label="Example", elem_id="targets-example")
            sentence = gr.Dropdown(
                offered, value=OPENING, label="English sentence", elem_id="targets-sentence", visible=False
            )
            place = moving_slider(1, 20, 2, label="Position: the word to predict", elem_id="targets-place")
            steps = gr.Slider(
                0, six_words.STEPS, value=six_words.STEPS, step=1, label="Steps of training", elem_id="targets-steps"
            )
            page.show_look()
            parts["said"] = gr.HTML("", elem_id="targets-said", elem_classes="said")
            with all_controls(page, __file__):
                kind = gr.Radio(KINDS, value="additive", label="Translator (for the example “our translator”)")
    parts["costs"] = gr.HTML("", elem_id="targets-costs")
    parts["numbers"], parts["program"] = folds(__file__, "The same costs, with cross_entropy of torch")
    parts |= {"place": place, "sentence": sentence, "steps": steps}
    page.keep(
        example=example, targets_english=sentence, targets_word=place, steps=steps, targets_translator=kind
    )  # fmt: skip
    choices = [example, sentence, place, steps, kind]
    page.draw(
        by_component(parts, drawn), choices, list(parts.values()), show_progress="hidden",
        triggers=[choice.input for choice in choices],
    )  # fmt: skip


@cache
def beginner(kind: str) -> Trained:
    """The translator before its training."""
    made = untrained(Plan(kind))
    made.model.eval().requires_grad_(False)
    return made


@cache
def learned() -> six_words.Learned:
    """The layer of six words, after each step."""
    return six_words.learned()


def chosen_pair(sentence: Any) -> Pair:
    """The held-out pair of this English sentence."""
    for pair in held_out():
        if " ".join(pair.source[:-1]) == sentence:
            return pair
    raise UserError("Choose a sentence from the list; only these have a known correct translation.")


def drawn(_: Sentence, example: Any, sentence: Any, place: Any, steps: Any, kind: Any) -> dict[str, Any]:
    """All outputs for one example and a position in its target."""
    if example not in (SIX, OURS) or kind not in [name for _, name in KINDS]:
        raise UserError("Choose one of the examples, and one of the translators.")
    six = example == SIX
    shown = drawn_six_words(place, steps) if six else drawn_translator(sentence, place, str(kind))
    return {
        **shown,
        "places": gr.update(value=shown.get("places"), visible=six),
        "sentence": gr.update(visible=not six),
        "steps": gr.update(visible=six),
    }


def drawn_six_words(place: Any, steps: Any) -> dict[str, Any]:
    """The example of six words: before training, and after this many steps."""
    model, words, right = learned(), six_words.WORDS, six_words.TARGET
    step = clamp(six_words.STEPS if steps is None else steps, six_words.STEPS + 1)
    at = clamp(float(place or 1) - 1, len(right))
    before, after = (model.distributions(at_step) for at_step in (0, step))
    old, new = (model.costs(at_step).tolist() for at_step in (0, step))
    word = words.index(right[at])
    matrices = [("targets", model.targets), ("before training", before), (f"after {step} steps", after)]
    return {
        "places": places_figure([(name, values.numpy()) for name, values in matrices], right, words, at),
        "bars": target_figure(
            list(zip(words, *(values[at].tolist() for _, values in matrices), strict=True)),
        ),
        "place": gr.update(maximum=len(right), value=at + 1),
        "said": TEXT.six_words(
            words, right[at], model.targets[at].tolist(), at + 1, step, (float(before[at, word]), old[at]),
            (float(after[at, word]), new[at]), (sum(old), sum(new)),
        ),
        "costs": costs_table(right, old, new, "sum"),
        "numbers": lambda: TEXT.numbers_of_six(len(words), math.log(len(words)), len(right), six_words.WIDTH),
        "program": lambda: six_words_code(step),
    }  # fmt: skip


def drawn_translator(sentence: Any, place: Any, kind: str) -> dict[str, Any]:
    """One of our pairs: a translator before its training, and after it."""
    pair = chosen_pair(sentence)
    before, after = (costs(trained, pair.source, pair.target) for trained in (beginner(kind), bundled(kind)))
    at = clamp(float(place or 1) - 1, len(after.targets))
    words, right = bundled(kind).target.words, after.targets[at]
    likeliest = [word for word in after.distributions[at].topk(WORDS).indices.tolist() if word != right]
    shown = [right, *likeliest[: WORDS - 1]]
    names = [words[word] for word in after.targets]
    first, last = (probability(translator_costs, at) for translator_costs in (before, after))
    return {
        "bars": target_figure(
            [
                (
                    words[word], float(word == right),
                    *(float(translator_costs.distributions[at, word]) for translator_costs in (before, after)),
                )
                for word in shown
            ]
        ),
        "place": gr.update(maximum=len(after.targets), value=at + 1),
        "said": TEXT.said(
            pair.source, [SPECIAL[BEGIN], *names[:at]], words[right], (first, before.costs[at]),
            (last, after.costs[at]), len(words),
        ),
        "costs": costs_table(names, before.costs, after.costs, "mean"),
        "numbers": lambda: TEXT.numbers(len(words), math.log(len(words))),
        "program": lambda: targets_code(kind, pair.source, pair.target),
    }  # fmt: skip


def probability(measured: Costs, at: int) -> float:
    """The cost of the correct word at a position."""
    return float(measured.distributions[at, measured.targets[at]])


def costs_table(names: Sequence[str], before: Sequence[float], after: Sequence[float], loss: str) -> str:
    """The cost at each position, their sum and their mean; `loss` says which of the two is minimized."""
    rows = [
        (name, math.exp(-old), old, math.exp(-new), new) for name, old, new in zip(names, before, after, strict=True)
    ]
    ends = [sum(before), sum(after)]
    return str(TEXT.costs(rows, ends, [end / len(names) for end in ends], loss))


PART = Part(
    tab="Targets and loss",
    look=(
        "At each position, one word of the vocabulary is correct: its target is 1, that of all others 0. Compare the "
        "probabilities p of the correct words before and after training; the loss is the sum of −ln p over all "
        "positions."
    ),
    build=build,
    reads_sentence=False,
    order=5,
)
