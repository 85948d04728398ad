"""The shape of the space drawn (Plotly): anisotropy by layer, cosines, dimensions, norms and corrections."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from demos.bert.embeddings.anisotropy import dominating, random_shares
from demos.bert.embeddings.anisotropy_repairs import CENTRED, RAW, TOPLESS, TRIMMED, WHITE, WHITE_ALL, Repaired
from demos.bert.embeddings.vector_space import CLS, EDGES, MEAN, QUANTILES, TOP, WORDS, Space
from demos.counting import state_name
from demos.figures.axes import BOTH_PAPERS, whiskers
from demos.figures.figure.figure import Attributes, Axis, Figure, Mark, Trace
from demos.figures.fonts.fonts import SANS
from demos.figures.palette import CLASSES, SPECIAL, colour_scale, plotly_layout
from demos.figures.strips import strips_limit
from demos.templates import signed

HUES = {MEAN: CLASSES[0], WORDS: CLASSES[2], CLS: CLASSES[5]}
NAMES = {MEAN: "sentences (mean)", WORDS: "words", CLS: "[CLS]"}
STRANGERS = {MEAN: "two sentences", WORDS: "two words", CLS: "two [CLS]"}
DASHED = {"color": BOTH_PAPERS, "width": 3, "dash": "dash"}  # the values of random directions
LINE: Trace = {"type": "scatter", "mode": "lines+markers", "cliponaxis": False}
FONT = {"family": SANS, "size": 16}
RHO_TICKS = [fifths / 5 for fifths in range(-5, 6)]
REPAIRS = {
    RAW: "unchanged",
    TRIMMED: "{out} dimensions removed",
    CENTRED: "centered",
    TOPLESS: "centered, {out} axes removed",
    WHITE: "whitened, {left} axes",
    WHITE_ALL: "whitened, all {left}",
}


def curve_figure(space: Space, kind: str, layer: int) -> Figure:
    """The mean cosine of strangers by layer, one line per kind; `kind` is thick, and thin without its top dimensions.

    Random directions of the same width lie on the dotted line; a cosine of two of them is within the band two times
    in three (one standard deviation, 1 / sqrt(d)).
    """
    layers = list(range(space.num_layers + 1))
    band = 1 / math.sqrt(space.width)
    inside = {"type": "rect", "x0": 0, "x1": 1, "xref": "x domain", "y0": -band, "y1": band, "yref": "y"}
    lines = []
    for key, name in NAMES.items():
        cloud, picked = space.clouds[key], key == kind
        lines.append(
            LINE
            | {"x": layers, "y": np.round(cloud.anisotropy, 4), "name": name}
            | {"line": {"color": HUES[key], "width": 5 if picked else 3}}
            | {"marker": {"size": [18 if picked and at == layer else 10 if picked else 7 for at in layers]}}
            | {"hovertemplate": f"after %{{x}} layers: cosine of {STRANGERS[key]} <b>%{{y:.3f}}</b><extra></extra>"}
        )
        if picked:
            left = f"{TOP} dimensions removed"
            lines.append(
                LINE
                | {"x": layers, "y": np.round(cloud.trimmed, 4), "name": f"the same, {left}"}
                | {"line": {"color": HUES[key], "width": 3, "dash": "dot"}}
                | {"marker": {"size": 7, "symbol": "circle-open"}}
                | {"hovertemplate": f"after %{{x}} layers, {left}: <b>%{{y:.3f}}</b><extra></extra>"}
            )
    random = {"x": [layers[0], layers[-1]], "y": [0, 0], "mode": "lines", "line": DASHED, "hoverinfo": "skip"}
    lines.append({"type": "scatter", "name": "random directions"} | random)
    lowest = min(-0.1, *(float(cloud.anisotropy.min()) - 0.05 for cloud in space.clouds.values()))
    return {
        "data": lines,
        "layout": plotly_layout(
            height=480,
            margin={"l": 78, "r": 16, "t": 10, "b": 56},
            font={"family": SANS, "size": 17},
            legend=_legend(1.02, 18),
            xaxis=_layers_axis(tickvals=layers, range=[-0.25, layers[-1] + 0.25]),
            yaxis=_axis("mean cosine", range=[lowest, 1.06], dtick=0.2),
            shapes=[
                inside | {"fillcolor": BOTH_PAPERS, "opacity": 0.25, "line": {"width": 0}, "layer": "below"},
                _upright(layer, layer="below"),
            ],
        ),
    }


def cosines_figure(space: Space, kind: str, layer: int) -> Figure:
    """The share of strangers' cosines in each bin on one layer, against random directions of the same width."""
    cloud, middles = space.clouds[kind], np.round((EDGES[:-1] + EDGES[1:]) / 2, 2)
    shares, random = 100 * cloud.shares[layer], 100 * random_shares(EDGES, space.width)
    mean = float(cloud.anisotropy[layer])
    area = {
        "type": "scatter",
        "x": middles,
        "y": np.round(random, 2),
        "name": "random directions",
        "mode": "lines",
        "fill": "tozeroy",
        "line": DASHED | {"shape": "spline"},
        "hoverinfo": "skip",
    }
    bars = {
        "type": "bar",
        "x": middles,
        "y": np.round(shares, 3),
        "name": f"{STRANGERS[kind]}, {state_name(layer)}",
        "marker": {"color": HUES[kind], "opacity": 0.85, "line": {"width": 0}},
        "hovertemplate": "cosine near %{x}: <b>%{y:.1f}%</b> of the pairs<extra></extra>",
    }
    named = {
        "x": mean,
        "y": 1,
        "yref": "paper",
        "xanchor": "right" if mean > 0.85 else "center",
        "yanchor": "bottom",
        "text": f"<b>mean {mean:.2f}</b>",
        "showarrow": False,
        "font": {"size": 18},
    }
    first = int(np.argmax((shares > 0.01) | (random > 0.01)))
    return {
        "data": [area, bars],
        "layout": plotly_layout(
            height=330,
            margin={"l": 70, "r": 12, "t": 66, "b": 52},
            bargap=0.05,
            font=FONT,
            legend=_legend(1.13, 17),
            xaxis=_axis("cosine", range=[float(EDGES[first]), 1.03]),
            yaxis=_axis("% of the pairs", rangemode="tozero"),
            shapes=[_upright(mean)],
            annotations=[named],
        ),
    }


