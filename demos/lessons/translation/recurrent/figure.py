"""The part's picture: a row for each step, with its input, its state and the word that follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.figures.figure.figure import Figure, Mark
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR, BARE
from demos.figures.numbers import percent
from demos.figures.palette import CLASSES, colour_scale, plotly_layout
from demos.files import read_filled
from demos.lessons.translation.figure import framed_row
from demos.templates import plot_text

ROW, ABOVE, BELOW = 24, 28, 44  # pixels
ON_TOP = {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 2}
LIKELIEST = "int(logits.argmax())"
RANDOM = "int(torch.multinomial((logits / TEMPERATURE).softmax(0), 1, generator=draw))"
GENERATOR = "draw = torch.Generator().manual_seed(SEED)\n"


@dataclass(frozen=True)
class Row:
    """One step of the picture."""

    word: str  # its input
    following: str
    chance: float  # of the word that follows
    typed: bool  # whether the reader has typed the word that follows


def states_figure(rows: Sequence[Row], states: np.ndarray, at: int) -> Figure:
    """The states [n, d] under one another, inputs on the left, following words on the right; step `at` is framed."""
    count, width = states.shape
    heatmap = {
        "type": "heatmap",
        "x": list(range(1, width + 1)),
        "y": list(range(count)),
        "z": np.round(states.astype(np.float64), 4),
        "customdata": [[plot_text(row.word)] * width for row in rows],
        "zmin": -1,
        "zmax": 1,
        "ygap": 3,
        "colorscale": colour_scale("signed"),
        "colorbar": BAR | {"orientation": "h", "y": 0, "yanchor": "top", "ypad": 6, "tickvals": [-1, 0, 1]},
        "hovertemplate": "state after <b>%{customdata}</b><br>component %{x}: <b>%{z:+.4f}</b><extra></extra>",
    }
    left = 40 + 8 * max(len(row.word) for row in rows)
    following = [f"{plot_text(row.following)} {percent(row.chance)}" for row in rows]
    right = 30 + 8 * max(map(len, following))
    names = [f"{number} {plot_text(row.word)}" for number, row in enumerate(rows, start=1)]
    down = {"tickvals": list(range(count)), "ticktext": names, "range": [count - 0.5, -0.5], "ticklabelstandoff": 4}
    frame = framed_row(at, width, CLASSES[2])
    layout = plotly_layout(
        height=ROW * count + ABOVE + BELOW,
        margin={"l": left, "r": right, "t": ABOVE, "b": BELOW},
        xaxis=BARE | {"showticklabels": False, "range": [0.5, width + 0.5]},
        yaxis=BARE | down,
        shapes=[frame | {"x0": frame["x0"] + 1, "x1": frame["x1"] + 1}],
        annotations=[
            _beside("state", x=0, **ON_TOP),
            _beside("next word", x=1, xshift=6, **ON_TOP),
            *(
                _beside(text if row.typed else f"<b>{text}</b>", x=1, xshift=6, y=place)
                for place, (row, text) in enumerate(zip(rows, following, strict=True))
            ),
        ],
    )
    return {"data": [heatmap], "layout": layout}


def _beside(text: str, **place: Any) -> Mark:
    return {"xref": "paper", "xanchor": "left", "text": text, "showarrow": False, "font": {"size": SMALL}} | place


def writing_code(
    beginning: str, temperature: float | None, seed: int, step: int, longest: int, top: int, shown: int
) -> str:
    """A program that writes after this beginning as the page does, and prints the numbers of step `step`, from 1."""
    greedy = temperature is None
    values = {
        "BEGINNING": repr(beginning.lower().replace(".", " ")),
        "GENERATOR\n": "" if greedy else GENERATOR,
        "CHOICE": LIKELIEST if greedy else RANDOM,
        "TEMPERATURE": temperature,
        "SEED": seed,
        "STEP": step,
        "LONGEST": longest,
        "SHOWN": shown,
        "TOP": top,
    }
    return read_filled(__file__, "program.txt", values)
