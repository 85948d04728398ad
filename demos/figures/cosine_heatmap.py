"""Sentence vectors compared: what poolings, layers and sentences are called, and the cosine heatmap (Plotly)."""

from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLER, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.embeddings.similarity import Disagreement
from demos.bert.model.catalogue import CATALOGUE, ModelSpec
from demos.figures.figure.figure import Figure
from demos.figures.palette import PALETTE, colour_scale, inked, plotly_layout
from demos.templates import plot_text, signed

NUMBERS_IN_CELLS = 10  # sentences; with more the cells are too small to read
NAMES_ON_HOVER = 24  # sentences; with more, naming both in each cell would be half a megabyte
SIGNED = colour_scale("signed")
OUTLINE = PALETTE["classes"][5]
ALL_COLUMNS = 16  # sentences; with more, every fifth column has its number
POOLING_NAMES = {"cls": "[CLS]", "mean": "mean", "mean_no_special": "mean of words", "max": "max", POOLER: "pooler"}
LAYER_NAMES: dict[int | str, str] = {
    SUM_ALL: "sum of all layers",
    SUM_LAST_FOUR: "sum of the last four layers",
    CONCAT_LAST_FOUR: "last four layers concatenated",
}
NEARLY_SAME = 0.99  # a cosine


def choice_name(choice: Choice, deepest: int) -> str:
    """ "mean, last hidden layer (6)", as the page speaks of a choice."""
    where: dict[int | str, str] = {0: "embedding output (0)", deepest: f"last hidden layer ({deepest})", **LAYER_NAMES}
    return f"{POOLING_NAMES[choice.pooling]}, {where.get(choice.layer, f'layer {choice.layer} of {deepest}')}"


def tuned_for(spec: ModelSpec) -> str:
    """The pooling that this model was trained for, in one sentence; "" for a model that this project has no facts
    about.
    """
    if spec.key not in CATALOGUE:
        return ""
    if not spec.hub_id:
        return (
            "The bundled model (all-MiniLM-L6-v2) was fine-tuned on sentence pairs with mean pooling, so its [CLS] was "
            "not trained to represent the sentence. Its results differ from those of BERT without fine-tuning."
        )
    if spec.nsp:
        return (
            f"{spec.title} was not fine-tuned to compare sentences: its [CLS] was trained to predict whether one "
            "sentence follows another, and its mean was not trained for any task."
        )
    return f"{spec.title} was not fine-tuned to compare sentences: neither its [CLS] nor its mean."


def short(sentence: str, length: int = 24) -> str:
    """A sentence cut at a word where it can be, on one line."""
    line = " ".join(sentence.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip(" ,;:.") + "…"


def label(number: int, sentence: str, length: int, from_bar: int = 0) -> str:
    """ "3 Willows grow…", escaped: Plotly reads tags in its labels. The bar's own have their diamond before them."""
    mark = "◆ " if number < from_bar else ""
    # Plotly makes a tspan of the span, which the style sheet hides on a phone: there the number must do.
    return f'{mark}{number + 1} <span style="font-weight:400">{plot_text(short(sentence, length))}</span>'


def jittered(scores: np.ndarray) -> np.ndarray:
    """Ratings [n] moved sideways by less than half a step, from one seed, so that equal ones do not hide each other."""
    levels = np.unique(scores)
    if len(levels) >= len(scores) / 4:
        return scores
    room = 0.3 * float(np.diff(levels).min()) if len(levels) > 1 else 0.1
    return scores + np.random.default_rng(0).uniform(-room, room, len(scores))


def cosine_heatmap(
    cosine: np.ndarray,
    sentences: Sequence[str],
    outlined: Disagreement | None = None,
    from_bar: int = 0,
    heading: str = "",
) -> Figure:
    """A cosine matrix [m, m] on the signed scale from -1 to 1, numbers in the cells where they can be read.

    `outlined` draws a frame around one pair's cells. Axes carry the sentences' numbers, the rows their beginnings.
    `heading` is short: it is in the corner above the rows' names.
    """
    m = len(sentences)
    numbered, hovered = m <= NUMBERS_IN_CELLS, m <= NAMES_ON_HOVER
    named = [plot_text(short(sentence, 70)) for sentence in sentences]
    pair = "%{customdata[0]}<br>%{customdata[1]}" if hovered else "%{y}<br>and sentence %{x}"
    heatmap = {
        "type": "heatmap",
        "z": np.round(cosine, 4),
        "zmin": -1,
        "zmax": 1,
        "colorscale": SIGNED,
        "text": _cells(cosine) if numbered else None,
        "texttemplate": "%{text}" if numbered else None,
        "textfont": {"size": 16},
        "customdata": [[[a, b] for b in named] for a in named] if hovered else None,
        "hovertemplate": f"{pair}<br>cosine %{{z:.3f}}<extra></extra>",
        "xgap": 1 if hovered else 0,
        "ygap": 1 if hovered else 0,
        "showscale": not numbered,
        "colorbar": {"orientation": "h", "thickness": 12, "y": -0.02, "yanchor": "top", "tickvals": [-1, 0, 1]},
    }
    frames = []
    for x, y in () if outlined is None else ((outlined.i, outlined.j), (outlined.j, outlined.i)):
        box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
        frames.append({"type": "rect", "line": {"color": OUTLINE, "width": 3 if hovered else 2}} | box)
    row = 36 if numbered else 25 if hovered else 15  # pixels
    step = 1 if m <= ALL_COLUMNS else 5
    columns = sorted({0, *range(step - 1, m, step)})
    below = 8 if numbered else 56  # the colour bar's room
    both = {"showgrid": False, "zeroline": False}
    names = [label(i, sentence, 12, from_bar) for i, sentence in enumerate(sentences)]
    rows = range(0, m, 1 if hovered else 2)  # beyond, a name is taller than its row
    layout = plotly_layout(
        height=max(240, row * m) + 28 + below,
        margin={"l": 122, "r": 8, "t": 28, "b": below},
        xaxis=both | {"tickvals": columns, "ticktext": [str(i + 1) for i in columns], "tickangle": 0, "side": "top"},
        yaxis=both | {"tickvals": [*rows], "ticktext": [names[i] for i in rows], "autorange": "reversed"},
        shapes=frames,
        title={"text": heading, "font": {"size": 16}, "x": 0, "xanchor": "left", "y": 1, "yanchor": "top"}
        | {"pad": {"t": 4, "l": 8}},
    )
    return {"data": [heatmap], "layout": layout}


def _cells(cosine: np.ndarray) -> list[list[str]]:
    """Each cosine as ".74" or "1", for narrow cells, in the ink that can be read on its cell's colour."""
    return [
        [inked(signed(value, ".2f").replace("0.", ".").replace("1.00", "1"), SIGNED, (value + 1) / 2) for value in row]
        for row in cosine
    ]
