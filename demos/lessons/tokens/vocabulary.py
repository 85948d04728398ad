"""The vocabulary explorer: how many entries of each kind there are, those that fit a search, and what an id is."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache

import gradio as gr

from demos.bert.model.text import clean_text
from demos.bert.tokens.vocabulary import BEGINS, CONTAINS, ENDS, KINDS, Vocabulary, read_vocabulary
from demos.errors import UserError
from demos.figures.token_chips import visible
from demos.lessons.tokens.figure import TEXT
from demos.page.folds import fold
from demos.page.services import Services
from demos.page.view import Control, Layout, On, Shown, choice, menu, options, slider, words

MAX_FROM_PIECE = 80  # words shown for one piece
MODELS = 8  # whose vocabularies are at hand


@dataclass(frozen=True)
class OfVocabulary:
    """The search in the model's vocabulary; it does not depend on the sentence."""

    letters: str = words("##ing", "Letters (## for continuations)", max_lines=1, elem_id="tokens-letters")
    where: str = options([(end, end) for end in (BEGINS, ENDS, CONTAINS)], BEGINS, "Entries whose text …")
    kind: str = menu([("any kind", ""), *((f"{name}s", name) for name in KINDS)], "", "Kind")
    length: int = slider(0, 20, 0, "Length in characters (0 = any)")
    piece: str = words("un", "Find words that begin with this piece", max_lines=1, elem_id="tokens-piece")
    id: int | None = choice(
        7592,
        Control(
            lambda _: gr.Number(7592, label="Look up an id", precision=0, elem_id="tokens-id"),
            lambda _, said: None if said is None else int(said),
        ),
    )


OF_VOCABULARY = tuple(field.name for field in fields(OfVocabulary))


def lay_out_vocabulary(at: Layout) -> None:
    """The fold with the explorer."""
    with fold(__file__, "vocabulary", "Explore the vocabulary"):
        at["kinds"] = gr.HTML("")
        with gr.Row():
            for name in ("letters", "where", "kind", "length"):
                at.control(name)
        at["matches"] = gr.HTML("", elem_id="tokens-found")
        with gr.Row():
            with gr.Column():
                at.control("piece")
                at["begun"] = gr.HTML("", elem_id="tokens-begun")
            with gr.Column():
                at.control("id")
                at["meaning"] = gr.HTML("", elem_id="tokens-meaning")


def vocabularies(services: Services) -> Callable[[str], Vocabulary]:
    """The vocabulary of a model, by its key."""
    return lru_cache(MODELS)(lambda key: read_vocabulary(services.store.tokenizer(key)))


def searched(on: On, c: OfVocabulary) -> Shown:
    """The number of entries of each kind, those that fit, the words that begin with a piece, and an id's entry."""
    key = on.services.key(on.sentence.model)
    entries = on.services.shared(vocabularies)(key)
    start = clean_text(c.piece).strip()
    return {
        "kinds": TEXT.kinds(len(entries), entries.counts),
        "matches": TEXT.matches(entries.search(clean_text(c.letters), c.where, c.kind, c.length), entries.prefix),
        "begun": TEXT.words(start, entries.words_from(start, MAX_FROM_PIECE), entries.prefix) if start else "",
        "meaning": id_html(entries, c.id, on.services.store.spec(key).width),
    }


def id_html(entries: Vocabulary, number: int | None, width: int) -> str:
    """The entry with this id, the row number in both the vocabulary and the model's embedding matrix.

    For a number that is none, a sentence beside the box: nothing else on the page waits for it.
    """
    if number is None:
        return TEXT.answer("An id must be a whole number, such as 7592.")
    try:
        entry = entries.entry(number)
    except UserError as error:
        return TEXT.answer(str(error))
    return TEXT.id(entry, visible(entry.token), entries.around(entry.id), len(entries), width, entries.prefix)
