"""Search: the tree of a beam search over a bundled translator, beside greedy decoding and random sampling."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.decoding.beam import Search
from demos.bert.decoding.sampling import Sampling, reshape
from demos.bert.translation.bundled import bundled, read_sentence
from demos.bert.translation.decoding import Trained
from demos.bert.translation.grammar import held_out
from demos.bert.translation.kept import Kept
from demos.bert.translation.searching import Continuations, drawn_words, greedy, least_sure, missed, search, words_of
from demos.errors import UserError
from demos.lessons.translation.search.figure import distribution_figure
from demos.lessons.translation.search.program import search_code
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import moving_slider
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence
from demos.templates import templates
from demos.training.form_values import NO_NUMBER
from demos.widgets.search_tree.figure import tree_figure
from demos.widgets.seed_box.seed_box import seed_box

TEXT = templates(__file__)
KINDS = [("GRU, no attention", "none"), ("GRU, attention", "additive"), ("Transformer", "transformer")]
OPENING, WIDTH, MOST_WIDTH, MOST_PENALTY = "none", 4, 6, 2.0
LISTED, WORDS, SEEDS = 12, 8, 5  # sentences in the menu; bars; texts that are drawn


def build(page: Page) -> None:
    """The tree beside its controls; both translations; what is drawn by chance; the folds."""
    examples = missed(OPENING, WIDTH)[:LISTED] or held_out()[:LISTED]
    offered = [" ".join(pair.source[:-1]) for pair in examples]
    parts: dict[str, Any] = {}
    with gr.Row():
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            parts["tree"] = gr.Plot(label="The tree of the beam search", show_label=False, elem_id="search-tree")
        with gr.Column(scale=4, min_width=320):
            sentence = gr.Dropdown(
                offered, value=offered[-1], label="English sentence: choose one, or type", allow_custom_value=True,
                elem_id="search-sentence",
            )  # fmt: skip
            width = gr.Slider(1, MOST_WIDTH, value=WIDTH, step=1, label="Width of the beam", elem_id="search-width")
            steps = moving_slider(0, 30, 0, label="Steps shown (0: all)", elem_id="search-steps")
            page.show_look()
            parts["found"] = gr.HTML("", elem_id="search-found", elem_classes="said")
    with gr.Row():
        with gr.Column(scale=6, min_width=320):
            parts["drawn"] = gr.HTML("", elem_id="search-drawn", elem_classes="said")
            parts["bars"] = gr.Plot(label="The next word's distribution", show_label=False, elem_id="search-bars")
        with gr.Column(scale=4, min_width=320):
            temperature = gr.Slider(0.1, 3.0, value=1.0, step=0.1, label="Temperature", elem_id="search-temperature")
            with all_controls(page, __file__):
                kind = gr.Radio(KINDS, value=OPENING, label="Translator (of both pictures)")
                penalty = gr.Slider(0, MOST_PENALTY, value=0.0, step=0.1, label="Length penalty (beam search)")
                top_k = gr.Slider(0, 50, value=0, step=1, label="Top-k (0: all words)")
                top_p = gr.Slider(0.05, 1.0, value=1.0, step=0.05, label="Top-p (1: all words)")
                seed = seed_box(1)
    parts["numbers"], parts["program"] = folds(__file__, "The same beam search")
    parts["steps"] = steps
    page.keep(
        search_english=sentence, width=width, search_steps=steps, search_translator=kind, penalty=penalty,
        temperature=temperature, top_k=top_k, top_p=top_p, drawn_seed=seed,
    )  # fmt: skip
    searched, sampled = [sentence, kind, width, penalty, steps], [sentence, kind, temperature, top_k, top_p, seed]
    translations = Kept(page.services.memory)
    tree = {name: parts[name] for name in ("tree", "found", "numbers", "program", "steps")}
    page.draw(
        by_component(tree, partial(drawn_tree, translations)), searched, list(tree.values()), show_progress="hidden",
        triggers=[sentence.input, kind.input, width.input, penalty.input, steps.input],
    )  # fmt: skip
    chance = {name: parts[name] for name in ("drawn", "bars")}
    show = by_component(chance, partial(drawn_by_chance, translations))
    page.draw(show, sampled, list(chance.values()), show_progress="hidden")


def drawn_tree(
    translations: Kept, _: Sentence, typed: str, kind: Any, width: Any, penalty: Any, steps: Any
) -> dict[str, Any]:
    """The search and its tree."""
    trained, source = chosen(kind), read_sentence(str(typed or ""))
    wide = int(number(width, 1, MOST_WIDTH))
    power = number(penalty, 0, MOST_PENALTY)
    result, first = translations(search, str(kind), source, wide, power), translations(greedy, str(kind), source)
    upto = int(number(steps, 0, len(result.steps)))
    pair = next((pair for pair in held_out() if pair.source == source), None)
    finished = [
        (words_of(trained, hypothesis), hypothesis.log_probability, len(hypothesis.tokens), hypothesis.score)
        for hypothesis in result.finished
    ]
    rate = (len(missed(str(kind), WIDTH)), len(held_out()), WIDTH)
    return {
        "tree": tree_figure(result, trained.target.words.__getitem__, upto or len(result.steps)),
        "steps": gr.update(maximum=len(result.steps), value=upto),
        "found": TEXT.translations(
            source, (words_of(trained, first), first.log_probability), finished, pair.target if pair else (), wide, rate
        ),
        "numbers": lambda: TEXT.numbers(finished, list(candidates(trained, result))),
        "program": lambda: search_code(str(kind), source, wide, power),
    }


def candidates(trained: Trained, result: Search) -> Iterator[tuple[int, list[str], float, float, str]]:
    """(the step, the words so far, their log-probability, that of the last word, the fate) of all candidates."""
    for at, step in enumerate(result.steps, start=1):
        for candidate in step:
            words = [trained.target.words[token] for token in candidate.hypothesis.tokens]
            yield at, words, candidate.hypothesis.log_probability, candidate.log_probability, candidate.fate


def drawn_by_chance(
    translations: Kept, _: Sentence, typed: str, kind: Any, temperature: Any, top_k: Any, top_p: Any, seed: Any
) -> dict[str, Any]:
    """Five translations drawn by chance, and the distribution of the word at which the model is least sure."""
    trained, source = chosen(kind), read_sentence(str(typed or ""))
    sampling = Sampling(number(temperature, 0.1, 3), int(number(top_k, 0, 1_000)), number(top_p, 0.05, 1)).check()
    first = int(number(seed, 0, 2**31))
    seeds, continuations = range(first, first + SEEDS), Continuations(trained, source)
    texts = []
    for draw_seed, drawn in zip(seeds, drawn_words(continuations, sampling, seeds), strict=True):
        words = [trained.target.words[word.token] for word in drawn]
        texts.append((draw_seed, words[:-1], sum(word.log_probability for word in drawn)))
    tokens = translations(greedy, str(kind), source).tokens
    at, logits = least_sure(continuations, tokens)
    step = reshape(logits, sampling)
    shown = step.original.topk(WORDS).indices.tolist()
    rows = [(trained.target.words[w], step.original[w].item(), step.final[w].item()) for w in shown]
    return {
        "drawn": TEXT.drawn(texts, [trained.target.words[token] for token in tokens[:at]]),
        "bars": distribution_figure(rows),
    }


def chosen(kind: Any) -> Trained:
    """The translator of this kind."""
    if kind not in [name for _, name in KINDS]:
        raise UserError("Choose one of the translators.")
    return bundled(str(kind))


def number(value: Any, least: float, most: float) -> float:
    """A control's number, brought into its bounds. Raises UserError where it is none."""
    try:
        parsed = float(value)
    except (TypeError, ValueError) as error:
        raise UserError(NO_NUMBER) from error
    if parsed != parsed:
        raise UserError(NO_NUMBER)
    return min(max(parsed, least), most)


PART = Part(
    tab="Greedy, beam, sampling",
    look=(
        "Greedy decoding takes the likeliest word at each step. Beam search keeps several of the best beginnings: "
        "follow the thick line, which may begin with a word that was not the likeliest. Set the beam width to 1 "
        "(= greedy) and see which translation is lost."
    ),
    build=build,
    reads_sentence=False,
    order=4,
)
