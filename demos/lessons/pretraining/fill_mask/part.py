"""Fill the mask: a model's predictions for a masked word, at every layer, and the effect of the words around it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import gradio as gr
import numpy as np

from demos.bert.model.encoding import check_length, encode, truncation_notice
from demos.bert.model.text import small_mask
from demos.bert.pretraining.context import removal_steps
from demos.bert.pretraining.guesses import masked
from demos.bert.pretraining.lens import Distribution, distributions, hide, states
from demos.bert.pretraining.likelihood import pseudo_likelihood
from demos.errors import UserError
from demos.figures.token_chips import hue_style
from demos.files import Json, read_beside
from demos.lessons.pretraining.fill_mask.figure import (
    TEXT,
    best_html,
    fill_code,
    lens_html,
    numbers_html,
    sentence_html,
    summary_html,
)
from demos.lessons.pretraining.fill_mask.figure_context import beside_html, likelihood_html, removals_html
from demos.lessons.pretraining.fill_mask.places import MAX_HIDDEN, Gaps, gaps, with_gap
from demos.page.folds import fold
from demos.page.larger_model.larger_model import small_model_html
from demos.page.lesson import IN_BROWSER, Page
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import CUT, Layout, On, Shown, View, drawn, slider, words
from demos.widgets.scripted.scripted import scripted

SENTENCE = "fill-sentence"
LEAST, MOST = 5, 20  # guesses shown
MAX_FOLLOWED = 4  # words whose probabilities are followed while others are taken away
SIDE = 5  # words of each context
MAX_CACHED = 128  # places whose states are remembered, some ten kilobytes each
MOST_ASKED = 100  # words of the endpoint
MOST_TOKENS = 96  # tokens, each of which takes a forward pass
AT_ONCE = 16
QUARTERS = ("seldom", "some", "many", "most")


@dataclass(frozen=True)
class Example:
    """A sentence to try, beside another context for the same word."""

    label: str  # on the button
    text: str
    other: str
    answer: str  # the expected word: among the bundled model's first FAIR guesses, or far from them where it is hard
    is_hard: bool = False


FAIR = 5
EXAMPLES = (
    Example(
        "She opened the …",
        "She opened the [MASK] and walked into the room.",
        "She opened the [MASK] and read the first page.",
        "door",
    ),
    Example(
        "The capital of France",
        "We spent a week in [MASK], the capital of France.",
        "We spent a week in [MASK], the capital of Italy.",
        "paris",
    ),
    Example("He or she?", "The nurse said that [MASK] was tired.", "The doctor said that [MASK] was tired.", "she"),
    Example("Grammar", "She did [MASK] like it at all.", "She did [MASK] like it, and said so.", "not"),
    Example(
        "In this skit",
        "Let's stick to [MASK] in this skit",
        "Let's stick to [MASK] in this exam",
        "improvisation",
        True,
    ),
    Example(
        "Thanks for all …", "Thanks for all the [MASK].", "Thanks for all the [MASK] that you caught.", "fish", True
    ),
)


class Filler:
    """Reads a sentence with words hidden; the last places read are remembered, so that a slider costs no pass."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.pretrained = services.pretrained
        self._states = lru_cache(maxsize=MAX_CACHED)(self._read)

    def gaps(self, sentence: Sentence, marks: str, side: int | None = None) -> Gaps:
        """The sentence's hidden words, as `places.gaps`. Raises UserError if it has no word."""
        tokenizer = self.pretrained(sentence.model).tokenizer
        return gaps(tokenizer, encode(tokenizer, sentence.text, sentence.text_pair), marks, side)

    def layers(self, model: str, at: Gaps, count: int, truth: int | None = None) -> tuple[Distribution, ...]:
        """Every layer's predictions at the chosen position; `truth` is the masked word's id."""
        pretrained = self.pretrained(model)
        hidden = self._states(model, at.whole.text, at.whole.text_pair, at.places, at.focus)
        target_id = at.truth if truth is None else truth
        return distributions(pretrained.word_logits, pretrained.tokenizer, hidden, count, target_id)

    def _read(self, model: str, text: str, pair: str, places: tuple[int, ...], focus: int) -> np.ndarray:
        pretrained = self.pretrained(model)
        hidden = hide(pretrained.tokenizer, encode(pretrained.tokenizer, text, pair), places)
        array: np.ndarray = states(pretrained.encoder, [hidden], every=True)[:, 0, focus].clone().numpy()
        return array  # [L + 1, d], a copy: a view would keep all tokens' states


