"""The part's two pictures: ways between two words, as plain records for an SVG; and gradients by word, for Plotly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demos.bert.translation.paths import NETWORKS, RECURRENT, Path, levels, path
from demos.bert.translation.translators import TRANSFORMER
from demos.figures.axes import BOTH_PAPERS
from demos.figures.figure.figure import Figure, Trace
from demos.figures.palette import CLASSES, plotly_layout
from demos.files import read_beside
from demos.lessons.translation.figure import ABOVE, DASHES, SYMBOLS
from demos.lessons.translation.program_model import bundled_lines
from demos.templates import plot_text

WIDTH, LEFT, RIGHT = 560, 40, 24  # of the drawing; left of the first word and right of the last
NAME, WORDS_ROW = 24, 18  # heights: of a network's name, of its words' own row
MOST_LEVEL, MOST_PANEL = 26, 112  # of a layer; of all layers of one network


@dataclass(frozen=True)
class Panel:
    """One network: its states as points, and the way between the two words; all in the numbers of the SVG."""

    network: str
    y: int  # its top
    points: tuple[tuple[float, float], ...]  # the words' own row is the lowest
    chain: tuple[float, float, float] | None  # from x to x, at y: each state goes into the next
    ways: tuple[tuple[tuple[float, float], ...], ...]  # of the first word and of the second, which end in one state
    way: Path


@dataclass(frozen=True)
class Ways:
    """All networks, one above the other, on the same words."""

    width: int
    height: int
    panels: tuple[Panel, ...]
    words: tuple[float, ...]  # the positions of the words under the last panel


def ways(n: int, first: int, second: int) -> Ways:
    """The ways between the words at two places, `first` < `second`, of a sentence of `n` words."""
    gap = (WIDTH - LEFT - RIGHT) / max(1, n - 1)
    panels, top = [], 0
    for network in NETWORKS:
        count, shortest = levels(network, n), path(network, first, second)
        level_height = min(MOST_LEVEL, MOST_PANEL / count)
        floor = top + NAME + level_height * count

        def at(place: int, level: int, floor: float = floor, height: float = level_height) -> tuple[float, float]:
            return round(LEFT + place * gap, 1), round(floor - level * height, 1)

        panels.append(
            Panel(
                network,
                top,
                tuple(at(place, level) for level in range(count + 1) for place in range(n)),
                (at(0, 1)[0], *at(n - 1, 1)) if network == RECURRENT else None,
                tuple(tuple(at(*point) for point in way) for way in (shortest.first, shortest.second)),
                shortest,
            )
        )
        top = round(floor) + WORDS_ROW
    return Ways(WIDTH, top - WORDS_ROW, tuple(panels), tuple(round(LEFT + place * gap, 1) for place in range(n)))


def gradients_figure(words: Sequence[str], norms: Mapping[str, Sequence[float]], chosen: int) -> Figure:
    """The norm at each word, a line for each network, on a logarithmic axis; a line down at the chosen word."""
    places = list(range(1, len(words) + 1))
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": places,
            "y": [float(f"{norm:.4g}") for norm in of_network],
            "customdata": [plot_text(word) for word in words],
            "mode": "lines+markers",
            "name": name,
            "line": {"color": colour, "dash": dash, "width": 3},
            "marker": {"size": 9, "symbol": symbol},
            "hovertemplate": f"<b>%{{customdata}}</b>, norm %{{y:.3g}}<extra>{plot_text(name)}</extra>",
        }
        for (name, of_network), colour, dash, symbol in zip(norms.items(), CLASSES, DASHES, SYMBOLS, strict=False)
    ]
    mark = {"type": "line", "x0": chosen + 1, "x1": chosen + 1, "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    across = {"tickvals": places, "ticktext": [plot_text(word) for word in words], "tickangle": -60, "showgrid": False}
    layout = plotly_layout(
        height=275,
        margin={"l": 60, "r": 10, "t": 44, "b": 20 + 8 * max(map(len, words))},
        legend=ABOVE,
        showlegend=True,
        xaxis=across | {"range": [0.6, len(words) + 0.4]},
        yaxis={"type": "log", "dtick": 1, "title": {"text": "norm of the gradient"}, "exponentformat": "none"},
        shapes=[mark | {"line": {"color": BOTH_PAPERS, "width": 2, "dash": "dot"}}],
    )
    return {"data": traces, "layout": layout}


def gradients_code(source: Sequence[str]) -> str:
    """A program that prints the norms that the page shows."""
    code = read_beside(__file__, "program.txt").replace("SOURCE", repr(" ".join(source)))
    _, _, transformer = bundled_lines(TRANSFORMER).partition("\n\n")  # without its imports, which are above
    return code.replace("GRU\n", bundled_lines("additive")).replace("TRANSFORMER\n", transformer)