def dimensions_figure(space: Space, kind: str, layer: int) -> Figure:
    """The mean vector as a strip of d cells, and under each what that dimension adds to the mean cosine; TOP named."""
    cloud = space.clouds[kind]
    parts, mean = cloud.contributions[layer], cloud.mean[layer]
    top, total = dominating(parts, TOP), float(parts.sum())
    limit = strips_limit([mean])
    strip = {
        "type": "heatmap",
        "z": np.round(mean, 3)[None],
        "y": [0],
        "zmin": -limit,
        "zmax": limit,
        "colorscale": colour_scale("signed"),
        "yaxis": "y2",
        "showscale": False,
        "hovertemplate": "dimension %{x} of the mean vector: <b>%{z:+.3f}</b><extra></extra>",
    }
    dimensions = np.arange(len(parts))
    bars = {
        "type": "bar",
        "x": dimensions,
        "y": np.round(parts, 6),
        "width": np.where(np.isin(dimensions, top), 3, 1),
        "marker": {"color": HUES[kind], "line": {"width": 0}},
        "hovertemplate": "dimension %{x} contributes <b>%{y:.4f}</b> to the mean cosine<extra></extra>",
    }
    peak = max(float(parts[top[0]]), 1e-9)
    placed: list[float] = []
    names: list[Mark] = []
    for at in map(int, top):
        arrow = {"x": at, "yref": "paper", "y": 0.865, "text": "▼", "yanchor": "bottom"}
        names.append(arrow | {"showarrow": False, "font": {"size": 16}})
        if parts[at] < 0.02 * peak:
            continue  # a name on the axis could not be read, and there is nothing to name
        height, side = float(parts[at]), "left" if at < len(parts) * 0.7 else "right"
        while any(abs(height - other) < 0.12 * peak for other in placed):
            height += 0.125 * peak  # names of equal height would overlap
        placed.append(height)
        share = f", {parts[at] / total:.0%}" if total > 0.01 else ""
        place = {"x": at, "y": height, "xanchor": side, "xshift": 6 if side == "left" else -6, "yanchor": "middle"}
        names.append(place | {"text": f"<b>{at}</b>{share}", "showarrow": False, "font": {"size": 18}})
    ends = [min(0, float(parts.min())), max([peak, *placed]) * 1.12]
    return {
        "data": [strip, bars],
        "layout": plotly_layout(
            height=330,
            margin={"l": 78, "r": 12, "t": 30, "b": 52},
            showlegend=False,
            font=FONT,
            xaxis=_axis("dimension", range=[-1.5, len(parts) + 0.5], showgrid=False),
            yaxis={"title": {"text": "contribution"}, "domain": [0, 0.72], "range": ends},
            yaxis2={
                "domain": [0.75, 0.86],
                "anchor": "x",
                "showgrid": False,
                "zeroline": False,
                "tickvals": [0],
                "ticktext": ["mean"],
                "ticks": "",
            },
            annotations=names,
        ),
    }