class FillMask(View):
    tab, order, former = "Fill the mask", 1, "fill"
    look = (
        "One word is masked, and the model computes a probability for every entry of the vocabulary. See how "
        "uncertain the prediction is, at which layer the masked word reaches rank 1, and which other words the "
        "prediction depends on."
    )

    @dataclass(frozen=True)
    class Choices:
        mask: str = words("", "", visible="hidden")  # the hidden words' marks
        other: str = words(
            "",
            "Another sentence with [MASK]",
            placeholder="Copy the sentence, then change some words",
            lines=1,
            max_lines=3,
            scale=5,
            min_width=220,
            elem_id="fill-other",
        )
        top: int = slider(LEAST, MOST, 10, "Number of predictions", elem_id="fill-top")

    def lay_out(self, at: Layout) -> None:
        page, filler = at.page, at.page.services.shared(Filler)
        at["chips"] = scripted(read_beside(__file__, "script.js"), SENTENCE, elem_classes="picture")
        with gr.Row(elem_classes="fill-examples"):
            buttons: list[tuple[gr.Button, Example]] = []
            for is_hard, heading in ((False, TEXT.examples()), (True, TEXT.hard())):
                gr.HTML(heading, elem_classes="fill-words", min_width=40)
                buttons += [
                    (gr.Button(example.label, size="sm", min_width=60, elem_classes="fill-example"), example)
                    for example in EXAMPLES
                    if example.is_hard == is_hard
                ]
        marks = at.control("mask")
        with gr.Row(elem_classes="fill-top"):
            with gr.Column(elem_classes="fill-guesses", min_width=320):
                at["said"] = gr.HTML("", elem_id="fill-said")
                at["best"] = gr.HTML("", elem_id="fill-best")
            with gr.Column(elem_classes="fill-layers", min_width=320):
                at["layers"] = gr.HTML("", elem_id="fill-layers")
                gr.HTML(TEXT.lens_note())
        with gr.Column(elem_classes="fill-context"):
            gr.HTML(TEXT.context_heading())
            with gr.Row(elem_classes="fill-other"):
                other = at.control("other")
                copy = gr.Button("Copy the sentence", size="sm", min_width=150, elem_id="fill-copy")
            at["beside"] = gr.HTML("", elem_id="fill-beside")
        with at.all_controls():
            at.control("top")
            with gr.Column(elem_classes="fill-context"):
                without_words(page, filler, marks)
        at["copied"] = gr.Textbox("", visible="hidden")
        likelihood(page, filler)
        at.folds("Prints these predictions, and the top word at each layer")
        copy.click(None, [at["copied"]], [other], js="(copied) => copied", **IN_BROWSER)
        for button, example in buttons:
            js = f"() => {json.dumps([example.text, '', '', example.other])}"
            button.click(None, None, [page.text, page.text_pair, marks, other], js=js, **IN_BROWSER)
        at["chips"].select(None, None, [marks], js=f"() => insideBert.picked[{SENTENCE!r}]()", **IN_BROWSER)

    @drawn(by=("mask", "top"))
    def draw(self, on: On, c: Choices) -> Shown:
        """The picture and its folds; the sentence with its gaps, to be copied."""
        filler, sentence = on.services.shared(Filler), on.sentence
        pretrained, cloze = filler.pretrained(sentence.model), filler.gaps(sentence, c.mask)
        layers, mask_token = filler.layers(sentence.model, cloze, c.top), pretrained.tokenizer.mask_token
        known, style = cloze.truth is not None, hue_style(cloze.whole, cloze.focus)
        last = layers[-1]
        return {
            CUT: [cloze.whole],
            "chips": sentence_html(cloze.whole, cloze.places, cloze.focus, cloze.marks, mask_token),
            "said": summary_html(last, cloze.focus, known, pretrained.decoder.out_features)
            + small_model_html(pretrained, on.services.store.catalogue)
            + TEXT.small_mask(small_mask(sentence.text, sentence.text_pair)),
            "best": best_html(last, known, style),
            "layers": lens_html(layers, known, style),
            "copied": with_gap(cloze, mask_token),
            "numbers": lambda: numbers_html(last, layers),
            "program": lambda: fill_code(
                pretrained.encoder.spec, cloze.whole, cloze.places, cloze.focus, len(last.best)
            ),
        }

    @drawn("beside", by=("mask", "other"))
    def draw_beside(self, on: On, c: Choices) -> Shown:
        """The same word's predictions in both sentences."""
        return {"beside": compared(on.services.shared(Filler), on.sentence, c.mask, c.other)}


def without_words(page: Page, filler: Filler, marks: gr.Component) -> None:
    """The effect of removing each other word, on request."""
    gr.HTML(TEXT.without_heading())
    remove = gr.Button("Remove each of the other words in turn", size="sm", elem_id="fill-remove")
    table = gr.HTML("", elem_id="fill-removed")
    page.on(
        [remove.click],
        partial(removed, filler),
        [*page.sentence, marks],
        [table],
        concurrency_id="words-away",  # forty sentences must not delay readers who only look
        concurrency_limit=1,
        trigger_mode="once",
    )
    page.forget([table], [page.settled.change, marks.change])


def removed(filler: Filler, text: str, pair: str, model: str, marks: str) -> Iterator[str]:
    """Yield the progress, and at the end the effect of removing each other word. It stops when its reader leaves."""
    cloze = filler.gaps(Sentence(text or "", pair or "", model), marks)
    last = filler.layers(model, cloze, MAX_FOLLOWED)[-1]
    candidates = dict.fromkeys([last.target.token_id, *(guess.token_id for guess in last.best)])
    steps = removal_steps(filler.pretrained(model), cloze.hidden, cloze.focus, list(candidates)[:MAX_FOLLOWED])
    yield removals_html((yield from relayed(steps, lambda step: TEXT.reading(*step))))


