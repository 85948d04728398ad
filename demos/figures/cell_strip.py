"""A vector as one line of coloured cells inside HTML, for pictures that are tables; each number is in it, to be read.

The colours are those of demos/figures/strips.py. The cells are one picture, d pixels wide and one high, which the page
stretches; demos/widgets/number_strips/script.js tells the number under the pointer.
"""

from __future__ import annotations

import base64
import html
import struct
import zlib
from functools import cache

import numpy as np

from demos.figures.palette import PALETTE
from demos.templates import markup

SHADES = 255  # odd, so that zero has a colour of its own


@markup
def cells(vector: np.ndarray, limit: float, name: str, **data: str | int | float) -> str:
    """The vector [d] as cells from -limit to limit, white at zero; what lies beyond has the last colour.

    `name` (text, escaped here) is what the pointer is told, `data` further data- attributes for the script.
    """
    values = np.asarray(vector, dtype=np.float64).ravel()
    more = "".join(f' data-{key.replace("_", "-")}="{html.escape(str(value))}"' for key, value in data.items())
    numbers = " ".join(f"{value:.5g}" for value in values)
    return (
        f'<span class="cells" data-name="{html.escape(name)}" data-values="{numbers}"{more}>'
        f'<img alt="" draggable="false" src="data:image/png;base64,{_png(colours(values, limit))}"></span>'
    )


def colours(values: np.ndarray, limit: float) -> np.ndarray:
    """Numbers [d] as <uint8>[d, 3] on the signed scale from -limit to limit."""
    share = np.clip(values / limit if limit else values * 0, -1, 1)
    return _ramp()[np.rint((share + 1) / 2 * (SHADES - 1)).astype(int)]


@markup
def scale_html(*limits: tuple[str, float]) -> str:
    """What the colours mean, one scale for each (what it is of, limit)."""
    ramp = _png(np.ascontiguousarray(_ramp()[::2]))
    return (
        '<p class="cells-scale">'
        + " ".join(
            f'<span class="cells-scale-one">{html.escape(what)}: −{limit:.3g}<span class="cells">'
            f'<img alt="from orange, below zero, to blue, above" src="data:image/png;base64,{ramp}"></span>'
            f"{limit:.3g}</span>"
            for what, limit in limits
        )
        + "</p>"
    )


@cache
def _ramp() -> np.ndarray:
    """The palette's signed scale in SHADES steps, <uint8>[SHADES, 3]."""
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in PALETTE["signed"]])
    places = np.linspace(0, len(stops) - 1, SHADES)
    channels = [np.interp(places, np.arange(len(stops)), stops[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def _png(row: np.ndarray) -> str:
    """A picture of one row of pixels, <uint8>[d, 3], as the base64 of a PNG (W3C's specification, section 5)."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", len(row), 1, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" + row.tobytes(), 6)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return base64.b64encode(file).decode("ascii")
