"""Words in context: the same word in several sentences, layer by layer, and its senses found from vectors."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import gradio as gr
import numpy as np

from demos.bert.embeddings.control_word import Control, control_of
from demos.bert.embeddings.similarity import cosine_matrix
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.embeddings.word_occurrences import (
    MAX_LINES,
    MAX_USES,
    Use,
    bar_uses,
    check_uses,
    clean_word,
    contrast,
    read_uses,
    static_vectors,
    use_cosines,
    word_states,
)
from demos.bert.embeddings.word_senses import SenseScores, SenseUse, bundled_uses, score_senses
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.counting import state_name
from demos.errors import UserError
from demos.lessons.embeddings.word_senses.figure import curves_figure, matrix_figure
from demos.lessons.embeddings.word_senses.figure_senses import scores_figure
from demos.lessons.embeddings.word_senses.program import word_code
from demos.lessons.embeddings.word_senses.text import (
    TEXT,
    scores_summary,
    scores_table,
    uses_summary,
    uses_table,
    words_html,
)
from demos.page.examples import examples_of, fill_from
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, Update, View, drawn, limit, menu, words
from demos.widgets.pooling_menus.pooling_menus import DEEPEST, state_choice

FIRST = "bank"
SHOWN = 3  # uses of each sense, of a bundled word: so few can be read from the last row
MAX_CACHED = 24  # lists of uses whose vectors are kept, 2.4 MB each at most
States = tuple[np.ndarray, np.ndarray]  # of each use, by layer [m, L + 1, d], and in the static table [m, d]
CONTROLS = Encoded(0, 1)  # the progress of a control before it begins
LEAST, ALIKE = "least", "the least similar"  # the pair in bold: the two least alike at the chosen layer


def lines_of(word: str, labelled: Sequence[SenseUse]) -> str:
    """A few of a bundled word's sentences for the text box: a sentence a line, an empty line between senses."""
    senses: dict[str, list[str]] = {}
    for example in labelled:
        if example.word == word:
            senses.setdefault(example.sense, []).append(example.use.sentence)
    return "\n\n".join("\n".join(sentences[:SHOWN]) for sentences in senses.values())


def sense_names(word: str, uses: Sequence[Use], labelled: Sequence[SenseUse]) -> list[str]:
    """The name of each sense of `uses`: as in the bundled set if all its lines are from there, otherwise a number."""
    known = {example.use.sentence: example.sense for example in labelled if example.word == word.lower()}
    names = []
    for sense in sorted({use.sense for use in uses if use.sense is not None}):
        labels = {known.get(use.sentence, "") for use in uses if use.sense == sense}
        names.append(labels.pop() if len(labels) == 1 and labels != {""} else f"sense {sense + 1}")
    return names


def chosen_by_result(word: str, uses: Sequence[Use], labelled: Sequence[SenseUse]) -> bool:
    """Whether the listed uses are those of FIRST, which the page opens on and which were chosen by their result."""
    opening = {use.sentence for use in read_uses(FIRST, lines_of(FIRST, labelled))}
    return word.lower() == FIRST and {use.sentence for use in uses if use.sense is not None} <= opening


def states_of(loaded: LoadedModel, uses: Sequence[Use]) -> Generator[Encoded, None, States]:
    """The word's vector in each use, by layer and in the static table; yields after each batch."""
    states = yield from word_states(loaded, uses)
    return states, static_vectors(loaded, uses)


def read_pair(pair: str, cosine: np.ndarray) -> tuple[int, int]:
    """The menu's answer as two indices; the least similar of `cosine` [m, m] where it names no pair of these uses."""
    first, _, second = pair.partition("-")
    if first.isdecimal() and second.isdecimal() and 0 < int(first) < int(second) <= len(cosine):
        return int(first) - 1, int(second) - 1
    rows, columns = np.triu_indices(len(cosine), k=1)
    least = int(cosine[rows, columns].argmin())
    return int(rows[least]), int(columns[least])


def pair_menu(pair: str, count: int, hidden: bool) -> Update:
    """The menu of pairs for `count` uses; hidden if senses are given, since it has no use then."""
    choices = pair_choices(count)
    selected = pair if pair in [value for _, value in choices] else LEAST
    return limit(choices=choices, value=selected, visible=not hidden)


def pair_choices(count: int) -> list[tuple[str, str]]:
    """The menu's options for `count` uses."""
    pairs = combinations(range(1, count + 1), 2)
    return [(ALIKE, LEAST), *((f"{first} and {second}", f"{first}-{second}") for first, second in pairs)]


class SharedResults:
    """The latest results for all readers."""

    def __init__(self, _: Services) -> None:
        self.listed_states: OnceCache[Encoded, States] = OnceCache(MAX_CACHED)
        self.bar_states: OnceCache[Encoded, States] = OnceCache(MAX_CACHED)
        self.scored: OnceCache[Encoded, SenseScores] = OnceCache(MAX_CACHED)
        self.controls: OnceCache[Encoded, Control | None] = OnceCache(MAX_CACHED)


