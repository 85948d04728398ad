"""Agreement with people drawn: one bar per pooling and layer, and one choice's cosines against the ratings (Plotly)."""

import math
from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.agreement import SAME, Agreement, Correlation
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLER, POOLINGS, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.model.catalogue import ModelSpec
from demos.figures.axes import BOTH_PAPERS, axis, whiskers
from demos.figures.cosine_heatmap import POOLING_NAMES, choice_name, jittered, short
from demos.figures.figure.figure import Attributes, Figure, Mark, Trace, for_phones
from demos.figures.fonts.fonts import SMALL
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.program import encode_lines, model_lines, rows_lines
from demos.templates import plot_text, signed
from demos.training.data.rated_pairs import Form

HUES = {"cls": CLASSES[5], "mean": CLASSES[0], "mean_no_special": CLASSES[4], "max": CLASSES[2], POOLER: CLASSES[3]}
COMBINED: dict[int | str, str] = {
    SUM_ALL: "sum of<br>all",
    SUM_LAST_FOUR: "sum of<br>last 4",
    CONCAT_LAST_FOUR: "last 4<br>joined",
}
NO_RHO = "no ρ: all cosines are equal"  # as text.html says it
NAMED_PAIRS = 400  # with more, their sentences on hover would be half a megabyte
LINE = 20  # pixels of a name
WHISKERS = 72  # bars; with more, their intervals would be a fence


def bars_figure(agreement: Agreement, picked: int, deepest: int, menus: Sequence[tuple[str, str]]) -> Figure:
    """Spearman's rho of every choice with its 95% interval; layers on x, one hue per pooling; best and selected named.

    `picked` is an index into `agreement.choices`. A bar's customdata begins with what a click sets the two menus to,
    its choice's of `menus`.
    """
    groups = [*range(deepest + 1), *COMBINED]
    ticks = [index + 0.35 * (index > deepest) for index in range(len(groups))]
    poolings = [*POOLINGS, *([POOLER] if any(choice.pooling == POOLER for choice in agreement.choices) else [])]
    width = 0.84 / len(poolings)
    with_intervals = len(agreement.choices) <= WHISKERS
    traces: list[Trace] = []
    centres: dict[int, float] = {}
    for place, pooling in enumerate(poolings):
        rows = [row for row, choice in enumerate(agreement.choices) if choice.pooling == pooling]
        correlations = [agreement.correlations[row] for row in rows]
        for row in rows:
            group = ticks[groups.index(agreement.choices[row].layer)]
            centres[row] = group + (place - (len(poolings) - 1) / 2) * width
        outline = [4 if row == picked else 0 for row in rows]
        low = [_drawn(correlation.spearman - correlation.low) for correlation in correlations]
        high = [_drawn(correlation.high - correlation.spearman) for correlation in correlations]
        named = [(row, choice_name(agreement.choices[row], deepest)) for row in rows]
        traces.append(
            {
                "type": "bar",
                "x": [round(centres[row], 4) for row in rows],
                "y": [_drawn(correlation.spearman) for correlation in correlations],
                "width": width * 0.94,
                "name": POOLING_NAMES[pooling],
                "marker": {"color": HUES[pooling], "line": {"color": BOTH_PAPERS, "width": outline}},
                "error_y": whiskers(low, high, thickness=1.5, width=2, visible=with_intervals),
                "customdata": [[*menus[row], name, _ranged(agreement.correlations[row])] for row, name in named],
                "hovertemplate": "%{customdata[2]}<br>ρ = %{customdata[3]}<extra></extra>",
            }
        )
    ends = [-0.6, ticks[-1] + 0.6]
    level = agreement.overlap.spearman
    if not math.isnan(level):
        line = {"x": ends, "y": [round(level, 4)] * 2, "line": {"color": BOTH_PAPERS, "width": 3, "dash": "dash"}}
        name = f"shared words only, no model: {signed(level, '.2f')}"
        traces.append({"type": "scatter", "mode": "lines", "name": name, "hoverinfo": "skip"} | line)
    names = [*[str(layer) for layer in range(deepest + 1)], *COMBINED.values()]
    across = axis(f"layer (0: before the first, {deepest}: the last)", tickvals=ticks, ticktext=names, tickangle=0)
    across["title"]["standoff"] = 6
    defined = [correlation for correlation in agreement.correlations if not _undefined(correlation)]
    lows = [correlation.low if with_intervals else correlation.spearman for correlation in defined]
    lowest = min(0.0, min(lows) - 0.03)
    layout = plotly_layout(
        height=430,
        margin={"l": 64, "r": 12, "t": 12, "b": 64},
        barmode="overlay",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 18}},
        xaxis=across | {"range": ends, "showgrid": False},
        yaxis=axis("Spearman’s ρ with the ratings", range=[lowest, 1], zeroline=True),
        annotations=_marks(agreement, picked, centres, with_intervals),
    )
    return for_phones({"data": traces, "layout": layout}, *_on_phones(layout, traces))