def compared(filler: Filler, sentence: Sentence, marks: str, other: str) -> str:
    """The five likeliest words here and in the other sentence, which has its own gaps, or gets one.

    Of a pair it takes the place of the sentence that is looked at; the other one stays beside it.
    """
    if not other.strip():
        return ""
    here = filler.gaps(sentence, marks)
    pair = (here.whole.text, other) if here.side else (other, here.whole.text_pair)
    there = filler.gaps(Sentence(*pair, sentence.model), "", here.side)
    number = min(here.on_side.index(here.focus), len(there.on_side) - 1)  # the same gap of several
    there = replace(there, focus=there.on_side[number])
    guesses_here = filler.layers(sentence.model, here, SIDE)[-1]
    guesses_there = filler.layers(sentence.model, there, SIDE, guesses_here.target.token_id)[-1]
    mask_token = filler.pretrained(sentence.model).tokenizer.mask_token
    return beside_html(
        (with_gap(here, mask_token), guesses_here),
        (with_gap(there, mask_token), guesses_there),
        hue_style(here.whole, here.focus),
    )


def likelihood(page: Page, filler: Filler) -> None:
    """The whole sentence's likelihood, token by token; a generator, so that it stops when its reader leaves."""
    with fold(__file__, "scores", "How likely is the whole sentence? Mask each token in turn"):
        score = gr.Button("Score the sentence, token by token", size="sm", elem_id="fill-score")
        strip = gr.HTML("", elem_id="fill-scored")

    def scored(text: str, pair: str, model: str) -> Iterator[str]:
        pretrained = filler.pretrained(model)
        yield from map(likelihood_html, pseudo_likelihood(pretrained, encode(pretrained.tokenizer, text, pair)))

    page.on(
        [score.click],
        scored,
        page.sentence,
        [strip],
        concurrency_id="score-sentence",
        concurrency_limit=1,
        trigger_mode="once",
    )
    page.forget([strip])


def fill_endpoint(services: Services) -> Callable[..., Json]:
    """The API's `fill_mask`."""

    def fill_mask(text: str, top: int = 5, model: str = "") -> Json:
        """The likeliest words for each [MASK] in the text, with their probabilities.

        "masks" has one entry a [MASK], in order: its place among "tokens", its "words", and the "entropy" in nats of
        all words' probabilities there. top is 1 to 100; model is a catalogue key, empty for the default. At most 16
        [MASK]s, which are all hidden at once; beyond 512 tokens the text is cut, and "notice" says so.
        """
        if isinstance(top, bool) or not isinstance(top, int) or not 1 <= top <= MOST_ASKED:
            raise UserError(f"top must be a whole number from 1 to {MOST_ASKED}.")
        pretrained = services.pretrained(services.key(model))
        tokenizer = pretrained.tokenizer
        encoding = encode(tokenizer, text)
        places = [place for place, token_id in enumerate(encoding.input_ids) if token_id == tokenizer.mask_token_id]
        if not places:
            raise UserError("There is no [MASK] in the text; write one where a word is missing.")
        if len(places) > MAX_HIDDEN:
            raise UserError(f"The text has {len(places)} [MASK]s; the limit is {MAX_HIDDEN}.")
        hidden = states(pretrained.encoder, [encoding])[0, 0, places].numpy()  # [masks, d]
        masks = []
        for place, guesses in zip(places, distributions(pretrained.word_logits, tokenizer, hidden, top), strict=True):
            words = [{"token": guess.token, "probability": guess.probability} for guess in guesses.best]
            masks.append({"place": place, "entropy": guesses.entropy, "words": words})
        notice = truncation_notice(encoding)
        return {"tokens": list(encoding.tokens), "masks": masks} | ({"notice": notice} if notice else {})

    return fill_mask


def answer(services: Services, sentence: Sentence) -> Answer:
    """The share of tokens that the masked-word head puts first."""
    pretrained = services.pretrained(sentence.model)
    encoding = encode(pretrained.tokenizer, sentence.text, sentence.text_pair)
    check_length(encoding, MOST_TOKENS)
    places = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    if not places:
        raise UserError("There is no word to mask; type a sentence.")
    right = 0
    for start in range(0, len(places), AT_ONCE):
        batch = places[start : start + AT_ONCE]
        hidden = states(pretrained.encoder, [masked(pretrained.tokenizer, encoding, place) for place in batch])[0]
        for row, place in enumerate(batch):
            first = int(pretrained.word_logits(hidden[row, place]).argmax())
            right += first == encoding.input_ids[place]
    share = right / len(places)
    facts = {"right": right, "count": len(places), "share": share}
    return Answer(keys=frozenset({QUARTERS[min(int(share * 4), 3)]}), facts=facts)
