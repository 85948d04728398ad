"""Search: the tree of a beam search over a bundled translator, beside greedy decoding and random sampling."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import gradio as gr

from demos.bert.decoding.beam import Search
from demos.bert.decoding.sampling import Sampling, reshape
from demos.bert.translation.bundled import bundled, read_sentence
from demos.bert.translation.decoding import LONGEST, Trained
from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.searching import Continuations, drawn_words, greedy, least_sure, missed, search, words_of
from demos.lessons.translation.search.figure import distribution_figure, search_code
from demos.lessons.translation.wiring import english, results
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, options, slider
from demos.templates import templates
from demos.widgets.search_tree.figure import tree_figure
from demos.widgets.seed_box.seed_box import seed_choice

TEXT = templates(__file__)
KINDS = [("GRU, no attention", "none"), ("GRU, attention", "additive"), ("Transformer", "transformer")]
OPENING, WIDTH, MOST_WIDTH, MOST_PENALTY = "none", 4, 6, 2.0
SENTENCE = "the girl sings under the pretty black table of the boy"
LISTED, WORDS, SEEDS = 12, 8, 5  # sentences in the menu; bars; texts that are drawn


def offered() -> Sequence[Pair]:
    """The pairs of the menu: such as greedy decoding misses."""
    return missed(OPENING, WIDTH)[:LISTED] or held_out()[:LISTED]


class Searching(View):
    tab, order, reads_sentence = "Greedy, beam, sampling", 5, False
    look = (
        "Greedy decoding takes the likeliest word at each step. Beam search keeps the few best beginnings: follow the "
        "thick line to its best translation, and compare its log-probability with that of the greedy translation. "
        "Then set the beam width to 1 (= greedy)."
    )

    @dataclass(frozen=True)
    class Choices:
        search_english: str = english("search-sentence", SENTENCE, offered)
        width: int = slider(1, MOST_WIDTH, WIDTH, "Width of the beam", elem_id="search-width")
        search_steps: int = slider(0, LONGEST, 0, "Steps shown (0: all)", buttons=[], elem_id="search-steps")
        temperature: float = slider(0.1, 3.0, 1.0, "Temperature", step=0.1, elem_id="search-temperature")
        search_translator: str = options(KINDS, OPENING, "Translator (of both pictures)")
        penalty: float = slider(0, MOST_PENALTY, 0.0, "Length penalty (beam search)", step=0.1)
        top_k: int = slider(0, 50, 0, "Top-k (0: all words)")
        top_p: float = slider(0.05, 1.0, 1.0, "Top-p (1: all words)", step=0.05)
        drawn_seed: int = seed_choice(1)

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_classes="picture"):
                at.plot("tree", "The tree of the beam search", elem_id="search-tree")
            with gr.Column(scale=4, min_width=320):
                for name in ("search_english", "width", "search_steps"):
                    at.control(name)
                at.look()
                at["found"] = gr.HTML("", elem_id="search-found", elem_classes="said")
        with gr.Row():
            with gr.Column(scale=6, min_width=320):
                at["drawn"] = gr.HTML("", elem_id="search-drawn", elem_classes="said")
                at.plot("bars", "The next word's distribution", elem_id="search-bars")
            with gr.Column(scale=4, min_width=320):
                at.control("temperature")
                with at.all_controls():
                    for name in ("search_translator", "penalty", "top_k", "top_p", "drawn_seed"):
                        at.control(name)
        at.folds("The same beam search")

    @drawn(by=("search_english", "search_translator", "width", "penalty", "search_steps"), limits=("search_steps",))
    def draw(self, on: On, c: Choices) -> Shown:
        """The search and its tree."""
        kind, translations = c.search_translator, on.services.shared(results)
        trained, source = bundled(kind), read_sentence(c.search_english)
        result, first = translations(search, kind, source, c.width, c.penalty), translations(greedy, kind, source)
        upto = min(c.search_steps, len(result.steps))
        pair = next((pair for pair in held_out() if pair.source == source), None)
        finished = [
            (words_of(trained, hypothesis), hypothesis.log_probability, len(hypothesis.tokens), hypothesis.score)
            for hypothesis in result.finished
        ]
        greedily = words_of(trained, first), first.log_probability
        rate = (len(missed(kind, WIDTH)), len(held_out()), WIDTH)
        return {
            "tree": tree_figure(result, trained.target.words.__getitem__, upto or len(result.steps)),
            "search_steps": limit(maximum=len(result.steps), value=upto),
            "found": TEXT.translations(greedily, finished, pair.target if pair else (), c.width, rate),
            "numbers": lambda: TEXT.numbers(finished, list(candidates(trained, result))),
            "program": lambda: search_code(kind, source, c.width, c.penalty),
        }

    @drawn("drawn", "bars", by=("search_english", "search_translator", "temperature", "top_k", "top_p", "drawn_seed"))
    def draw_by_chance(self, on: On, c: Choices) -> Shown:
        """Five translations drawn by chance, and the distribution of the word at which the model is least sure."""
        trained, source = bundled(c.search_translator), read_sentence(c.search_english)
        sampling = Sampling(c.temperature, c.top_k, c.top_p).check()
        seeds, continuations = range(c.drawn_seed, c.drawn_seed + SEEDS), Continuations(trained, source)
        texts = []
        for draw_seed, words in zip(seeds, drawn_words(continuations, sampling, seeds), strict=True):
            french = [trained.target.words[word.token] for word in words]
            texts.append((draw_seed, french[:-1], sum(word.log_probability for word in words)))
        tokens = on.services.shared(results)(greedy, c.search_translator, source).tokens
        at, logits = least_sure(continuations, tokens)
        step = reshape(logits, sampling)
        shown = step.original.topk(WORDS).indices.tolist()
        rows = [(trained.target.words[w], step.original[w].item(), step.final[w].item()) for w in shown]
        return {
            "drawn": TEXT.drawn(texts, [trained.target.words[token] for token in tokens[:at]]),
            "bars": distribution_figure(rows),
        }


def candidates(trained: Trained, result: Search) -> Iterator[tuple[int, list[str], float, float, str]]:
    """(the step, the words so far, their log-probability, that of the last word, the fate) of all candidates."""
    for at, step in enumerate(result.steps, start=1):
        for candidate in step:
            words = [trained.target.words[token] for token in candidate.hypothesis.tokens]
            yield at, words, candidate.hypothesis.log_probability, candidate.log_probability, candidate.fate


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of sentences found by computation."""
    return Answer(facts={"width": WIDTH, "found": len(missed(OPENING, WIDTH))})
