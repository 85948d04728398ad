"""The choices of the part "Maps" and the data it maps: sentences with their topics, or the tokens of a few."""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.maps import MAX_POINTS, METHODS, TSNE_MAP, Laying, Layout, MapCache, Recipe
from demos.bert.embeddings.pooling import Choice, run_states
from demos.bert.embeddings.similarity import sentences_of
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import clean_text
from demos.counting import state_names
from demos.errors import UserError
from demos.figures.cosine_heatmap import short
from demos.figures.maps import MAX_CLASSES, Points
from demos.files import DATA
from demos.lessons.embeddings.maps.text import NAMES
from demos.page.services import Sentence, Services
from demos.page.view import Control, On, choice, options, switch, unlinked, words
from demos.training.data.lists import Listed, load_list, read_list
from demos.widgets.pooling_menus.pooling_menus import layer_choice, pooling_choice, read_choice
from demos.widgets.seed_box.seed_box import seed_choice

MAX_LINES = 12  # sentences with mapped tokens
LIBRARY, EMOTION, FILE = "library", "emotion", "file"  # sources of sentences
SOURCES = [("320 sentences, 10 topics", LIBRARY), ("720 sentences, 6 emotions", EMOTION), ("a file", FILE)]
SENTENCE, TOKEN, LAYERS = "sentence", "token", "layers"  # kinds of point
KINDS = [("a sentence", SENTENCE), ("a token, one layer", TOKEN), ("a token, every layer", LAYERS)]
CHOSEN = "Is a tomato salad allowed to sit in the fridge?"  # cooking, but some of its nearest are the garden's
CHOSEN_TOKEN = 2  # "bank" in the first line
TOKEN_LINES = """The bank has raised its interest rates.
She opened an account at the bank.
We had a picnic on the bank of the river.
The bank of the stream was muddy.
He threw a stick for the dog.
Stick the stamp on the letter."""


@cache
def bundled(source: str) -> Listed:
    """One of the project's own lists (assets/data/*.md say what they are)."""
    return read_list((DATA / f"{source}.tsv").read_bytes(), f"{source}.tsv")


def neighbours_choice() -> Any:
    """The perplexity or n_neighbors. A map takes seconds, so that not every place of the slider draws one."""

    def make(_: Services) -> gr.Component:
        info = "perplexity (t-SNE), n_neighbors (UMAP)"
        return gr.Slider(2, 100, value=30, step=1, label="Neighbours", info=info, elem_id="maps-nearby")

    return choice(30, Control(make, lambda _, said: min(max(int(said or 30), 2), 100), redraws=False))


def point_choice(value: int) -> Any:
    """The chosen point, which a click moves; a number that no point has chooses none."""

    def make(_: Services) -> gr.Component:
        return gr.Number(value, precision=0, minimum=-1, visible="hidden")

    return choice(value, Control(make, lambda _, said: int(said or 0), by_script=True))


@dataclass(frozen=True)
class MapChoices:
    map_method: str = options([(NAMES[method], method) for method in METHODS], TSNE_MAP, "Map", elem_id="maps-method")
    map_pooling: str = pooling_choice()
    map_layer: str = layer_choice()
    map_of: str = options(KINDS, SENTENCE, "Each point is", elem_id="maps-kind")
    map_axes: int = options([("2-D", 2), ("3-D", 3)], 2, "Axes", elem_id="maps-axes")
    map_neighbours: int = neighbours_choice()
    neighbours_moved: str = unlinked("", redraws=True)  # it has come to rest
    map_seed: int = seed_choice(
        0, maximum=9_999, elem_id="maps-seed", info="0 starts from the PCA map, other seeds from random positions"
    )
    map_sentences: str = options(SOURCES, LIBRARY, "Sentences", elem_id="maps-source")
    map_own: str = words(
        "",
        "Add your own sentences, one per line (◆)",
        lines=2,
        max_lines=6,
        elem_id="maps-own",
        placeholder="The moon looks like a pizza tonight.",
    )
    map_bar: bool = switch("Add the sentence from the top of the page (◆)", elem_id="maps-bar")
    file: str | None = unlinked(None, redraws=True)
    map_lines: str = words(
        TOKEN_LINES, f"Sentences, one per line (at most {MAX_LINES})", lines=6, max_lines=12, elem_id="maps-lines"
    )
    map_point: int = point_choice(bundled(LIBRARY).sentences.index(CHOSEN))
    map_token: int = point_choice(CHOSEN_TOKEN)
    find: str = unlinked("")

    @property
    def of_sentences(self) -> bool:
        return self.map_of == SENTENCE

    @property
    def recipe(self) -> Recipe:
        """The settings of the map."""
        return Recipe(self.map_method, self.map_axes, self.map_neighbours, self.map_seed)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Vectors [m, d], the name and class of each, and the reader's own sentences among them."""

    vectors: np.ndarray
    points: Points
    own: tuple[str, ...] = ()
    read_as: str = ""  # what a file was read as, one sentence


@dataclass(frozen=True, eq=False)
class Drawn:
    """The data of one map."""

    mapped: Mapped
    layout: Layout
    choice: Choice
    at: int | None  # the chosen point