def _on_phones(layout: Attributes, traces: Sequence[Trace]) -> tuple[Attributes, dict[int, Trace]]:
    """The changes of layout and traces on a phone, where a bar has some 7 pixels: steep names, a thinner outline."""
    across = layout["xaxis"]
    low, high = across["range"]
    names = [name.replace("<br>", " ") for name in across["ticktext"]]
    size = SMALL if len(names) <= 16 else 12  # of 12 layers; of 24 the names are nearer
    outlines = {at: trace["marker"]["line"]["width"] for at, trace in enumerate(traces) if trace["type"] == "bar"}
    changes = {
        "margin": {"l": 46, "r": 2},
        "xaxis": {"range": [low - 0.35, high], "ticktext": names, "tickangle": -90, "tickfont": {"size": size}},
        "legend": {"font": {"size": SMALL}, "entrywidth": 110},
        "annotations": _within(layout["annotations"], low, high),
    }
    return changes, {at: {"marker": {"line": {"width": [w / 2 for w in widths]}}} for at, widths in outlines.items()}


def _within(marks: Sequence[Mark], low: float, high: float) -> list[Mark]:
    """The marks on a phone, where a name is half as wide as the chart: inside of it, the second above the first."""
    steep = [mark | {"font": {"size": 12}, "xanchor": "right", "xshift": 4} for mark in marks if "textangle" in mark]
    names = []
    for number, mark in enumerate(mark for mark in marks if "textangle" not in mark):
        third = int(3 * (mark["x"] - low) / (high - low))
        anchor = ("left", "center", "right")[third]
        names.append(mark | {"font": {"size": SMALL}, "xanchor": anchor, "yshift": LINE * number})
    return [*steep, *names]


def _undefined(correlation: Correlation) -> bool:
    return math.isnan(correlation.spearman)


def _drawn(value: float) -> float | None:
    """A number as Plotly takes it: nothing where there is none."""
    return None if math.isnan(value) else round(value, 4)


def _ranged(correlation: Correlation) -> str:
    low, high = signed(correlation.low, ".2f"), signed(correlation.high, ".2f")
    return f"{signed(correlation.spearman, '.3f')}, 95% interval {low} to {high}"


def _marks(agreement: Agreement, picked: int, centres: dict[int, float], intervals: bool) -> list[Trace]:
    """The best and the picked bar named above them, side by side where they are near; and where there is no rho."""
    best = agreement.best
    words = {best: "best"}
    words[picked] = "best and selected" if picked == best else "selected"
    near = abs(centres[best] - centres[picked]) < 1.5
    left = min(words, key=lambda row: centres[row])
    marks = []
    for row, correlation in enumerate(agreement.correlations):
        shared = {"x": centres[row], "yanchor": "bottom", "showarrow": False}
        if _undefined(correlation):
            marks.append(shared | {"y": 0, "text": NO_RHO, "textangle": -90, "font": {"size": 16}})
        elif row in words:
            top = max(correlation.high if intervals else correlation.spearman, 0)
            side = "center" if len(words) == 1 or not near else "right" if row == left else "left"
            text = f"<b>{words[row]} {signed(correlation.spearman, '.2f')}</b>"
            place = {"y": _clear_of(agreement.overlap.spearman, top), "xanchor": side}
            marks.append(shared | place | {"text": text, "font": {"size": 18}})
    return marks


