"""The fold "Cased and uncased": BERT's two English vocabularies on the lecture's sentence and on the bar's."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.encoding import Encoding, encode
from demos.bert.tokens.cased import cased_tokenizer, written_twice
from demos.bert.tokens.counts import Counts, count
from demos.figures.token_chips import comparison
from demos.files import read_beside
from demos.lessons.tokens.figure import TEXT
from demos.page.folds import fold
from demos.page.lesson import Page
from demos.page.services import Sentence

EXAMPLE = "Jim Henson was a puppeteer"


def build_cased(page: Page) -> None:
    """The fold, drawn while it is open. The uncased cut is that of the bundled model, whose vocabulary is BERT's."""
    store = page.services.store
    with fold(__file__, "cased", "Cased and uncased") as shut:
        view = gr.HTML("", js_on_load=read_beside(__file__, "script.js"))

    def show(sentence: Sentence) -> str:
        return cased_html(store.tokenizer(BUNDLED), sentence.text, sentence.text_pair)

    page.within(shut).draw(show, [], [view], show_progress="hidden")


def cased_html(uncased: Any, text: str, text_pair: str = "") -> str:
    """The example in both vocabularies, then the bar's sentence where it is another."""
    inputs = [(EXAMPLE, "")] + [(text, text_pair)] * ((text, text_pair) != (EXAMPLE, ""))
    rows = [both_cuts(uncased, *each) for each in inputs]
    return TEXT.cased([comparison(cuts, ()) for cuts in rows], len(cased_tokenizer()), written_twice())


def both_cuts(uncased: Any, text: str, text_pair: str = "") -> list[tuple[list[str], Encoding, Counts]]:
    """(name, tokens, counts) of the uncased cut, then of the cased."""
    cuts = []
    for name, tokenizer in (("uncased", uncased), ("cased", cased_tokenizer())):
        encoding = encode(tokenizer, text, text_pair)
        cuts.append(([f"{name}, {len(tokenizer):,} entries"], encoding, count(tokenizer, encoding)))
    return cuts
