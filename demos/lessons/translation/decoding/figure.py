"""The picture of a decoder without attention: all English words, one vector, all French words."""

from collections.abc import Sequence

from demos.bert.translation.decoding import SHOWN, TOP
from demos.figures.figure.figure import Figure, Trace
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.files import read_filled
from demos.lessons.translation.figure import ROW
from demos.templates import plot_text

VECTOR = 0.55  # its height between the words
MEMORY = "memory = torch.stack([torch.cat(both) for both in zip(forward[1:], reversed(backward[1:]))])  # [n, d]\n"
WITH = """
    both = torch.tanh(W["of_state.weight"] @ s + W["of_state.bias"] + memory @ W["of_memory.weight"].T)
    weights = (both @ W["energy.weight"][0]).softmax(0)  # additive score (Bahdanau et al. 2015)
    context = weights @ memory
"""
WITHOUT = """
    context = last  # no attention: the encoder's last states in both directions, the same at each step
"""
WEIGHTS = ', " ".join(f"{weight:.4f}" for weight in weights)'


def one_vector_figure(
    source: Sequence[str], written: Sequence[str], probabilities: Sequence[float], step: int, width: int
) -> Figure:
    """Lines from the English words to one vector of `width` numbers, and from there to a bar for each written word.

    A bar is the probability of the word when it was written; `step`, from 0, stands out.
    """
    down, up = ([(at + 0.5) / len(words) for at in range(len(words))] for words in (source, written))
    lines = [(0.0, VECTOR, place, 0.5, False) for place in down]
    lines += [(VECTOR, 1.0, 0.5, place, at == step) for at, place in enumerate(up)]
    silent = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}
    traces: list[Trace] = [
        silent
        | {"x": [x0, x1], "y": [y0, y1], "mode": "lines"}
        | {"line": {"color": CLASSES[0] if chosen else SPECIAL, "width": 4 if chosen else 1}}
        for x0, x1, y0, y1, chosen in sorted(lines, key=lambda line: line[-1])
    ]
    square = {"size": 26, "symbol": "square", "color": CLASSES[1]}
    traces.append(silent | {"x": [VECTOR], "y": [0.5], "mode": "markers", "marker": square})
    bars = {
        "type": "bar",
        "y": up,
        "x": [round(share, 4) for share in probabilities],
        "orientation": "h",
        "width": 0.66 / len(written),
        "xaxis": "x2",
        "yaxis": "y2",
        "opacity": 0.8,
        "marker": {"color": [CLASSES[0] if at == step else SPECIAL for at in range(len(written))]},
        "customdata": [plot_text(word) for word in written],
        "hovertemplate": "<b>%{customdata}</b><br>probability %{x:.4f}<extra></extra>",
    }
    traces.append(bars)
    left, right = (20 + max(map(len, words)) * 9 for words in (source, written))
    height = max(330, ROW * max(len(source), len(written)) + 80)
    title = {"text": f"one vector:<br>{width} components"}
    layout = plotly_layout(
        height=height,
        margin={"l": left, "r": right, "t": 10, "b": 64},
        showlegend=False,
        xaxis=BARE | {"domain": [0, 0.66], "range": [0, 1], "showticklabels": False, "title": title},
        yaxis=BARE | {"range": [1, 0], "tickvals": down, "ticktext": [plot_text(word) for word in source]},
        xaxis2={"domain": [0.66, 1], "range": [0, 1], "title": {"text": "probability"}}
        | {"tickformat": ".0%", "tickvals": [0, 1], "showgrid": False},
        yaxis2=BARE
        | {"range": [1, 0], "anchor": "x2", "side": "right", "ticklabelstandoff": 4}
        | {"tickvals": up, "ticktext": [plot_text(word) for word in written]},
    )
    return {"data": traces, "layout": layout}


def decoding_code(source: Sequence[str], score: str, step: int) -> str:
    """A program that translates these words as the page does, and prints the numbers of step `step`, from 1."""
    attends = score != "none"
    values = {
        "SENTENCE": repr(" ".join(source)),
        "SCORE": score,
        "MEMORY\n": MEMORY if attends else "",
        "\nCONTEXT\n": WITH if attends else WITHOUT,
        ", WEIGHTS": WEIGHTS if attends else "",
        "STEP": step,
        "SHOWN": SHOWN,
        "TOP": TOP,
    }
    return read_filled(__file__, "program.txt", values)
