"""A vector as one line of coloured cells inside HTML, for pictures that are tables; each number is in it, to be read.

The colours are those of demos/figures/strips.py. cell_strip.js paints the cells in the browser, on a canvas d pixels
wide and one high, which the page stretches; demos/widgets/number_strips/script.js shows the number under the pointer.
"""

import base64
import io
from functools import cache

import numpy as np
from markupsafe import Markup
from PIL import Image

from demos.figures.palette import PALETTE, channels_of
from demos.files import read_beside
from demos.templates import templates

TEXT = templates(__file__, "text_strips.html")
SCRIPT = "".join(read_beside(__file__, name) for name in ("cells.js", "cell_strip.js"))  # for all pages' heads
SHADES = 255  # odd, so that zero has a separate color


def cells(vector: np.ndarray, limit: float, name: str, *, at: int | None = None, **data: str | int | float) -> Markup:
    """The vector [d] as cells from -limit to limit, white at zero; values beyond have the last colour.

    `name` (text, escaped) is shown under the pointer, `at` is the component whose place is marked, `data` further
    data- attributes for the script.
    """
    values = np.asarray(vector, dtype=np.float32).ravel()
    place = None if at is None else (at + 0.5) / len(values)
    return TEXT.cells(name, in_base64(values), limit, len(values), place, data)


def in_base64(numbers: np.ndarray) -> str:
    """An array's bytes, row by row, as text."""
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode("ascii")


def colours(values: np.ndarray, limit: float) -> np.ndarray:
    """Numbers [d] as <uint8>[d, 3] on the light page's signed scale from -limit to limit."""
    return _ramp("signed")[shades(values, limit)]


def shades(values: np.ndarray, limit: float) -> np.ndarray:
    """Numbers as places <uint8> (of SHADES) on a scale from -limit to limit."""
    share = np.clip(values / limit if limit else values * 0, -1, 1)
    return np.rint((share + 1) / 2 * (SHADES - 1)).astype(np.uint8)


def scale_html(*limits: tuple[str, float]) -> Markup:
    """The legend of the colors, one scale for each (its meaning, limit)."""
    places = np.arange(0, SHADES, 2, dtype=np.uint8)
    return TEXT.scale(limits, in_base64(places), len(places))


def pictures(places: np.ndarray) -> dict[str, str]:
    """Cells at `places` <uint8>[h, w] of the signed scale, for both papers: by theme the base64 of a PNG."""
    by_theme = {}
    for theme, name in (("light", "signed"), ("dark", "signed_dark")):
        file = io.BytesIO()
        Image.fromarray(_ramp(name)[places]).save(file, "PNG")
        by_theme[theme] = base64.b64encode(file.getvalue()).decode("ascii")
    return by_theme


@cache
def _ramp(name: str) -> np.ndarray:
    """A scale of the palette in SHADES steps, <uint8>[SHADES, 3]."""
    stops = np.array([channels_of(colour) for colour in PALETTE[name]])
    places = np.linspace(0, len(stops) - 1, SHADES)
    channels = [np.interp(places, np.arange(len(stops)), stops[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)
