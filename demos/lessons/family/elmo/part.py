"""BERT, GPT, ELMo side by side: the words that a state depends on, and ELMo's weighted sum of a word's states."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.elmo.bundled import bundled
from demos.bert.elmo.learned_shares import LearnedShares, layers_of_uses, learn_shares
from demos.bert.elmo.mixing import Read, gates, mixed, read, shares_of, standardised
from demos.bert.elmo.who_sees import Dependence, dependence, word_tokens
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.word_senses import bundled_uses
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import ObjectNumbers, Recent
from demos.errors import UserError
from demos.figures.strips import strips_figure, strips_table
from demos.lessons.family.elmo.figure import architectures, dependence_figure, elmo_code
from demos.page.lesson import IN_BROWSER
from demos.page.progress import HEAVY
from demos.page.services import Services
from demos.page.view import Layout, On, Shown, View, slider, switch, words
from demos.templates import templates

TEXT = templates(__file__)
FIRST, SECOND, WORD = "Let's stick to the plan.", "He hit the dog with a stick.", "stick"
MOST_WORDS, MOST_CHARACTERS = 24, 300
MOST_BYTES = 4 * 2**20  # of the states that are kept: those of two sentences are some 50 kB
LAYERS = ("h0: the word alone", "h1: layer 1", "h2: layer 2")


@dataclass(frozen=True)
class Look:
    """The vectors of a word in two sentences, by a BERT and by the small ELMo."""

    reads: tuple[Read, ...]  # by ELMo
    places: tuple[int, ...]  # of the word in each
    seen: Dependence  # in the first sentence
    by_bert: tuple[np.ndarray, ...]  # <float32>[L + 1, d]: the word's states

    @property
    def nbytes(self) -> int:
        """Bytes of all states."""
        return sum(reading.layers.nbytes for reading in self.reads) + sum(states.nbytes for states in self.by_bert)


class Looks:
    """The latest results, for all readers: another weight computes no state again."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._models = ObjectNumbers()
        self._looks: Recent[Look] = Recent(MOST_BYTES, lambda look: look.nbytes, services.memory, "ELMo's states")

    def __call__(self, model: str, first: str, second: str, name: str) -> Look:
        """Raises UserError if a sentence has no word or too many, or if `name` is not in both."""
        loaded = self.services.loaded(model)
        encodings = [checked(loaded, text) for text in (first, second)]
        places = tuple(place_of(encoding, name) for encoding in encodings)

        def look(_: Any) -> Look:
            trained, words = bundled(), [word_tokens(encoding) for encoding in encodings]
            runs = self.services.runs.get_many(loaded, [(encoding.text, "") for encoding in encodings])
            return Look(
                tuple(read(trained, [word for word, _ in of_sentence]) for of_sentence in words),
                places,
                dependence(loaded, trained, encodings[0], places[0]),
                tuple(
                    run.hidden_states[:, of_sentence[place][1]].mean(1)
                    for run, of_sentence, place in zip(runs, words, places, strict=True)
                ),
            )

        return self._looks.make((self._models.of(loaded.model), first, second, name), look)


def weights_learned(norm: bool) -> tuple[str, str]:
    """The learned shares in words, and as JSON for the weights' sliders."""
    result, labelled = learned_shares(norm), bundled_uses()
    said = TEXT.learned(result, len(labelled), len({example.word for example in labelled}), norm)
    return said, json.dumps([round(float(share), 2) for share in result.shares])


@cache
def sense_layers() -> np.ndarray:
    """The states of the words in the bundled sentences, read once for both ways of mixing them."""
    return layers_of_uses(bundled(), [example.use for example in bundled_uses()])


@cache
def learned_shares(norm: bool) -> LearnedShares:
    """The same for all readers, since it does not depend on their input."""
    labelled, layers = bundled_uses(), sense_layers()
    words, senses = zip(*((example.word, example.sense) for example in labelled), strict=True)
    return learn_shares(standardised(layers) if norm else layers, words, senses)


def checked(loaded: LoadedModel, text: str) -> Encoding:
    """The sentence encoded. Raises UserError if it has no word or too many."""
    if len(str(text or "")) > MOST_CHARACTERS:
        raise UserError(f"Each sentence may have at most {MOST_CHARACTERS} characters.")
    encoding = encode(loaded.tokenizer, str(text or ""))
    count = len(word_tokens(encoding))
    if not count:
        raise UserError("Type two sentences that have the same word.")
    if count > MOST_WORDS:
        raise UserError(f"Each sentence may have at most {MOST_WORDS} words; this one has {count}.")
    return encoding


def place_of(encoding: Encoding, word: str) -> int:
    """The number of the word in the sentence, the first of several. Raises UserError if it is not there."""
    words = [sentence_word for sentence_word, _ in word_tokens(encoding)]
    if word not in words:
        raise UserError(f"The word “{word}” must occur in both sentences; it is not in “{encoding.text}”.")
    return words.index(word)


