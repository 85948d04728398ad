"""The accuracy of every head at one relation, drawn (Plotly): layers x heads."""

from collections.abc import Mapping, Sequence

import numpy as np

from demos.bert.attention.grammar import Relation, Sentence, best_place
from demos.bert.model.catalogue import UNIGRAM, ModelSpec
from demos.counting import counted
from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR
from demos.figures.palette import PALETTE, colour_scale, inked, plotly_layout
from demos.figures.program import model_lines
from demos.files import read_filled
from demos.templates import templates

SCALE = colour_scale("magnitude")
MARK = PALETTE["signed"][0]
ROW = 40  # pixels a layer takes; fewer where there are many
MARKS = """\
    letters = [any(map(str.isalnum, name)) for name in inputs.tokens()]  # a punctuation mark is a separate word
    begins = [i for i in range(1, len(word_of)) if word_of[i] is not None and (word_of[i] != word_of[i - 1] or (
        letters[i] != letters[i - 1] and inputs.tokens()[i - 1] != "▁"))]
    word_of = [None if word is None else sum(at <= i for at in begins) - 1 for i, word in enumerate(word_of)]
"""
TEXT = templates(__file__)
# Clark et al. 2019 on BERT base: layer and head, from 1; its accuracy in percent; the best offset, where it is given,
# and its accuracy: table 1, section 4.3, and their Syntax_Analysis.ipynb (github.com/clarkkev/attention-analysis).
PUBLISHED: Mapping[str, tuple[int, int, float, int | None, float]] = {
    "subject": (8, 2, 58.5, 1, 45.5),
    "object": (8, 10, 86.8, -2, 40.0),
    "determiner": (8, 11, 94.3, 1, 51.7),
    "possessive": (7, 6, 80.5, 1, 47.7),
    "coreference": (5, 4, 65.1, None, 0.0),
}


def accuracy_figure(relation: Relation, direction: int) -> Figure:
    """The accuracies [L, A] in percent; the best head is outlined."""
    values = relation.accuracy[direction]
    layers, heads = values.shape
    _, layer, head = best_place(relation.hits[direction : direction + 1])
    heatmap = {
        "type": "heatmap",
        "x": list(range(1, heads + 1)),
        "y": list(range(1, layers + 1)),
        "z": np.round(values, 4),
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "text": [[inked(f"{value * 100:.0f}", SCALE, float(value)) for value in row] for row in values],
        "texttemplate": "%{text}",
        "textfont": {"size": SMALL},
        "hovertemplate": "layer %{y}, head %{x}<br>accuracy %{z:.1%}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
        "colorbar": BAR | {"tickformat": ".0%", "nticks": 6},
    }
    x, y = counted(head), counted(layer)
    box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "line": {"color": MARK, "width": 3}}
    plain = {"showgrid": False, "zeroline": False, "ticks": "", "dtick": 1, "tickfont": {"size": SMALL}}
    layout = plotly_layout(
        height=(ROW if layers <= 12 else 24) * layers + 96,
        margin={"l": 74, "r": 10, "t": 58, "b": 14},
        xaxis=plain | {"side": "top", "title": {"text": "head", "standoff": 6}},
        yaxis=plain | {"autorange": "reversed", "title": {"text": "layer", "standoff": 14}},
        shapes=[{"type": "rect"} | box],
    )
    return {"data": [heatmap], "layout": layout}


def grammar_code(spec: ModelSpec, relation: Relation, direction: int, sentences: Sequence[Sentence]) -> str:
    """Prints the accuracies of the relation in this direction, one row per layer."""
    needed, source = model_lines(spec)
    lines: list[str] = []
    for number, sentence in enumerate(sentences):
        pairs = [(a, b) if direction == 0 else (b, a) for at, a, b in relation.places if at == number]
        if pairs:
            lines.append(f"    ({sentence.text!r}, {pairs}),")
    filled = {"<IMPORTS>": needed, "<SOURCE>": source, "<PAIRS>": "\n".join(lines), "<RELATION>": relation.name}
    filled["<MARKS>"] = MARKS if spec.architecture in UNIGRAM else ""
    return read_filled(__file__, "program.txt", filled)


def relations_html(relations: Mapping[str, Relation], chosen: str, direction: int, sentences: int) -> str:
    """One row for each relation: its best head, its held-out score, the best offset, and the figures of Clark et al."""
    selected = relations[chosen]
    rows = [(relation, relation.best, PUBLISHED[name]) for name, relation in relations.items()]
    best = best_place(selected.hits[direction : direction + 1])[1:]
    share = float(selected.accuracy[(direction, *best)])
    return TEXT.relations(rows, selected, direction, best, share, sentences)


def pairs_html(relation: Relation, direction: int, sentences: Sequence[Sentence]) -> str:
    """Each pair: the two words, and the word that the best head leads to."""
    _, layer, head = best_place(relation.hits[direction : direction + 1])
    attended = relation.predicted[direction, layer, head].tolist()
    rows = []
    for (number, dependent, governor), place in zip(relation.places, attended, strict=True):
        words = sentences[number].words
        start, right = (dependent, governor) if direction == 0 else (governor, dependent)
        rows.append((words[start], words[right], words[place], place == right, sentences[number].text))
    return TEXT.pairs(relation.name, layer, head, rows)
