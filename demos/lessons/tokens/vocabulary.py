"""The vocabulary explorer: how many entries of each kind there are, those that fit a search, and what an id is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import gradio as gr

from demos.bert.model.text import clean_text
from demos.bert.tokens.vocabulary import BEGINS, CONTAINS, ENDS, KINDS, Vocabulary, read_vocabulary
from demos.errors import UserError
from demos.figures.token_chips import visible
from demos.lessons.tokens.figure import TEXT
from demos.page.lesson import Page

MAX_FROM_PIECE = 80  # words shown for one piece


def build_vocabulary(page: Page) -> None:
    """The fold with the explorer: filled while it is unfolded, and not with each key press in the bar.

    Nothing in it depends on the sentence.
    """
    services = page.services
    with gr.Accordion("Explore the vocabulary", open=False, elem_id="tokens-vocabulary") as fold:
        kinds = gr.HTML("")
        with gr.Row():
            letters = gr.Textbox("##ing", label="Letters (## for continuations)", max_lines=1, elem_id="tokens-letters")
            where = gr.Radio([BEGINS, ENDS, CONTAINS], value=BEGINS, label="Entries whose text …")
            kind = gr.Dropdown([("any kind", ""), *((f"{name}s", name) for name in KINDS)], value="", label="Kind")
            length = gr.Slider(0, 20, value=0, step=1, label="Length in characters (0 = any)")
        matches = gr.HTML("", elem_id="tokens-found")
        with gr.Row():
            with gr.Column():
                label = "Find words that begin with this piece"
                piece = gr.Textbox("un", label=label, max_lines=1, elem_id="tokens-piece")
                begun = gr.HTML("", elem_id="tokens-begun")
            with gr.Column():
                number = gr.Number(7592, label="Look up an id", precision=0, elem_id="tokens-id")
                meaning = gr.HTML("", elem_id="tokens-meaning")
    page.keep(letters=letters, where=where, kind=kind, length=length, piece=piece, id=number)

    @cache
    def vocabulary(key: str) -> Vocabulary:
        return read_vocabulary(services.store.tokenizer(key))

    def count_kinds(model: str) -> str:
        entries = vocabulary(services.key(model))
        return TEXT.kinds(len(entries), entries.counts)

    def search(model: str, letters: str, where: str, kind: str, length: float) -> str:
        entries = vocabulary(services.key(model))
        return TEXT.matches(entries.search(clean_text(letters), where, kind, int(length or 0)), entries.prefix)

    def begin(model: str, piece: str) -> str:
        entries, start = vocabulary(services.key(model)), clean_text(piece).strip()
        return TEXT.words(start, entries.words_from(start, MAX_FROM_PIECE), entries.prefix) if start else ""

    def look_up(model: str, number: float | None) -> str:
        key = services.key(model)
        return id_html(vocabulary(key), number, services.store.spec(key).width)

    within = page.within(fold, page.model)  # the model whose vocabulary is looked at

    def fill(output: gr.HTML, show: Callable[..., str], controls: Sequence[Any]) -> None:
        triggers = [within.settled.change, *(control.change for control in controls)]
        inputs = [page.model, *controls]
        within.on(triggers, show, inputs, [output], show_progress="hidden", trigger_mode="always_last")

    fill(kinds, count_kinds, [])
    fill(matches, search, [letters, where, kind, length])
    fill(begun, begin, [piece])
    fill(meaning, look_up, [number])


def id_html(entries: Vocabulary, number: float | None, width: int) -> str:
    """The entry with this id, the row number in both the vocabulary and the model's embedding matrix.

    For a number that is none, a sentence beside the box: nothing else on the page waits for it.
    """
    if number is None:
        return TEXT.answer("An id must be a whole number, such as 7592.")
    try:
        entry = entries.entry(int(number))
    except UserError as error:
        return TEXT.answer(str(error))
    return TEXT.id(entry, visible(entry.token), entries.around(entry.id), len(entries), width, entries.prefix)
