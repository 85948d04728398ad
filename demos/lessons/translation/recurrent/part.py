"""An RNN that writes: its state and the next word's distribution, step by step."""

import math
from dataclasses import dataclass

import gradio as gr
import numpy as np

from demos.bert.recurrent.bundled import Trained, bundled
from demos.bert.recurrent.writing import LONGEST, Step, read_beginning, write
from demos.bert.translation.gru import END, SPECIAL
from demos.figures.numbers import percent
from demos.lessons.translation.recurrent.figure import Row, states_figure, writing_code
from demos.lessons.translation.wiring import typed_or_listed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, slider
from demos.templates import templates
from demos.widgets.seed_box.seed_box import seed_choice

TEXT = templates(__file__)
PLURAL, SINGULAR = (f"the {noun} on the european economic area" for noun in ("agreements", "agreement"))
BEGINNINGS = (PLURAL, SINGULAR, "the cats", "the cat", "my dogs do not", "she")
METHODS = [("the likeliest word (greedy)", "greedy"), ("a random word", "random")]
TOP, SHOWN = 8, 4  # of the likeliest next words; numbers of a vector


class Recurrent(View):
    tab, order, reads_sentence = "An RNN that writes", 2, False
    look = (
        "Each row is one step: a word, the network's state after it, and the next word with its probability. The state "
        "is all that the network keeps of the earlier words. Choose the beginning that contains “agreement”, and "
        "compare the verb that the network predicts six words after this noun."
    )

    @dataclass(frozen=True)
    class Choices:
        beginning: str = typed_or_listed(
            "recurrent-beginning", "Beginning: choose one, or type", PLURAL, lambda: BEGINNINGS
        )
        recurrent_step: int = slider(1, LONGEST, 8, "Step", buttons=[], elem_id="recurrent-step")
        chosen_word: str = options(METHODS, "greedy", "Which word is written", elem_id="recurrent-method")
        recurrent_temperature: float = slider(0.1, 3.0, 1.0, "Temperature (random words)", step=0.1, min_width=120)
        recurrent_seed: int = seed_choice(1, "Seed (random words)", min_width=120)

        def steps(self, trained: Trained) -> list[Step]:
            """The steps of the network. Raises UserError as `read_beginning`."""
            temperature = self.recurrent_temperature if self.chosen_word == "random" else None
            return write(trained, read_beginning(trained, self.beginning), temperature, self.recurrent_seed)

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=5, min_width=320):
                at.plot("picture", "The state after each word", elem_id="recurrent-states", elem_classes="picture")
                at["said"] = gr.HTML("", elem_id="recurrent-said", elem_classes="said")
            with gr.Column(scale=4, min_width=320):
                at.control("beginning")
                at.control("recurrent_step")
                at["step"] = gr.HTML("", elem_id="recurrent-one-step")
                at.look()
                at.control("chosen_word")
        with at.all_controls(), gr.Row():
            at.control("recurrent_temperature")
            at.control("recurrent_seed")
        at.folds("The same steps, with torch alone")

    @drawn(limits=("recurrent_step",))
    def draw(self, on: On, c: Choices) -> Shown:
        """All steps after a beginning, and one of them."""
        trained = bundled()
        steps = c.steps(trained)
        at = min(c.recurrent_step, len(steps)) - 1
        words = trained.vocabulary.words[END:]  # those that can be written
        best = likeliest(steps[at], words)
        temperature = c.recurrent_temperature if c.chosen_word == "random" else None
        chances = [step.probabilities[step.following].item() for step in steps]  # of the words that follow
        rows = [Row(s.word, words[s.following], chance, s.typed) for s, chance in zip(steps, chances, strict=True)]
        states = np.stack([step.state.numpy() for step in steps])
        return {
            "picture": states_figure(rows, states, at),
            "recurrent_step": limit(maximum=len(steps), value=at + 1),
            "step": TEXT.step(at + 1, rows[at], states[at], SHOWN, best, len(words), temperature, percent),
            "said": TEXT.said(rows, trained.measured, math.exp),
            "numbers": lambda: TEXT.numbers(rows, states, SHOWN, trained.vocabulary.words[len(SPECIAL) :]),
            "program": lambda: writing_code(c.beginning, temperature, c.recurrent_seed, at + 1, LONGEST, TOP, SHOWN),
        }


def likeliest(step: Step, words: tuple[str, ...]) -> list[tuple[str, float, float, bool]]:
    """(word, probability, the same after the temperature, whether it follows): TOP words, and the one that follows."""
    top = step.probabilities.topk(TOP).indices.tolist()
    shown = top if step.following in top else [*top, step.following]
    return [
        (words[word], step.probabilities[word].item(), step.tempered[word].item(), word == step.following)
        for word in shown
    ]


def answer(services: Services, sentence: Sentence) -> Answer:
    """The probabilities of both verbs."""
    facts = {"were": chance(PLURAL, "were"), "was": chance(PLURAL, "was"), "singular": chance(SINGULAR, "was")}
    return Answer(facts=facts)


def chance(beginning: str, word: str) -> float:
    """P(word | beginning)."""
    trained = bundled()
    typed = read_beginning(trained, beginning)
    step = write(trained, typed)[len(typed)]
    return step.probabilities[trained.vocabulary.ids[word] - END].item()