def norms_figure(space: Space, layer: int) -> Figure:
    """The length of the vectors at each layer: the median, with nine of ten inside the whiskers."""
    layers = np.arange(space.num_layers + 1)
    rows = [(name, HUES[kind], space.clouds[kind].norms, "circle") for kind, name in NAMES.items()]
    rows.append(("[SEP]", SPECIAL, space.sep, "square"))
    inside = f"{QUANTILES[-1] - QUANTILES[0]:.0%}"
    lines = []
    for number, (name, hue, norms, symbol) in enumerate(rows):
        low, middle, high = norms.T
        lines.append(
            LINE
            | {"x": np.round(layers + 0.08 * (number - 1.5), 2), "y": np.round(middle, 4), "name": name}
            | {"text": [f"{at}" for at in layers]}  # the layer itself: the marks are beside it
            | {"line": {"color": hue, "width": 3}, "marker": {"size": 9, "symbol": symbol}}
            | {"error_y": whiskers(middle - low, high - middle, color=hue, thickness=2, width=4)}
            | {"customdata": np.stack([layers, low, high], axis=1)}
            | {
                "hovertemplate": f"{name}, after %{{customdata[0]}} layers: median <b>%{{y:.2f}}</b><br>{inside} within"
                " %{customdata[1]:.2f} and %{customdata[2]:.2f}<extra></extra>"
            }
        )
    return {
        "data": lines,
        "layout": plotly_layout(
            height=360,
            margin={"l": 70, "r": 12, "t": 10, "b": 52},
            font=FONT,
            legend=_legend(1.02, 17),
            xaxis=_layers_axis(tickvals=layers.tolist()),
            yaxis=_axis("length ‖x‖", rangemode="tozero"),
            shapes=[_upright(layer, layer="below")],
        ),
    }


def _axis(title: str, **more: Any) -> Axis:
    return {"title": {"text": title}, "zeroline": False} | more


def _layers_axis(**more: Any) -> Axis:
    return _axis("layer (0: the embedding output)", **more)


def _legend(height: float, size: int) -> Attributes:
    """The legend above the picture."""
    return {"orientation": "h", "y": height, "yanchor": "bottom", "x": 0, "font": {"size": size}}


def _upright(x: float, dash: str | None = None, **more: Any) -> Mark:
    """A line from the lower to the upper edge."""
    place = {"type": "line", "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return place | {"line": {"color": BOTH_PAPERS, "width": 2, "dash": dash}} | more


def repair_name(repair: Repaired, width: int) -> str:
    """The correction in a few words; `width` is that of the vectors."""
    return REPAIRS[repair.name].format(left=repair.dimensions, out=width - repair.dimensions)


def repairs_figure(repairs: Sequence[Repaired]) -> Figure:
    """Spearman's rho after each repair, the gain's interval as whiskers; the dotted line is the vectors as they are."""
    raw, gains = repairs[0], [repair.gain for repair in repairs]
    rho = [repair.correlation.spearman for repair in repairs]
    low = [max(0.0, gain.difference - gain.low) if gain else 0.0 for gain in gains]
    high = [max(0.0, gain.high - gain.difference) if gain else 0.0 for gain in gains]
    bars = {
        "type": "bar",
        "x": np.round(rho, 4),
        "y": [repair_name(repair, raw.dimensions) for repair in repairs],
        "orientation": "h",
        "marker": {
            "color": [BOTH_PAPERS, *[CLASSES[0]] * (len(repairs) - 1)],
            "opacity": [1 if gain is None or gain.clear else 0.45 for gain in gains],
            "line": {"width": 0},
        },
        "error_x": whiskers(low, high, thickness=2, width=6),
        "hovertemplate": "%{y}: ρ = <b>%{x:.3f}</b><extra></extra>",
    }
    ends = [value + more for value, more in zip(rho, high, strict=True)]
    numbers = []
    for row, gain in enumerate(gains):
        more = f' <span style="font-weight:400">{signed(gain.difference, "+.3f")}</span>' if gain else ""
        place = {"x": max(0.0, ends[row]), "y": row, "xanchor": "left", "xshift": 8, "showarrow": False}
        numbers.append(place | {"text": f"<b>{rho[row]:.3f}</b>{more}", "font": {"size": 18}})
    longest = max(0.1, *ends) * 2.3  # the numbers' room
    return {
        "data": [bars],
        "layout": plotly_layout(
            height=360,
            margin={"l": 210, "r": 16, "t": 10, "b": 52},
            font=FONT,
            xaxis=_axis("Spearman’s ρ", range=[min(0.0, *rho), longest], tickvals=RHO_TICKS),
            yaxis={"autorange": "reversed", "tickfont": {"size": 18}, "showgrid": False},
            shapes=[_upright(raw.correlation.spearman, "dot")],
            annotations=numbers,
        ),
    }
