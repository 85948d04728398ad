"""The colours, read from demos/figures/palette.json and handed to CSS, Plotly and the frames: written once, there.

Word and class hues are Okabe and Ito's colour-blind-safe set (2008), its yellow darkened to an olive, to be seen on
paper, and its black replaced by a violet. A word keeps its hue by its running number in the input; special tokens are
grey. Head colours begin with the same hues and differ in lightness too, since nobody without red or green cones has
twelve hues: tests/figures/test_palette.py simulates those eyes and measures how far apart the closest two colours are.
"""

from __future__ import annotations

from typing import Any

from demos.files import read_json_beside

PALETTE: dict[str, Any] = read_json_beside(__file__, "palette.json")
WORDS: list[str] = PALETTE["words"]
CLASSES: list[str] = PALETTE["classes"]
HEADS: list[str] = PALETTE["heads"]
TOPICS = [*CLASSES, HEADS[3], HEADS[12]]  # ten: two of the heads' hues that every eye tells from the classes'
FONT = "system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif"  # the reader's own: nothing is fetched
SPECIAL: str = PALETTE["light"]["special"]
TO_WHITE = 0.3  # how far head colours go to white on dark paper, here and in assets/bertviz/frame.js


def word_colour(word_index: int | None) -> str:
    """The hue of the word with this running number (`Encoding.word_index`); grey for special tokens (None)."""
    return SPECIAL if word_index is None else WORDS[word_index % len(WORDS)]


def in_the_dark(colour: str) -> str:
    """A head's colour "#rrggbb" for dark paper: three tenths of the way to white, so that its darkest is seen there."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{int(channel + (255 - channel) * TO_WHITE + 0.5):02x}" for channel in channels)


def colour_scale(name: str) -> list[list[Any]]:
    """A Plotly colour scale: "magnitude" (0 upwards, evenly stepped) or "signed" (diverging, centred at zero).

    In the dark the pages' style sheets turn the drawn picture round, so that nothing is drawn twice.
    """
    stops = PALETTE[name]
    return [[index / (len(stops) - 1), colour] for index, colour in enumerate(stops)]


def css_variables() -> str:
    """The palette as custom properties (`--ink`, `--word-0`, `--head-0`, …) for light and for Gradio's `.dark`."""

    def block(selector: str, values: dict[str, str]) -> str:
        return selector + "{" + "".join(f"--{name}:{value};" for name, value in values.items()) + "}"

    shared = {f"word-{i}": colour for i, colour in enumerate(WORDS)}
    shared |= {f"class-{i}": colour for i, colour in enumerate(CLASSES)}
    shared |= {f"head-{i}": colour for i, colour in enumerate(HEADS)}
    dark = PALETTE["dark"] | {f"head-{i}": in_the_dark(colour) for i, colour in enumerate(HEADS)}
    return block(":root", PALETTE["light"] | shared) + block(".dark", dark)


def plotly_layout(**changes: Any) -> dict[str, Any]:
    """The layout every Plotly figure begins with: clear background, our fonts, small margins, no title gap.

    Colours that must follow light and dark are set in CSS (demos/page/page.css recolours the SVG's text and grid).
    """
    layout: dict[str, Any] = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 15},
        "margin": {"l": 60, "r": 20, "t": 20, "b": 50},
        "hoverlabel": {"font": {"size": 17, "family": FONT}},
        "colorway": CLASSES,
        "legend": {"orientation": "h", "y": -0.2},
    }
    return layout | changes