class WordSenses(View):
    tab, order, former = "Words in context", 5, "word"
    look = (
        "In a static table of word vectors, a word always has the same vector; in BERT, it has a different one in "
        "each sentence. At which layer is the gap between the two curves largest? Is the gap as large for another word "
        "in the same sentences (dotted)?"
    )

    @dataclass(frozen=True)
    class Choices:
        word: str = words(FIRST, "Word", max_lines=1, min_width=160, elem_id="word-word")
        word_uses: str = words(
            lines_of(FIRST, bundled_uses()),
            f"Sentences with the word, one per line (at most {MAX_LINES})",
            info="Leave an empty line between two senses; otherwise, each pair has its own curve. The sentence "
            "from the top of the page is added (◆) if it contains the word.",
            lines=7,
            max_lines=12,
            elem_id="word-lines",
        )
        word_layer: int = state_choice(DEEPEST, "Layer", min_width=260, scale=2, elem_id="word-layer")
        word_pair: str = menu(  # all that a link may name; the menu is cut to the uses there are
            pair_choices(MAX_USES), LEAST, "Highlighted pair", min_width=160, visible=False
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="word-pictures"):
            with gr.Column(min_width=330, scale=5):
                at.plot(
                    "curves",
                    "Cosine of the word in two sentences, layer by layer",
                    elem_id="word-curves",
                    elem_classes="picture",
                )
            with gr.Column(min_width=330, scale=5, elem_classes="word-wide"):
                at.plot("matrix", "Cosine of every two uses", elem_id="word-matrix")
        with gr.Row():
            with gr.Column(min_width=330, scale=5):
                at["summary"] = gr.HTML(elem_classes="said", elem_id="word-told")
                offered = list(dict.fromkeys(example.word for example in bundled_uses()))
                with gr.Row(elem_classes="word-controls"):
                    example = examples_of(offered, label="Example word", min_width=160)
                    word = at.control("word")
                    at.control("word_layer")
                    at.control("word_pair")
            with gr.Column(min_width=330, scale=5):
                lines = at.control("word_uses")
        fill_from(example, [word, lines], {name: (name, lines_of(name, bundled_uses())) for name in offered})

        gr.HTML(TEXT.scores_heading(), elem_classes="said")
        at["progress"] = gr.HTML("", elem_classes="said", elem_id="word-progress")
        with gr.Row(elem_classes="word-pictures"):
            with gr.Column(min_width=330, scale=5):
                at.plot("scores", "Clusters against senses, by layer", elem_id="word-scores")
            with gr.Column(min_width=330, scale=5):
                at["ranks"] = gr.HTML(elem_id="word-ranks")

        prints = "Prints the numbers of the curves, layer by layer, using only transformers"
        at.folds(prints, numbers=["table", "scores_table"])

    @drawn(limits=("word_pair",), show_progress="minimal")
    def draw(self, on: On, c: Choices) -> Shown:
        """The word's uses, compared. Raises UserError if there are too few, or a line is without the word."""
        loaded, sentence, known = on.loaded, on.sentence, on.services.shared(SharedResults)
        wanted = clean_word(c.word)
        uses = read_uses(wanted, c.word_uses)
        if not uses:
            raise UserError(f"Write sentences with the word “{wanted}”, one per line.")
        listed, own = uses, bar_uses(wanted, [sentence.text, sentence.text_pair], uses)
        uses = listed + own
        check_uses(loaded, uses)
        states = [
            cache.get((loaded.spec.key, *some), partial(states_of, loaded, some), Encoded(0, len(some)))
            for cache, some in ((known.listed_states, listed), (known.bar_states, own))
            if some
        ]
        by_layer, in_table = (np.concatenate(vectors) for vectors in zip(*states, strict=True))
        cosines, static, shown = use_cosines(by_layer), cosine_matrix(in_table), c.word_layer
        names = sense_names(wanted, uses, bundled_uses())
        averages = contrast(cosines, [use.sense for use in uses])
        theirs = cosines[:, : len(listed), : len(listed)]
        control = known.controls.get(
            (loaded.spec.key, *listed), lambda: control_of(loaded, wanted, listed, theirs), CONTROLS
        )
        bold, chosen = read_pair(c.word_pair, cosines[shown]), chosen_by_result(wanted, uses, bundled_uses())
        return {
            "curves": lambda: curves_figure(cosines, static, shown, averages, uses, bold, control),
            "matrix": lambda: matrix_figure(cosines[shown], uses, names if len(names) > 1 else [], shown),
            "summary": lambda: uses_summary(wanted, cosines, static, shown, averages, uses, names, control, chosen),
            "word_pair": pair_menu(c.word_pair, len(uses), averages is not None),
            "table": lambda: uses_table(cosines, static, averages, uses, names),
            "program": lambda: word_code(loaded.spec, uses, names, bold, averages is not None),
        }

    @drawn("progress", "scores", "ranks", "scores_table", by=(), reads_sentence=False)
    def draw_scores(self, on: On, c: Choices) -> Generator[Shown]:
        """The scores of how well the model's vectors separate the senses of all bundled words."""
        loaded, labelled = on.loaded, bundled_uses()
        steps = on.services.shared(SharedResults).scored.steps(
            loaded.spec.key, lambda: score_senses(loaded, labelled), Encoded(0, len(labelled))
        )
        scores = yield from relayed(steps, lambda step: {"progress": TEXT.scoring(step)})
        yield {
            "progress": scores_summary(scores),
            "scores": scores_figure(scores),
            "ranks": words_html(scores),
            "scores_table": lambda: scores_table(scores),
        }


def answer(services: Services, sentence: Sentence, word: str, word_uses: str) -> Answer:
    """The layer with the largest gap between the cosines of one sense and of different senses; 0 is the input."""
    loaded = services.loaded(sentence.model)
    uses = read_uses(clean_word(word), word_uses)
    states = drained(word_states(loaded, uses))
    contrasts = contrast(use_cosines(states), [use.sense for use in uses])
    if contrasts is None:
        raise UserError("The list needs two senses with two sentences each, an empty line between the senses.")
    layers, layer = loaded.spec.num_layers, int(contrasts.gaps.argmax())
    key = "input" if layer == 0 else "early" if layer <= layers / 2 else "late"
    facts = {"layer": state_name(layer), "layers": layers, "gap": contrasts.gaps[layer], "first": contrasts.gaps[0]}
    return Answer(keys=frozenset({key}), facts=facts)