def _clear_of(level: float, y: float) -> float:
    """The height of a name's lower edge, so that the line at `level` does not run through it."""
    return level + 0.01 if -0.02 < level - y < 0.09 else y


def scatter_figure(agreement: Agreement, row: int, marked: Sequence[int]) -> Figure:
    """One choice's cosine against the rating of every pair; `marked` pairs are numbered 1, 2, ... as in their list.

    Points are moved sideways by up to a tenth of the scale's step, from one seed, so as not to hide each other.
    """
    scores, cosines = agreement.scores, np.round(agreement.cosines[row].astype(np.float64), 4)
    moved = np.round(jittered(scores), 3)
    named = len(scores) <= NAMED_PAIRS
    pairs = [
        f"{plot_text(short(pair.first, 60))}<br>{plot_text(short(pair.second, 60))}<br>" if named else ""
        for pair in agreement.pairs
    ]
    hue = HUES[agreement.choices[row].pooling]
    points = {
        "type": "scatter",
        "x": moved,
        "y": cosines,
        "mode": "markers",
        "marker": {"size": 10 if named else 6, "color": hue, "opacity": 0.75 if named else 0.45},
        "customdata": list(zip(pairs, [f"{score:g}" for score in scores], strict=True)),
        "hovertemplate": "%{customdata[0]}rated %{customdata[1]}, cosine %{y:.3f}<extra></extra>",
    }
    numbers = {
        "type": "scatter",
        "x": moved[list(marked)],
        "y": cosines[list(marked)],
        "mode": "markers+text",
        "text": [f"<b>{number}</b>" for number in range(1, len(marked) + 1)],
        "textposition": "middle right",
        "textfont": {"size": 18},
        "cliponaxis": False,
        "marker": {"size": 17, "symbol": "circle-open", "color": hue, "line": {"width": 4}},
        "hoverinfo": "skip",
    }
    low, high = float(scores.min()), float(scores.max())
    side = 0.06 * (high - low)
    layout = plotly_layout(
        height=400,
        margin={"l": 64, "r": 16, "t": 12, "b": 56},
        showlegend=False,
        xaxis=axis("rating (low: unrelated, high: same meaning)", range=[low - side, high + side]),
        yaxis=axis("cosine"),
    )
    return {"data": [points, numbers], "layout": layout}


def choice_row(choices: Sequence[Choice], choice: Choice) -> int:
    """The place of a choice among all, the first where it is not offered."""
    return choices.index(choice) if choice in choices else 0


def agreement_code(spec: ModelSpec, choice: Choice, path: str, form: Form) -> str:
    """Prints Spearman's rho for this choice over the pairs in the file at `path`, or why there is none."""
    imports, rows = rows_lines(path, form)
    needed, source = model_lines(spec)
    return f"""{imports}{needed}import torch
from scipy.stats import spearmanr
from transformers import AutoModel, AutoTokenizer

{source}
{encode_lines(spec, choice)}

{rows}
cosines = []
for at in range(0, len(scores), 32):
    a, b = encode(first[at:at + 32]), encode(second[at:at + 32])
    cosines += torch.cosine_similarity(a.double(), b.double()).tolist()
if max(cosines) - min(cosines) < {SAME}:
    print("no rho: all cosines are equal")
else:
    print(round(spearmanr(cosines, scores).statistic, 3))
"""
