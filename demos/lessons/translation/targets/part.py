"""Targets and loss: the right word at each place, the model's distribution before and after training, and the cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import gradio as gr

from demos.bert.translation import six_words
from demos.bert.translation.bundled import bundled
from demos.bert.translation.cost import costs
from demos.bert.translation.decoding import Trained
from demos.bert.translation.grammar import held_out
from demos.bert.translation.gru import BEGIN, SPECIAL
from demos.lessons.translation.targets.figure import places_figure, six_words_code, target_figure, targets_code
from demos.page.view import Layout, On, Shown, View, drawn, limit, menu, options, slider
from demos.templates import templates
from demos.training.translation.training import Plan, untrained

TEXT = templates(__file__)
SIX, OURS = "six", "ours"
EXAMPLES = [("a small example of six words", SIX), ("our translator", OURS)]
KINDS = [("GRU, attention", "additive"), ("GRU, no attention", "none"), ("Transformer", "transformer")]
WORDS, LISTED = 6, 24  # bars; sentences in the menu
OPENING = "i am a student"  # among them
OFFERED = sorted((" ".join(pair.source[:-1]) for pair in held_out()[:LISTED]), key=len)


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


def drawn_six_words(place: int, step: int) -> Shown:
    """The example of six words: before training, and after this many steps."""
    model, words, right = learned(), six_words.WORDS, six_words.TARGET
    at = min(place, len(right)) - 1
    before, after = (model.distributions(at_step) for at_step in (0, step))
    old, new = (model.costs(at_step).tolist() for at_step in (0, step))
    word = words.index(right[at])
    matrices = [("targets", model.targets), ("before training", before), (f"after {step} steps", after)]
    return {
        "places": places_figure([(name, values.numpy()) for name, values in matrices], right, words, at),
        "bars": target_figure(
            list(zip(words, *(values[at].tolist() for _, values in matrices), strict=True)),
        ),
        "targets_word": limit(maximum=len(right), value=at + 1),
        "said": TEXT.six_words(
            words,
            right[at],
            model.targets[at].tolist(),
            at + 1,
            step,
            (float(before[at, word]), old[at]),
            (float(after[at, word]), new[at]),
            (sum(old), sum(new)),
        ),
        "costs": costs_table(right, old, new, "sum"),
        "numbers": lambda: TEXT.numbers_of_six(len(words), math.log(len(words)), len(right), six_words.WIDTH),
        "program": lambda: six_words_code(step),
    }


def drawn_translator(sentence: str, place: int, kind: str) -> Shown:
    """One of our pairs: a translator before its training, and after it."""
    pair = next(pair for pair in held_out() if " ".join(pair.source[:-1]) == sentence)
    before, after = (costs(trained, pair.source, pair.target) for trained in (beginner(kind), bundled(kind)))
    at = min(place, len(after.targets)) - 1
    words, right = bundled(kind).target.words, after.targets[at]
    likeliest = [word for word in after.distributions[at].topk(WORDS).indices.tolist() if word != right]
    shown = [right, *likeliest[: WORDS - 1]]
    names = [words[word] for word in after.targets]
    first, last = (float(each.distributions[at, each.targets[at]]) for each in (before, after))
    return {
        "bars": target_figure(
            [
                (
                    words[word],
                    float(word == right),
                    *(float(translator_costs.distributions[at, word]) for translator_costs in (before, after)),
                )
                for word in shown
            ]
        ),
        "targets_word": limit(maximum=len(after.targets), value=at + 1),
        "said": TEXT.said(
            pair.source,
            [SPECIAL[BEGIN], *names[:at]],
            words[right],
            (first, before.costs[at]),
            (last, after.costs[at]),
            len(words),
        ),
        "costs": costs_table(names, before.costs, after.costs, "mean"),
        "numbers": lambda: TEXT.numbers(len(words), math.log(len(words))),
        "program": lambda: targets_code(kind, pair.source, pair.target),
    }


def costs_table(names: Sequence[str], before: Sequence[float], after: Sequence[float], loss: str) -> str:
    """The cost at each position, their sum and their mean; `loss` says which of the two is minimized."""
    rows = [
        (name, math.exp(-old), old, math.exp(-new), new) for name, old, new in zip(names, before, after, strict=True)
    ]
    ends = [sum(before), sum(after)]
    return str(TEXT.costs(rows, ends, [end / len(names) for end in ends], loss))


class Targets(View):
    tab, order, reads_sentence = "Targets and loss", 6, False
    look = (
        "At each position, one word of the vocabulary is correct: its target is 1, that of all others 0. Compare the "
        "probabilities p and the loss before and after training."
    )

    @dataclass(frozen=True)
    class Choices:
        example: str = options(EXAMPLES, SIX, "Example", elem_id="targets-example")
        targets_english: str = menu(
            [(sentence, sentence) for sentence in OFFERED],
            OPENING,
            "English sentence",
            elem_id="targets-sentence",
            visible=False,
        )
        targets_word: int = slider(1, 20, 2, "Position: the word to predict", buttons=[], elem_id="targets-place")
        steps: int = slider(0, six_words.STEPS, six_words.STEPS, "Steps of training", elem_id="targets-steps")
        targets_translator: str = options(KINDS, "additive", "Translator (for the example “our translator”)")

    def lay_out(self, at: Layout) -> None:
        at.plot(
            "places", "Targets and probabilities of all positions", elem_id="targets-places", elem_classes="picture"
        )
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_classes="picture"):
                at.plot("bars", "Target and probabilities", elem_id="targets-bars")
            with gr.Column(scale=4, min_width=320):
                for name in ("example", "targets_english", "targets_word", "steps"):
                    at.control(name)
                at.look()
                at["said"] = gr.HTML("", elem_id="targets-said", elem_classes="said")
                with at.all_controls():
                    at.control("targets_translator")
        at["costs"] = gr.HTML("", elem_id="targets-costs")
        at.folds("The same costs, with cross_entropy of torch")

    @drawn(limits=("targets_word", "targets_english", "steps"))
    def draw(self, on: On, c: Choices) -> Shown:
        """All outputs for one example and a position in its target."""
        six = c.example == SIX
        if six:
            shown = drawn_six_words(c.targets_word, c.steps)
        else:
            shown = drawn_translator(c.targets_english, c.targets_word, c.targets_translator)
        return {
            **shown,
            "places": gr.update(value=shown.get("places"), visible=six),
            "targets_english": limit(visible=not six),
            "steps": limit(visible=six),
        }
