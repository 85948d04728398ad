"""The tree of a beam search: what each step keeps, ends and drops."""

from collections.abc import Callable

from demos.bert.decoding.beam import DROPPED, ENDED, KEPT, Search
from demos.figures.figure.figure import Figure, Trace, for_phones
from demos.figures.fonts.fonts import SMALL
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.templates import plot_text, signed

ROW = 46  # pixels a step
DROPPED_SHOWN = 2  # of a step, the best
STYLES = {
    KEPT: ("goes on", CLASSES[0], "circle"),
    ENDED: ("ends", CLASSES[2], "square"),
    DROPPED: ("dropped", SPECIAL, "circle-open"),
}


def tree_figure(search: Search, word: Callable[[int], str], steps: int) -> Figure:
    """The first `steps` steps, one below the other, the best candidate of each on the left; `word` names a token.

    A line leads from what a candidate continues; the best text's is thick once all steps are shown.
    """
    places: dict[tuple[int, ...], tuple[float, int]] = {(): (0.0, 0)}
    nodes: dict[str, list[tuple[float, int, str, str]]] = {fate: [] for fate in STYLES}
    best = search.finished[0].tokens if steps >= len(search.steps) else ()
    lines: dict[bool, tuple[list[float | None], list[int | None]]] = {False: ([], []), True: ([], [])}
    for number, step in enumerate(search.steps[:steps], start=1):
        dropped = rank = 0
        for candidate in step:
            if candidate.fate == DROPPED:
                dropped += 1
                if dropped > DROPPED_SHOWN:
                    continue
            tokens = candidate.hypothesis.tokens
            places[tokens] = at = (float(rank), number)
            rank += 1
            above = places[tokens[:-1]]
            across, down = lines[bool(best) and best[:number] == tokens]
            across += [above[0], at[0], None]
            down += [above[1], at[1], None]
            description = (
                f"log-probability {signed(candidate.hypothesis.log_probability, '.3f')}<br>"
                f"this token {signed(candidate.log_probability, '.3f')}<br>"
                f"score {signed(candidate.hypothesis.score, '.3f')}"
            )
            nodes[candidate.fate].append((*at, plot_text(word(tokens[-1])), description))
    traces: list[Trace] = []
    for thick, (across, down) in lines.items():
        line = {"width": 4 if thick else 1.5, "color": CLASSES[0] if thick else SPECIAL}
        faint = {"opacity": 0.5 if thick else 0.35}  # a line runs through words
        silent = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        traces.append(silent | {"x": across, "y": down, "line": line} | faint)
    fates = {candidate.fate for step in search.steps for candidate in step}
    for fate, (name, colour, symbol) in STYLES.items():
        if fate not in fates:  # where no token ends a text, nothing ends
            continue
        xs, ys, words, descriptions = zip(*nodes[fate], strict=True) if nodes[fate] else ((), (), (), ())
        marks = {
            "type": "scatter",
            "x": xs,
            "y": ys,
            "text": words,
            "customdata": descriptions,
            "mode": "markers+text",
            "name": name,
            "textposition": "bottom center",
            "marker": {"color": colour, "symbol": symbol, "size": 11},
            "textfont": {"size": SMALL},
            "cliponaxis": False,
            "hovertemplate": "<b>%{text}</b><br>%{customdata}<extra></extra>",
        }
        traces.append(marks)
    widest = max(x for x, _ in places.values())
    bare = {"showgrid": False, "zeroline": False}
    numbers = {"range": [steps + 0.7, -0.3], "tickvals": list(range(1, steps + 1)), "title": {"text": "step"}}
    layout = plotly_layout(
        height=90 + ROW * (steps + 1),
        margin={"l": 40, "r": 30, "t": 40, "b": 20},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        showlegend=True,
        xaxis=bare | {"range": [-0.5, max(3, widest) + 0.5], "tickvals": []},
        yaxis=bare | numbers,
    )
    in_two_lines = {
        at: {"text": ["<br>" * (x % 2 == 1) + text for x, text in zip(trace["x"], trace["text"], strict=True)]}
        | {"textfont": {"size": 12}}
        for at, trace in enumerate(traces)
        if "text" in trace
    }
    changes = {"margin": {"l": 34, "r": 4}, "xaxis": {"range": [-0.8, max(3, widest) + 0.5]}}
    return for_phones({"data": traces, "layout": layout}, changes, in_two_lines)
