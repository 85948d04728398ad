"""The token picker's chips: a radio group in which each token keeps its word's hue."""

from markupsafe import Markup

from demos.bert.model.encoding import Encoding
from demos.figures.token_chips import hue, visible
from demos.templates import templates

TEXT = templates(__file__)
PICKED_AMONG = 128  # tokens; more chips than that are a wall


def picker_html(encoding: Encoding, chosen: int, label: str) -> Markup:
    """The first 128 tokens as chips, the one numbered `chosen` marked."""
    tokens = [
        {"text": visible(token), "hue": hue(word)}
        for token, word in zip(encoding.tokens[:PICKED_AMONG], encoding.word_index, strict=False)
    ]
    return TEXT.chips(tokens, label, chosen, len(encoding) - PICKED_AMONG)