def weight_slider(number: int) -> Any:
    """A choice of the weight of one of the word's states."""
    label, elem_id = f"Weight of h{number}", f"elmo-weight-{number}"
    return slider(0, 1, 1, label, step=0.01, by_script=True, elem_id=elem_id, min_width=160)


class Elmo(View):
    tab, order, reads_sentence = "BERT, GPT, ELMo", 3, False
    look = (
        "The colored lines lead into one word's last state; in ELMo, this state is the concatenation of two LSTMs' "
        "states. From which sides do the lines come in BERT, in GPT, and in each of the LSTMs?"
    )

    @dataclass(frozen=True)
    class Choices:
        elmo_first: str = words(FIRST, "Sentence", max_lines=2, elem_id="elmo-first")
        elmo_word: str = words(WORD, "Word", max_lines=1, elem_id="elmo-word")
        elmo_second: str = words(SECOND, "The same word in another sentence", max_lines=2, elem_id="elmo-second")
        s0: float = weight_slider(0)
        s1: float = weight_slider(1)
        s2: float = weight_slider(2)
        elmo_norm: bool = switch("LayerNorm first", elem_id="elmo-norm", min_width=140)

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=7, min_width=340, elem_classes="picture"):
                at.plot("models", "The paths into one word", elem_id="elmo-models")
                at.plot("seen", "Which words change the state", elem_id="elmo-seen", elem_classes="attention-heatmap")
            with gr.Column(scale=3, min_width=300):
                for name in ("elmo_first", "elmo_word", "elmo_second"):
                    at.control(name)
                at["told"] = gr.HTML("", elem_id="elmo-told", elem_classes="said")
                at.look()
        gr.HTML(TEXT.mixing_heading(), elem_classes="said")
        with at.all_controls():
            with gr.Row():
                weights = [at.control(f"s{number}") for number in range(len(LAYERS))]
                norm = at.control("elmo_norm")
            with gr.Row():
                learn = gr.Button(
                    "Learn the shares from word senses", size="md", elem_id="elmo-learn", scale=0, min_width=330
                )
                learned = gr.HTML("", elem_id="elmo-learned", elem_classes="said")
        with gr.Row():
            with gr.Column(scale=7, min_width=340, elem_classes=["attention-heatmap", "strips"]):
                at.plot("strips", "The word's states, weighted and added")
            with gr.Column(scale=3, min_width=300):
                at["cosines"] = gr.HTML("", elem_id="elmo-cosines", elem_classes="said")
        at.folds("The word's vector in both sentences, with torch alone")
        shares = gr.Textbox("", visible="hidden")
        page = at.page
        page.forget([learned], [norm.input, *(weight.input for weight in weights)])  # it is about other weights then
        page.on([learn.click], weights_learned, [norm], [learned, shares], **HEAVY).then(
            None, [shares], weights, js="(shares) => JSON.parse(shares)", **IN_BROWSER
        )

    def draw(self, on: On, c: Choices) -> Shown:
        """All outputs for two sentences, a word in both and three weights."""
        trained = bundled()
        shares = shares_of([c.s0, c.s1, c.s2])
        name = c.elmo_word.strip().lower()[:60]
        look = on.services.shared(Looks)(on.sentence.model, c.elmo_first, c.elmo_second, name)
        reads, places = look.reads, look.places
        states = [reading.layers[:, place] for reading, place in zip(reads, places, strict=True)]  # two of [3, 2d]
        layers = [standardised(of_word) for of_word in states] if c.elmo_norm else states
        together = [mixed(of_word, shares) for of_word in layers]
        alike = cosine(np.stack([*layers[0], together[0]]), np.stack([*layers[1], together[1]]))
        strips = [
            (f"{name} {number}: {what}", vector)
            for number, (of_word, whole) in enumerate(zip(layers, together, strict=True), start=1)
            for what, vector in (
                *zip(("s0 h0", "s1 h1", "s2 h2"), of_word * shares[:, None], strict=True),
                ("sum", whole),
            )
        ]
        return {
            "models": architectures(reads[0].words, places[0]),
            "seen": dependence_figure(look.seen),
            "told": TEXT.expected(reads[0].words, places[0], reads[0].after[places[0]], reads[0].before[places[0]]),
            "strips": strips_figure(strips),
            "cosines": TEXT.cosines(
                name,
                list(zip((*LAYERS, "sum"), alike, strict=True)),
                cosine(*look.by_bert),
                on.loaded.spec.title,
            ),
            "numbers": lambda: TEXT.numbers(
                strips_table(strips, "The strips above"),
                gates(trained, reads[0].words, places[0]),
                shares,
                trained.measured,
                len(together[0]),
            ),
            "program": lambda: elmo_code(reads[0].words, reads[1].words, places, shares, c.elmo_norm),
        }
