"""The choices that the lesson's parts share, above them: the token, the layer and the head."""

from dataclasses import dataclass

from demos.page.view import of_model
from demos.widgets.token_picker.token_picker import token_choice

PICKER = "encoder-token"  # the token picker; a click on a key of a picture presses its chip there
TOKEN = 12  # of the default sentence: its last "bank"


@dataclass(frozen=True)
class OfToken:
    """Of a view of one token."""

    token: int = token_choice(TOKEN)


@dataclass(frozen=True)
class OfLayer:
    """Of a view of one layer."""

    layer: int = of_model("num_layers", 0, "Layer", elem_id="encoder-layer", scale=1, min_width=190)


@dataclass(frozen=True)
class OfHead:
    """Of a view of one head of a layer."""

    head: int = of_model("num_heads", 4, "Head", elem_id="encoder-head", scale=1, min_width=190)


@dataclass(frozen=True)
class Shared(OfHead, OfLayer, OfToken):
    """All shared choices, in their order on the page."""
