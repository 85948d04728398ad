"""A token's path through all layers in words and numbers."""

from __future__ import annotations

from markupsafe import Markup

from demos.bert.encoder.residual_stream import Paths
from demos.bert.model.encoding import Encoding
from demos.figures.tables import number_table
from demos.lessons.encoder.residual_stream.figure import SHOWN, token_cosines
from demos.templates import templates

TEXT = templates(__file__)


def path_told(paths: Paths, encoding: Encoding, token: int, layer: int) -> Markup:
    """What the pictures show of the chosen token, in five sentences; one is on the mean of all tokens."""
    return TEXT.path(
        encoding.tokens[token],
        token,
        len(paths.change),
        paths.to_start[:, token],
        paths.to_mean[:, token],
        paths.change[:, token],
        layer,
        paths.change.mean(axis=1),
        paths.explained.sum(),
        len(encoding),
        SHOWN,
    )


def path_table(paths: Paths, encoding: Encoding, token: int) -> Markup:
    """The chosen token's numbers, a row a state."""
    cosines = token_cosines(paths, encoding, token)
    heads = ["norm", *(f"cosine to {name}" for name in cosines), "change by this layer", "axis 1", "axis 2"]
    rows = []
    for step, norm in enumerate(paths.norms[:, token]):
        change = f"{paths.change[step - 1, token]:.4f}" if step else "–"
        before = [f"{value:.4f}" for value in (norm, *(values[step] for _, _, values in cosines.values()))]
        place = [f"{value:.4f}" for value in paths.points[step, token]]
        rows.append((f"after layer {step - 1}" if step else "embedding output", [*before, change, *place]))
    return number_table(f"The path of {encoding.tokens[token]} (token {token})", heads, rows)
