"""What beam search finds after the reader's text, beside the greedy text and one drawn at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from demos.bert.causal.beams import repeated, search
from demos.bert.causal.writing import Method, beginning, write
from demos.bert.pretraining.heads import Pretrained
from demos.lessons.family.decoder.figure_beams import Text, beams_html, numbers_html
from demos.lessons.family.decoder.program import search_code
from demos.page.services import Services
from demos.widgets.search_tree.figure import tree_figure

WIDTH, WIDEST = 3, 5  # of the beam


def searched(services: Services, text: str, width: int, length: int, method: Method) -> dict[str, Any]:
    """The texts with their log-probabilities, the tree, the table and the program; the draw is made as `method` says.

    Raises UserError as `beginning`.
    """
    decoder = services.decoder()
    start = beginning(decoder, text)
    found = search(decoder, start, width, length)
    (greedy,) = search(decoder, start, 1, length).finished
    drawn = list(write(decoder, start, Method(False, method.sampling, method.seed), length))
    named = [("Greedy", greedy), (f"Beam of {width}", found.finished[0]), *(("", one) for one in found.finished[1:])]
    texts = [text_of(decoder, start, name, one.tokens, one.log_probability) for name, one in named]
    chance = sum(math.log(one.guess.probability) for one in drawn)
    texts.append(text_of(decoder, start, "Drawn at random", [one.guess.token_id for one in drawn], chance))
    return {
        "beams": beams_html(texts),
        "tree": tree_figure(found, decoder.tokenizer.convert_ids_to_tokens, length),
        "numbers": numbers_html(found, decoder.tokenizer.convert_ids_to_tokens),
        "program": search_code(text, width, length),
    }


def text_of(
    decoder: Pretrained, start: Sequence[int], name: str, tokens: Sequence[int], log_probability: float
) -> Text:
    """One text as it is shown. A repetition may be of the reader's own words."""
    marks = repeated([*start, *tokens])[len(start) :]
    return Text(name, decoder.tokenizer.convert_ids_to_tokens(list(tokens)), marks, log_probability)
