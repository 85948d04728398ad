"""The results of beam search after the reader's text, beside the greedy text and one drawn at random."""

import math
from collections.abc import Generator, Sequence

from demos.bert.causal.beams import repeated, search
from demos.bert.causal.writing import Method, beginning, write
from demos.bert.decoding.beam import Search
from demos.bert.model.once_cache import OnceCache
from demos.bert.pretraining.heads import Pretrained
from demos.lessons.family.decoder.figure import Text, beams_html
from demos.page.services import Services
from demos.page.view import Shown
from demos.widgets.search_tree.figure import tree_figure

WIDTH, WIDEST = 3, 5  # of the beam
MAX_SEARCHES = 24  # both searches of a text, 160 kB at most


class Searches:
    """(the beam search, the greedy one) after a text, for all readers; another draw at random repeats none."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._searches: OnceCache[None, tuple[Search, Search]] = OnceCache(MAX_SEARCHES)

    def __call__(self, text: str, width: int, length: int) -> tuple[Search, Search]:
        """Raises UserError as `beginning`."""
        decoder = self.services.decoder()
        start = beginning(decoder, text)

        def both() -> Generator[None, None, tuple[Search, Search]]:
            yield from ()
            return search(decoder, start, width, length), search(decoder, start, 1, length)

        return self._searches.get((start, width, length), both, None)


def searched(services: Services, text: str, width: int, length: int, method: Method) -> Shown:
    """The texts with their log-probabilities, and the tree; the last text is drawn at random as `method` says.

    Raises UserError as `beginning`.
    """
    decoder = services.decoder()
    result, greedy_result = services.shared(Searches)(text, width, length)
    start = beginning(decoder, text)
    (greedy,) = greedy_result.finished
    drawn = list(write(decoder, start, Method(False, method.sampling, method.seed), length))
    named = [
        ("Greedy", greedy),
        (f"Beam of {width}", result.finished[0]),
        *(("", hypothesis) for hypothesis in result.finished[1:]),
    ]
    texts = [text_of(decoder, start, name, hypothesis.tokens, hypothesis.log_probability) for name, hypothesis in named]
    chance = sum(math.log(piece.guess.probability) for piece in drawn)
    texts.append(text_of(decoder, start, "Drawn at random", [piece.guess.token_id for piece in drawn], chance))
    return {"beams": beams_html(texts), "tree": tree_figure(result, decoder.tokenizer.convert_ids_to_tokens, length)}


def text_of(
    decoder: Pretrained, start: Sequence[int], name: str, tokens: Sequence[int], log_probability: float
) -> Text:
    """One text to show. A repetition may be of the reader's own words."""
    marks = repeated([*start, *tokens])[len(start) :]
    return Text(name, decoder.tokenizer.convert_ids_to_tokens(list(tokens)), marks, log_probability)
