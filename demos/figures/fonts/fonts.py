"""The page's three typefaces: their files in assets/vendor/fonts, and the font stacks for CSS, Plotly and frames."""

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property

from demos.files import ASSETS

FOLDER = ASSETS / "vendor" / "fonts"
# Ours, then the system's for other scripts. "Inter Fallback" is Arial at Inter's width, until Inter has come.
SANS = "Inter, 'Inter Fallback', system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif"
SERIF = "Literata, Inter, Charter, Georgia, 'Noto Serif', 'DejaVu Serif', serif"
MONO = "'JetBrains Mono', Inter, ui-monospace, 'DejaVu Sans Mono', Consolas, monospace"
# The characters in the files of each script, as Google Fonts splits a face; Inter is in one file.
LATIN = (
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,"
    "U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD"
)
LATIN_EXTENDED = (
    "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,"
    "U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF"
)
SMALL = 16  # CSS pixels: what no text of a picture is under; 21.6 in large type, which zooms the page by 1.35
GREEK = "U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF"
EVERYTHING = "U+0-10FFFF"


@dataclass(frozen=True)
class FontFile:
    """One variable font file. A `preloaded` file is visible as soon as the page is drawn."""

    family: str
    name: str
    ranges: str
    weights: str  # the lightest and the boldest that it has
    preloaded: bool = False

    @cached_property
    def data(self) -> bytes:
        """The file's bytes (woff2)."""
        return (FOLDER / f"{self.name}.woff2").read_bytes()

    @property
    def address(self) -> str:
        """The address from which the page fetches it; other content has another address."""
        return f"fonts/{self.name}-{hashlib.sha256(self.data).hexdigest()[:12]}.woff2"


@cache
def font_files() -> tuple[FontFile, ...]:
    """All of them, Inter first."""
    return (
        FontFile("Inter", "inter", EVERYTHING, "400 700", preloaded=True),
        FontFile("Literata", "literata-latin", LATIN, "200 900", preloaded=True),
        FontFile("Literata", "literata-latin-ext", LATIN_EXTENDED, "200 900"),
        FontFile("Literata", "literata-greek", GREEK, "200 900"),
        FontFile("JetBrains Mono", "jetbrains-mono-latin", LATIN, "100 800", preloaded=True),
        FontFile("JetBrains Mono", "jetbrains-mono-latin-ext", LATIN_EXTENDED, "100 800"),
        FontFile("JetBrains Mono", "jetbrains-mono-greek", GREEK, "100 800"),
    )
