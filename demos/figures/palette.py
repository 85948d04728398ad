"""The colours, read from demos/figures/palette.json and handed to CSS, Plotly and the frames: written once, there.

Word and class hues follow Okabe and Ito's colour-blind-safe set (2008), each moved as little as keeps a contrast of 3
with both papers, yellow to an olive; its black is replaced by a violet. A word keeps its hue by its running number in
the input; special tokens are grey. Head colours begin with the same hues and differ in lightness too, since nobody
without red or green cones has twelve hues: tests/figures/test_palette.py simulates those eyes and measures how far
apart the closest two colours are.
"""

from functools import cache
from typing import Any

from demos.figures.figure.figure import Attributes
from demos.figures.fonts.fonts import MONO, SANS, SERIF, SMALL
from demos.files import Json, read_json_beside

PALETTE: Json = read_json_beside(__file__, "palette.json")
WORDS: list[str] = PALETTE["words"]
CLASSES: list[str] = PALETTE["classes"]
HEADS: list[str] = PALETTE["heads"]
TOPICS: list[str] = [*CLASSES, *PALETTE["more_topics"]]  # ten
SPECIAL: str = PALETTE["light"]["special"]
TO_WHITE = 0.3  # how far head colours go to white on dark paper, here and in assets/bertviz/frame.js


def word_colour(word_index: int | None) -> str:
    """The hue of the word with this running number (`Encoding.word_index`); grey for special tokens (None)."""
    return SPECIAL if word_index is None else WORDS[word_index % len(WORDS)]


def in_the_dark(colour: str) -> str:
    """A head's colour "#rrggbb" for dark paper: three tenths of the way to white, so that its darkest is seen there."""
    channels = channels_of(colour)
    return "#" + "".join(f"{int(channel + (255 - channel) * TO_WHITE + 0.5):02x}" for channel in channels)


SCALES = ("magnitude", "signed")


def scales() -> dict[str, dict[str, list[str]]]:
    """The stops of both scales on each theme's paper, for scripts: theme -> name -> colours."""
    return {
        "light": {name: PALETTE[name] for name in SCALES},
        "dark": {name: PALETTE[f"{name}_dark"] for name in SCALES},
    }


def colour_scale(name: str) -> list[list[Any]]:
    """A Plotly colour scale: "magnitude" (0 upwards, evenly stepped) or "signed" (diverging, centred at zero).

    It is the light page's scale; demos/page/plots.js replaces it with the dark page's. Black and white swap with it:
    wherever one is easier to read on the light scale, the other is on the dark scale.
    """
    stops = PALETTE[name]
    return [[index / (len(stops) - 1), colour] for index, colour in enumerate(stops)]


def inked(text: str, scale: list[list[Any]], share: float) -> str:
    """A cell's text for Plotly in the ink that can be read on this place, 0..1, of a colour scale."""
    return f'<span style="color:{ink_on(scale, share)}">{text}</span>'


def ink_on(scale: list[list[Any]], share: float) -> str:
    """Black or white, whichever stands out more (WCAG 2's relative luminance) on a place, 0..1, of a colour scale."""
    red, green, blue = map(_linear, shade(scale, share))
    return "#ffffff" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.18 else "#000000"


@cache
def _linear(channel: int) -> float:
    """A channel, 0..255, as a share of the light."""
    share = channel / 255
    return float(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)


def shade(scale: list[list[Any]], share: float) -> tuple[int, int, int]:
    """The colour (red, green, blue) at a place, 0..1, of an evenly stepped scale; beyond it, the color of the end."""
    place = min(max(float(share), 0.0), 1.0) * (len(scale) - 1)
    below = min(int(place), len(scale) - 2)
    low, high = (channels_of(scale[at][1]) for at in (below, below + 1))
    red, green, blue = (round(a + (b - a) * (place - below)) for a, b in zip(low, high, strict=True))
    return red, green, blue


@cache
def channels_of(colour: str) -> tuple[int, ...]:
    """Red, green and blue, 0..255 each, of "#rrggbb"."""
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def swatch(scale: str, share: float) -> str:
    """CSS variables for a place, 0..1, of "magnitude" or "signed", worn by demos/figures/swatch.css."""
    shades = [f"rgb{shade(colour_scale(name), share)}" for name in (scale, f"{scale}_dark")]
    inks = [ink_on(colour_scale(name), share) for name in (scale, f"{scale}_dark")]
    return f"--light-shade:{shades[0]};--light-ink:{inks[0]};--dark-shade:{shades[1]};--dark-ink:{inks[1]}"


def css_variables() -> str:
    """The palette, fonts and small sizes as custom properties (`--ink`, `--word-0`, …), light and for `.dark`."""

    def block(selector: str, values: dict[str, str]) -> str:
        return selector + "{" + "".join(f"--{name}:{value};" for name, value in values.items()) + "}"

    shared = {f"word-{i}": colour for i, colour in enumerate(WORDS)}
    shared |= {f"class-{i}": colour for i, colour in enumerate(CLASSES)}
    shared |= {f"head-{i}": colour for i, colour in enumerate(HEADS)}
    dark = PALETTE["dark"] | {f"head-{i}": in_the_dark(colour) for i, colour in enumerate(HEADS)}
    shared |= {"sans": SANS, "serif": SERIF, "mono": MONO, "small": f"{SMALL}px", "tiny": "13px"}
    in_the_hall = {"tiny": f"{SMALL}px"}
    return block(":root", PALETTE["light"] | shared) + block(".dark", dark) + block(".large-type", in_the_hall)


LINES = "#2a3f5f"
PATTERN = {"fillmode": "overlay", "size": 10, "solidity": 0.2}
AXES = {
    "automargin": True,
    "gridcolor": "white",
    "linecolor": "white",
    "ticks": "",
    "title": {"standoff": 15},
    "zerolinecolor": "white",
    "zerolinewidth": 2,
}
# The template "plotly" of Plotly's Python package, for the traces that the lessons use.
TEMPLATE = {
    "data": {
        "bar": [
            {"error_x": {"color": LINES}, "error_y": {"color": LINES}}
            | {"marker": {"line": {"color": "#E5ECF6", "width": 0.5}, "pattern": PATTERN}}
        ],
        "heatmap": [{"colorbar": {"outlinewidth": 0, "ticks": ""}}],
    },
    "layout": {
        "annotationdefaults": {"arrowcolor": LINES, "arrowhead": 0, "arrowwidth": 1},
        "autotypenumbers": "strict",
        "font": {"color": LINES},
        "hoverlabel": {"align": "left"},
        "hovermode": "closest",
        "shapedefaults": {"line": {"color": LINES}},
        "xaxis": AXES,
        "yaxis": AXES,
    },
}


def plotly_layout(**changes: Any) -> Attributes:
    """The layout every Plotly figure begins with: clear background, our fonts, small margins, no title gap.

    Colours that must follow light and dark are set in CSS (demos/page/page.css recolours the SVG's text and grid).
    """
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": SANS, "size": SMALL},
        "margin": {"l": 60, "r": 20, "t": 20, "b": 50},
        "hoverlabel": {"font": {"size": 17, "family": SANS}},
        "colorway": CLASSES,
        "legend": {"orientation": "h", "y": -0.2},
        "dragmode": False,  # a finger that moves over a figure scrolls the page
        "template": TEMPLATE,
        **changes,
    }
