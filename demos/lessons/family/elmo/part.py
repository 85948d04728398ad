"""BERT, GPT, ELMo side by side: the words that a state depends on, and ELMo's weighted sum of a word's states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
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
from demos.lessons.family.elmo.figure import architectures, dependence_figure
from demos.lessons.family.elmo.program import elmo_code
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part, by_component
from demos.page.progress import HEAVY
from demos.page.services import Sentence, Services
from demos.templates import templates

TEXT = templates(__file__)
FIRST, SECOND, WORD = "Let's stick to the plan.", "He hit the dog with a stick.", "stick"
MOST_WORDS, MOST_CHARACTERS = 24, 300
MOST_BYTES = 4 * 2**20  # of the states that are kept: those of two sentences are some 50 kB
LAYERS = ("h0: the word alone", "h1: layer 1", "h2: layer 2")


def build(page: Page) -> None:
    """The three architectures beside the sentences; which words count; the word's states, weighted and added."""
    parts: dict[str, gr.Component] = {}
    with gr.Row():
        with gr.Column(scale=7, min_width=340, elem_classes="picture"):
            parts["models"] = gr.Plot(label="The paths into one word", show_label=False, elem_id="elmo-models")
            parts["seen"] = gr.Plot(
                label="Which words change the state", show_label=False, elem_id="elmo-seen",
                elem_classes="attention-heatmap",
            )  # fmt: skip
        with gr.Column(scale=3, min_width=300):
            first = gr.Textbox(FIRST, label="Sentence", max_lines=2, elem_id="elmo-first")
            word = gr.Textbox(WORD, label="Word", max_lines=1, elem_id="elmo-word")
            second = gr.Textbox(SECOND, label="The same word in another sentence", max_lines=2, elem_id="elmo-second")
            parts["told"] = gr.HTML("", elem_id="elmo-told", elem_classes="said")
            page.show_look()
    gr.HTML(TEXT.mixing_heading(), elem_classes="said")
    with all_controls(page, __file__):
        with gr.Row():
            weights = [
                gr.Slider(
                    0, 1, 1, step=0.01, label=f"Weight of h{number}", elem_id=f"elmo-weight-{number}", min_width=160
                )
                for number in range(len(LAYERS))
            ]
            norm = gr.Checkbox(False, label="LayerNorm first", elem_id="elmo-norm", min_width=140)
        with gr.Row():
            learn = gr.Button(
                "Learn the shares from word senses", size="md", elem_id="elmo-learn", scale=0, min_width=330
            )
            learned = gr.HTML("", elem_id="elmo-learned", elem_classes="said")
    with gr.Row():
        with gr.Column(scale=7, min_width=340, elem_classes="attention-heatmap"):
            parts["strips"] = gr.Plot(label="The word's states, weighted and added", show_label=False)
        with gr.Column(scale=3, min_width=300):
            parts["cosines"] = gr.HTML("", elem_id="elmo-cosines", elem_classes="said")
    parts["numbers"], parts["program"] = folds(__file__, "The word's vector in both sentences, with torch alone")
    page.keep(elmo_first=first, elmo_second=second, elmo_word=word, elmo_norm=norm)
    page.keep(**{f"s{number}": weight for number, weight in enumerate(weights)})
    show = by_component(parts, partial(drawn, Looks(page.services)))
    moved = [first.change, second.change, word.change, norm.input, *(weight.change for weight in weights)]
    inputs = [first, second, word, norm, *weights]
    page.draw(show, inputs, list(parts.values()), triggers=moved, show_progress="hidden")
    page.forget([learned], [norm.input, *(weight.input for weight in weights)])  # it is about other weights then
    page.on([learn.click], weights_learned, [norm], [learned, *weights], **HEAVY)


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
        """Raises UserError where a sentence has no word or too many, or where `name` is not in both."""
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


def drawn(
    looks: Looks, sentence: Sentence, first: str, second: str, word: str, norm: bool, *weights: float
) -> dict[str, Any]:
    """All outputs for two sentences, a word in both and three weights."""
    trained = bundled()
    shares = shares_of([float(weight or 0) for weight in weights])
    name = str(word or "").strip().lower()[:60]
    look = looks(sentence.model, first, second, name)
    reads, places = look.reads, look.places
    states = [reading.layers[:, place] for reading, place in zip(reads, places, strict=True)]  # two of [3, 2d]
    layers = [standardised(of_word) for of_word in states] if norm else states
    together = [mixed(of_word, shares) for of_word in layers]
    alike = cosine(np.stack([*layers[0], together[0]]), np.stack([*layers[1], together[1]]))
    strips = [
        (f"{name} {number}: {what}", vector)
        for number, (of_word, whole) in enumerate(zip(layers, together, strict=True), start=1)
        for what, vector in (*zip(("s0 h0", "s1 h1", "s2 h2"), of_word * shares[:, None], strict=True), ("sum", whole))
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
            looks.services.loaded(sentence.model).spec.title,
        ),
        "numbers": lambda: TEXT.numbers(
            strips_table(strips, "The strips above"),
            gates(trained, reads[0].words, places[0]),
            shares,
            trained.measured,
            len(together[0]),
        ),
        "program": lambda: elmo_code(reads[0].words, reads[1].words, places, shares, bool(norm)),
    }


def weights_learned(norm: bool) -> list[Any]:
    """The learned shares in words, and each weight's slider at its share."""
    result = learned_shares(bool(norm))
    labelled = bundled_uses()
    return [TEXT.learned(result, len(labelled), len({example.word for example in labelled}), bool(norm))] + [
        round(float(share), 2) for share in result.shares
    ]


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
    """The sentence encoded. Raises UserError where it has no word or too many."""
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


PART = Part(
    tab="BERT, GPT, ELMo",
    look=(
        "The colored lines lead into one word's last state. In BERT they come from both sides in every layer, in GPT "
        "only from the left; ELMo concatenates the states of two LSTMs, each of which depends on one side only."
    ),
    build=build,
    reads_sentence=False,
    order=3,
)