def shared_maps(_: Services) -> MapCache:
    """The maps of all readers."""
    return MapCache()


def drawn_steps(on: On, c: MapChoices) -> Generator[Encoded | Laying, None, Drawn | None]:
    """The requested map; None while a file is awaited. Raises UserError for data that can't be mapped."""
    choice = read_choice(on.loaded, c.map_pooling if c.of_sentences else "mean", c.map_layer)
    mapped = yield from mapped_steps(on, c, choice)
    if mapped is None:
        return None
    layout = yield from on.services.shared(shared_maps).steps(mapped.vectors, c.recipe)
    at = c.map_point if c.of_sentences else c.map_token
    return Drawn(mapped, layout, choice, at if 0 <= at < len(mapped.vectors) else None)


def listed_by(c: MapChoices) -> Listed | None:
    """The list to map; None before a file was chosen. Raises UserError as `load_list` does."""
    if c.map_sentences != FILE:
        return bundled(c.map_sentences)
    return load_list(c.file) if c.file else None


def own_sentences(sentence: Sentence, c: MapChoices) -> tuple[str, ...]:
    """The reader's sentences: the bar's, if chosen, and the lines of the box, each once."""
    bar = " ".join(clean_text(sentence.text, "The sentence").split()) if c.map_bar else ""
    return tuple(dict.fromkeys([*([bar] if bar else []), *sentences_of(c.map_own)]))


def sentence_points(listed: Listed, own: tuple[str, ...], what: str = "topic") -> Points:
    """The list's sentences, then the reader's that are not among them; of many topics the largest MAX_CLASSES count."""
    most = [topic for topic, _ in Counter(listed.topics).most_common(MAX_CLASSES)]
    labels = tuple(sorted(most))
    numbers = {topic: number for number, topic in enumerate(labels)}
    known = set(listed.sentences)
    names = listed.sentences + tuple(text for text in own if text not in known)
    topics = listed.topics + ("",) * (len(names) - len(listed.topics))
    return Points(
        names=names,
        classes=np.array([numbers.get(topic, -1) if topic else -1 for topic in topics]),
        labels=labels,
        own=np.array([name in own for name in names]),
        what=what,
    )


def mapped_steps(on: On, c: MapChoices, choice: Choice) -> Generator[Encoded, None, Mapped | None]:
    """The vectors and their points; None where a file is awaited. Raises UserError for what can't be mapped."""
    if not c.of_sentences:
        lines = sentences_of(c.map_lines)
        return tokens_mapped(on.services, on.loaded, lines, None if c.map_of == LAYERS else choice.layer)
    listed = listed_by(c)
    if listed is None:
        return None
    own = own_sentences(on.sentence, c)
    points = sentence_points(listed, own, "topic" if c.map_sentences == LIBRARY else "class")
    (vectors,) = yield from on.services.vectors.steps(on.loaded, points.names, [choice])
    read_as = listed.read_as.note if listed.read_as and c.map_sentences == FILE else ""
    return Mapped(vectors, points, points.names[len(listed.sentences) :], read_as)


def tokens_mapped(services: Services, loaded: LoadedModel, lines: list[str], layer: int | str | None) -> Mapped:
    """The lines' tokens at one layer, coloured by line, or, where `layer` is None, at every layer, coloured by layer.

    Layers follow each other, 0 (the embedding output) first. Raises UserError for no line, too many or too long ones.
    """
    if not lines:
        raise UserError("The box contains no sentence; write one sentence per line.")
    if len(lines) > MAX_LINES:
        raise UserError(f"The box has {len(lines)} sentences; the limit for a map of tokens is {MAX_LINES}.")
    runs = services.runs.get_many(loaded, [(line, "") for line in lines])
    tokens = tuple(token for run in runs for token in run.encoding.tokens)
    n, states = len(tokens), loaded.model.config.num_hidden_layers + 1 if layer is None else 1
    if n * states > MAX_POINTS:
        raise UserError(
            f"These sentences make {n * states:,} points; the limit is {MAX_POINTS:,}. Use fewer or shorter sentences."
        )
    points = partial(Points, names=tokens * states, own=np.zeros(n * states, dtype=bool), kind="token")
    if layer is None:
        vectors = np.concatenate([run.hidden_states for run in runs], axis=1).reshape(n * states, -1)
        labels = tuple(state_names(states - 1))
        classes = np.repeat(np.arange(states), n)
        return Mapped(vectors, points(classes=classes, labels=labels, ordered=True, step=n, what="layer"))
    vectors = np.concatenate([run_states(run, layer) for run in runs])
    special = np.concatenate([run.encoding.special_tokens_mask for run in runs])
    number_of_line = np.repeat(np.arange(len(runs)), [len(run.encoding) for run in runs])
    classes = np.where(special, -1, number_of_line)
    labels = tuple(f"{number} {short(line, 26)}" for number, line in enumerate(lines, start=1))
    of_lines = points(classes=classes, labels=labels, written=True, what="sentence", others="[CLS] and [SEP]")
    return Mapped(vectors, of_lines)
