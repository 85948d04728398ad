"""The fold "Cased and uncased": BERT's two English vocabularies on the lecture's sentence and on the bar's."""

from typing import Any

from demos.bert.model.encoding import Encoding, encode
from demos.bert.tokens.cased import cased_tokenizer, written_twice
from demos.bert.tokens.counts import Counts, count
from demos.figures.token_chips import comparison
from demos.lessons.tokens.figure import TEXT

EXAMPLE = "Jim Henson was a puppeteer"


def cased_html(uncased: Any, text: str, text_pair: str = "") -> str:
    """The example in both vocabularies, then the bar's sentence where it is another.

    `uncased` is the bundled model's tokenizer, whose vocabulary is BERT's.
    """
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
