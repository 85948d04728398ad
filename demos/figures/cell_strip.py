"""A vector as one line of coloured cells inside HTML, for pictures that are tables; each number is in it, to be read.

The colours are those of demos/figures/strips.py. The cells are one picture, d pixels wide and one high, which the page
stretches; demos/widgets/number_strips/script.js tells the number under the pointer.
"""

from __future__ import annotations

import base64
import io
from functools import cache

import numpy as np
from markupsafe import Markup
from PIL import Image

from demos.figures.palette import PALETTE
from demos.templates import templates

TEXT = templates(__file__, "text_strips.html")
SHADES = 255  # odd, so that zero has a colour of its own


def cells(vector: np.ndarray, limit: float, name: str, *, at: int | None = None, **data: str | int | float) -> Markup:
    """The vector [d] as cells from -limit to limit, white at zero; what lies beyond has the last colour.

    `name` (text, escaped) is what the pointer is told, `at` the number whose place is marked, `data` further
    data- attributes for the script.
    """
    values = np.asarray(vector, dtype=np.float64).ravel()
    place = None if at is None else (at + 0.5) / len(values)
    return TEXT.cells(name, [f"{value:.5g}" for value in values], _pngs(_shades(values, limit)), place, data)


def colours(values: np.ndarray, limit: float) -> np.ndarray:
    """Numbers [d] as <uint8>[d, 3] on the light page's signed scale from -limit to limit."""
    return _ramp("signed")[_shades(values, limit)]


def _shades(values: np.ndarray, limit: float) -> np.ndarray:
    """Numbers [d] as places <int>[d] on a scale from -limit to limit."""
    share = np.clip(values / limit if limit else values * 0, -1, 1)
    return np.rint((share + 1) / 2 * (SHADES - 1)).astype(int)


def scale_html(*limits: tuple[str, float]) -> Markup:
    """What the colours mean, one scale for each (what it is of, limit)."""
    return TEXT.scale(limits, _pngs(np.arange(0, SHADES, 2)))


@cache
def _ramp(name: str) -> np.ndarray:
    """A scale of the palette in SHADES steps, <uint8>[SHADES, 3]."""
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in PALETTE[name]])
    places = np.linspace(0, len(stops) - 1, SHADES)
    channels = [np.interp(places, np.arange(len(stops)), stops[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def _pngs(shades: np.ndarray) -> dict[str, str]:
    """The same cells for both papers, by theme."""
    return {theme: _png(_ramp(name)[shades]) for theme, name in (("light", "signed"), ("dark", "signed_dark"))}


def _png(row: np.ndarray) -> str:
    """A picture of one row of pixels, <uint8>[d, 3], as the base64 of a PNG."""
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(row[None])).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")
