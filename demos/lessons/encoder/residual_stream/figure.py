"""A token's path through all layers: the PCA path and four curves over the layers (Plotly), and both in words."""

from collections.abc import Iterable

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.residual_stream import Paths
from demos.bert.model.encoding import Encoding
from demos.figures.axes import of_panel, panel_axes, panel_title, panels
from demos.figures.cosine_heatmap import short
from demos.figures.figure.figure import Axis, Figure, Trace, for_phones
from demos.figures.palette import SPECIAL, plotly_layout, word_colour
from demos.figures.tables import number_table
from demos.templates import plot_text, signed, templates

TEXT = templates(__file__)
SHOWN = 40  # paths; more cover each other
NAMED = 24  # paths that end in their token's name
LETTER, LINE = 9.0, 20.0  # pixels that a label's letter and line take
PLANE = (520.0, 500.0)  # pixels of the plane on a laptop's page
ON_A_PHONE = (310.0, 500.0)
BAND = "rgba(138,144,150,0.18)"


def drawn_tokens(n: int, token: int) -> list[int]:
    """The tokens that have a path: all, or in a long input those around the chosen one."""
    first = max(0, min(token - SHOWN // 2, n - SHOWN))
    return list(range(first, min(n, first + SHOWN)))


def path_figure(paths: Paths, encoding: Encoding, token: int, layer: int) -> Figure:
    """Each token's way over the plane of PCA, from its embedding (a ring) to its last state, in its word's hue.

    The chosen token's is thick, with the number of layers behind each state; what `layer` does to it is thicker still.
    One unit is as long on both axes, so that what looks near is near on the plane.
    """
    shown = drawn_tokens(len(encoding), token)
    labels, fewer = (path_labels(paths, encoding, token, shown, plane) for plane in (PLANE, ON_A_PHONE))
    others = [index for index in shown if index != token]
    traces = [_paths(paths, encoding, alike) for alike in _by_hue(encoding, shown, token)]
    on_phones = {len(traces): _placed(paths, fewer, others), len(traces) + 1: {"text": fewer[token]}}
    traces.append(_texts(_placed(paths, labels, others)))
    x, y = np.round(paths.points[:, token], 4).T
    own = {"x": x, "y": y, "mode": "lines+markers+text", "text": labels[token], "textfont": {"size": 16}}
    own |= {"textposition": _outwards(paths.points[:, token])}
    traces.append(_paths(paths, encoding, [token], chosen=True) | own)  # on top
    x, y = np.round(paths.points[layer : layer + 2, token], 4).T
    step = {"x": x, "y": y, "mode": "lines", "opacity": 0.4, "hoverinfo": "skip"}
    line = {"color": word_colour(encoding.word_index[token]), "width": 11}
    traces.append({"type": "scatter", "line": line} | step)
    first, second = paths.explained
    layout = plotly_layout(
        height=560,
        margin={"l": 58, "r": 12, "t": 8, "b": 48},
        showlegend=False,
        hovermode="closest",
        meta=f"{len(paths.points) * len(shown)} points in {len(shown)} groups.",  # as for a trace a path
        xaxis={"title": {"text": f"axis 1 ({first:.0%} of the variance)"}, "zeroline": False},
        yaxis={"title": {"text": f"axis 2 ({second:.0%})"}, "zeroline": False, "scaleanchor": "x", "scaleratio": 1},
    )
    return for_phones({"data": traces, "layout": layout}, {}, on_phones)


def _by_hue(encoding: Encoding, shown: Iterable[int], token: int) -> list[list[int]]:
    """The tokens but the chosen one, those of one hue together: one trace draws them, and few are drawn fast."""
    hues: dict[str, list[int]] = {}
    for index in shown:
        if index != token:
            hues.setdefault(word_colour(encoding.word_index[index]), []).append(index)
    return list(hues.values())


def _with_gaps(curves: np.ndarray) -> np.ndarray:
    """Curves [m, k] one after the other, [k * (m + 1)], nan between them, where Plotly's line breaks."""
    return np.concatenate([np.round(curves, 4), np.full((1, curves.shape[1]), np.nan)]).T.ravel()


def _placed(paths: Paths, labels: dict[int, list[str]], tokens: list[int]) -> Trace:
    """The labels at the states of these tokens: texts, points and sides."""
    placed = [(index, step, text) for index in tokens for step, text in enumerate(labels[index]) if text]
    points = [paths.points[step, index] for index, step, _ in placed]
    return {
        "x": [round(float(x), 4) for x, _ in points],
        "y": [round(float(y), 4) for _, y in points],
        "text": [text for _, _, text in placed],
        "textposition": [_outwards(paths.points[:, index])[step] for index, step, _ in placed],
    }


def _texts(placed: Trace) -> Trace:
    """One trace of labels: Plotly loses texts behind a gap."""
    looks = {"textfont": {"size": 16}, "hoverinfo": "skip", "cliponaxis": False}
    return {"type": "scatter", "mode": "text"} | placed | looks


def _paths(paths: Paths, encoding: Encoding, alike: list[int], *, chosen: bool = False) -> Trace:
    """One trace of the paths of tokens that have one hue."""
    steps = len(paths.points)
    colour = word_colour(encoding.word_index[alike[0]])
    names = {index: f"{plot_text(short(encoding.tokens[index], 16))} (token {index})" for index in alike}
    return {
        "type": "scatter",
        "x": _with_gaps(paths.points[:, alike, 0]),
        "y": _with_gaps(paths.points[:, alike, 1]),
        "mode": "lines+markers",
        "line": {"color": colour, "width": 4 if chosen else 1.5},
        "marker": {
            "size": 9 if chosen else 4,
            "symbol": ["circle-open", *["circle"] * steps] * len(alike),
            "color": colour,
        },
        "hovertemplate": "%{customdata[0]}<br>after %{customdata[1]} layers<extra></extra>",
        "customdata": [[names[index], step] for index in alike for step in range(steps + 1)],
        "cliponaxis": False,
    }


def path_labels(
    paths: Paths, encoding: Encoding, token: int, shown: list[int], plane: tuple[float, float] = PLANE
) -> dict[int, list[str]]:
    """The label at each state of the paths shown. No label covers another on such a `plane`, so each can be read.

    The chosen token's steps come first, its last state before all; then the names at the other paths' ends.
    """
    last = len(paths.points) - 1
    names = {index: plot_text(short(encoding.tokens[index], 16)) for index in shown}
    wanted = [(token, last, f"<b>{last} {names[token]}</b>"), *((token, step, str(step)) for step in range(last))]
    if len(shown) <= NAMED:
        wanted += [(index, last, names[index]) for index in shown if index != token]
    points = paths.points[:, shown]
    span = np.maximum(np.ptp(points.reshape(-1, 2), axis=0), 1e-9)
    scale = float(np.min(np.array(plane) / (span * 1.1)))  # pixels a unit takes, the same on both axes
    sides = {index: _outwards(paths.points[:, index]) for index in shown}
    taken: list[tuple[float, float, float]] = []  # middle x, middle y and half the width, in pixels
    labels = {index: [""] * (last + 1) for index in shown}
    for index, step, text in wanted:
        half = LETTER * len(text.replace("<b>", "").replace("</b>", "")) / 2
        x, y = paths.points[step, index] * scale
        side = sides[index][step]
        x += (half + 6) * (("right" in side) - ("left" in side))
        y += LINE / 2 * (("top" in side) - ("bottom" in side))
        if all(abs(x - other) > half + width + LETTER or abs(y - height) > LINE for other, height, width in taken):
            taken.append((x, y, half))
            labels[index][step] = text
    return labels


def curves_figure(paths: Paths, encoding: Encoding, token: int, layer: int) -> Figure:
    """Over the layers: the norm, the cosines of the chosen token, and how much each layer changes it.

    Other tokens' norms and changes are thin lines in their hues. The band is what the chosen `layer` does.
    """
    steps, n = paths.norms.shape
    at, middle = np.arange(steps), np.arange(steps - 1) + 0.5
    traces = []
    for alike in _by_hue(encoding, drawn_tokens(n, token), token):
        line = {"color": word_colour(encoding.word_index[alike[0]]), "width": 1}
        quiet = {"mode": "lines", "line": line, "opacity": 0.4, "hoverinfo": "skip", "showlegend": False}
        for panel, x, curves in ((1, at, paths.norms), (3, middle, paths.change)):
            own_x = np.broadcast_to(x[:, None], (len(x), len(alike)))
            thin = {"x": _with_gaps(own_x), "y": _with_gaps(curves[:, alike])}
            traces.append({"type": "scatter"} | quiet | thin | of_panel(panel))
    own = word_colour(encoding.word_index[token])
    hover = "after %{x} layers: <b>%{y:.4f}</b><extra>%{fullData.name}</extra>"
    marked = {"type": "scatter", "mode": "lines+markers", "hovertemplate": hover, "x": at}
    norm = {"name": "norm", "line": {"color": own, "width": 4}, "showlegend": False}
    traces.append(marked | norm | {"y": np.round(paths.norms[:, token], 4)} | of_panel(1))
    for name, (other, dash, values) in token_cosines(paths, encoding, token).items():
        colour = SPECIAL if other is None else word_colour(encoding.word_index[other])
        cosine = {"y": np.round(values, 5), "line": {"color": colour, "width": 3, "dash": dash}}
        traces.append(marked | cosine | {"name": plot_text(name)} | of_panel(2))
    bars = {
        "type": "bar",
        "x": middle,
        "y": np.round(paths.change[:, token], 4),
        "width": 0.6,
        "marker": {"color": own},
        "name": "change",
        "showlegend": False,
        "customdata": list(range(1, steps)),
        "hovertemplate": "layer %{customdata}: <b>%{y:.4f}</b><extra></extra>",
    }
    traces.append(bars | of_panel(3))
    titles = ("Norm of the state", "Cosine of the state to …", "How much a layer changes it: ‖Δx‖ / ‖x‖")
    domains = panels(len(titles), 0.09)[::-1]  # the first on top
    across = {
        "domain": [0, 1],
        "showgrid": False,
        "zeroline": False,
        "range": [-0.3, steps - 0.7],
        "dtick": 1 if steps <= 14 else 2,
        "ticks": "",
    }
    upper = {"matches": "x3", "showticklabels": False}
    lowest = {"title": {"text": "layers passed (0: embeddings)", "standoff": 2}}
    axes: Axis = {}
    bands = []
    for panel, domain in enumerate(domains, start=1):
        up = {"domain": domain, "nticks": 5, "zeroline": True} | ({"rangemode": "tozero"} if panel == 1 else {})
        axes |= panel_axes(panel, across | (lowest if panel == 3 else upper), up)
        axis_x, axis_y = of_panel(panel).values()
        band = {
            "type": "rect",
            "xref": axis_x,
            "yref": f"{axis_y} domain",
            "x0": layer,
            "x1": layer + 1,
            "y0": 0,
            "y1": 1,
        }
        bands.append(band | {"fillcolor": BAND, "line": {"width": 0}, "layer": "below"})
    layout = plotly_layout(
        height=560,
        margin={"l": 50, "r": 12, "t": 30, "b": 92},
        legend={"orientation": "h", "y": -0.1, "yanchor": "top", "x": 0},
        annotations=[panel_title(title, [0, 1], top) for title, (_, top) in zip(titles, domains, strict=True)],
        shapes=bands,
        **axes,
    )
    return {"data": traces, "layout": layout}


def token_cosines(paths: Paths, encoding: Encoding, token: int) -> dict[str, tuple[int | None, str, np.ndarray]]:
    """The chosen token's cosines [L + 1] by the vector compared: (that vector's token, the line's dashes, the cosines).

    A neighbour is included only if the token has one; the mean of all tokens has no token.
    """
    cosines: dict[str, tuple[int | None, str, np.ndarray]]
    cosines = {"its embedding": (token, "solid", paths.to_start[:, token])}
    for name, neighbour, dash in (("the previous token", token - 1, "dash"), ("the next token", token + 1, "dot")):
        if neighbour in range(len(encoding)):
            values = paths.to_next[:, min(token, neighbour)]
            cosines[f"{name}, {short(encoding.tokens[neighbour], 16)}"] = (neighbour, dash, values)
    return cosines | {"the mean of all tokens": (None, "dashdot", paths.to_mean[:, token])}


def _outwards(points: np.ndarray) -> list[str]:
    """For each point [m, 2] of a path the side that looks away from the path's middle, as Plotly names it."""
    x, y = (points - points.mean(axis=0)).T
    sides = ("middle right", "top right", "top center", "top left", "middle left", "bottom left", "bottom center",
             "bottom right")  # fmt: skip
    return [sides[int(turn) % 8] for turn in np.rint(np.arctan2(y, x) / (np.pi / 4))]


def path_summary(paths: Paths, encoding: Encoding, token: int, layer: int) -> Markup:
    """Five sentences on the pictures of the chosen token; one is on the mean of all tokens."""
    own = (values[:, token] for values in (paths.to_start, paths.to_mean, paths.change))
    return TEXT.path(paths, encoding.tokens, token, layer, SHOWN, *own)


def path_table(paths: Paths, encoding: Encoding, token: int) -> Markup:
    """The chosen token's numbers, one row per state."""
    cosines = token_cosines(paths, encoding, token)
    heads = ["norm", *(f"cosine to {name}" for name in cosines), "change by this layer", "axis 1", "axis 2"]
    rows = []
    for step, norm in enumerate(paths.norms[:, token]):
        change = f"{paths.change[step - 1, token]:.4f}" if step else "–"
        before = [signed(value, ".4f") for value in (norm, *(values[step] for _, _, values in cosines.values()))]
        place = [signed(value, ".4f") for value in paths.points[step, token]]
        rows.append((f"after layer {step}" if step else "embedding output", [*before, change, *place]))
    return number_table(f"The path of {encoding.tokens[token]} (token {token})", heads, rows)
