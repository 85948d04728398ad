"""A token's path through all layers: the PCA path and four curves over the layers (Plotly), and both in words."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.subplots import make_subplots

from demos.bert.encoder.residual_stream import Paths
from demos.bert.model.encoding import Encoding
from demos.figures.cosine_heatmap import short
from demos.figures.palette import SPECIAL, plotly_layout, word_colour
from demos.figures.tables import number_table
from demos.templates import plot_text, templates

TEXT = templates(__file__)
SHOWN = 40  # paths; more cover each other
NAMED = 24  # paths that end in their token's name
LETTER, LINE = 9.0, 20.0  # pixels that a label's letter and line take
PLANE = (700.0, 500.0)  # pixels of the plane where the page is wide; on a narrower one labels may touch
BAND = "rgba(138,144,150,0.18)"


def drawn_tokens(n: int, token: int) -> list[int]:
    """Which tokens have a path: all, or of a long input those around the chosen one."""
    first = max(0, min(token - SHOWN // 2, n - SHOWN))
    return list(range(first, min(n, first + SHOWN)))


def path_figure(paths: Paths, encoding: Encoding, token: int, layer: int) -> go.Figure:
    """Each token's way over the plane of PCA, from its embedding (a ring) to its last state, in its word's hue.

    The chosen token's is thick, with the number of layers behind each state; what `layer` does to it is thicker still.
    One unit is as long on both axes, so that what looks near is near on the plane.
    """
    figure = go.Figure()
    shown = drawn_tokens(len(encoding), token)
    labels = path_labels(paths, encoding, token, shown)
    for index in sorted(shown, key=lambda index: index == token):  # the chosen one on top
        _add_path(figure, paths, encoding, index, index == token, labels[index])
    x, y = np.round(paths.points[layer : layer + 2, token], 4).T
    figure.add_trace(
        go.Scatter(
            x=x, y=y, mode="lines", line={"color": word_colour(encoding.word_index[token]), "width": 11}, opacity=0.4,
            hoverinfo="skip",
        )
    )  # fmt: skip
    figure.update_layout(
        **plotly_layout(height=560, margin={"l": 58, "r": 12, "t": 8, "b": 48}, showlegend=False, hovermode="closest")
    )
    first, second = paths.explained
    figure.update_xaxes(title=f"axis 1 ({first:.0%} of the variance)", zeroline=False)
    figure.update_yaxes(title=f"axis 2 ({second:.0%})", zeroline=False, scaleanchor="x", scaleratio=1)
    return figure


def _add_path(figure: go.Figure, paths: Paths, encoding: Encoding, index: int, chosen: bool, text: list[str]) -> None:
    steps = len(paths.points)
    x, y = np.round(paths.points[:, index], 4).T
    name = plot_text(short(encoding.tokens[index], 16))
    colour = word_colour(encoding.word_index[index])
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines+markers+text",
            text=text,
            textposition=_outwards(paths.points[:, index]),
            textfont={"size": 16},
            line={"color": colour, "width": 4 if chosen else 1.5},
            marker={
                "size": 9 if chosen else 4,
                "symbol": ["circle-open", *["circle"] * (steps - 1)],
                "color": colour,
            },
            name=f"{index} {name}",
            hovertemplate=f"{name} (token {index})<br>after %{{customdata}} layers<extra></extra>",
            customdata=list(range(steps)),
            cliponaxis=False,
        )
    )


def path_labels(paths: Paths, encoding: Encoding, token: int, shown: list[int]) -> dict[int, list[str]]:
    """What is written at each state of the paths shown: none lies over another, so that each can be read.

    The chosen token's steps come first, its last state before all; then the names at the other paths' ends.
    """
    last = len(paths.points) - 1
    names = {index: plot_text(short(encoding.tokens[index], 16)) for index in shown}
    wanted = [(token, last, f"<b>{last} {names[token]}</b>"), *((token, step, str(step)) for step in range(last))]
    if len(shown) <= NAMED:
        wanted += [(index, last, names[index]) for index in shown if index != token]
    points = paths.points[:, shown]
    span = np.maximum(np.ptp(points.reshape(-1, 2), axis=0), 1e-9)
    scale = float(np.min(np.array(PLANE) / (span * 1.1)))  # pixels a unit takes, the same on both axes
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


def curves_figure(paths: Paths, encoding: Encoding, token: int, layer: int) -> go.Figure:
    """Over the layers: the norm, the cosines of the chosen token, and how much each layer changes it.

    Other tokens' norms and changes are thin lines in their hues. The band is what the chosen `layer` does.
    """
    steps, n = paths.norms.shape
    at = list(range(steps))
    middle = [step + 0.5 for step in range(steps - 1)]
    titles = ("Norm of the state", "Cosine of the state to …", "How much a layer changes it: ‖Δx‖ / ‖x‖")
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, subplot_titles=titles, vertical_spacing=0.09)
    for index in drawn_tokens(n, token):
        if index != token:
            thin = {"color": word_colour(encoding.word_index[index]), "width": 1}
            quiet = {"mode": "lines", "line": thin, "opacity": 0.4, "hoverinfo": "skip", "showlegend": False}
            figure.add_trace(go.Scatter(x=at, y=np.round(paths.norms[:, index], 4), **quiet), row=1, col=1)
            figure.add_trace(go.Scatter(x=middle, y=np.round(paths.change[:, index], 4), **quiet), row=3, col=1)
    own = word_colour(encoding.word_index[token])
    hover = "after %{x} layers: <b>%{y:.4f}</b><extra>%{fullData.name}</extra>"
    marked = {"mode": "lines+markers", "hovertemplate": hover}
    norm = {"name": "norm", "line": {"color": own, "width": 4}, "showlegend": False}
    figure.add_trace(go.Scatter(x=at, y=np.round(paths.norms[:, token], 4), **norm, **marked), row=1, col=1)
    for name, (other, dash, values) in token_cosines(paths, encoding, token).items():
        colour = SPECIAL if other is None else word_colour(encoding.word_index[other])
        line = {"color": colour, "width": 3, "dash": dash}
        figure.add_trace(
            go.Scatter(x=at, y=np.round(values, 5), line=line, name=plot_text(name), **marked), row=2, col=1
        )
    figure.add_trace(
        go.Bar(
            x=middle, y=np.round(paths.change[:, token], 4), width=0.6,
            marker={"color": own}, name="change", showlegend=False, customdata=list(range(1, steps)),
            hovertemplate="layer %{customdata}: <b>%{y:.4f}</b><extra></extra>",
        ),
        row=3, col=1,
    )  # fmt: skip
    for row in (1, 2, 3):
        figure.add_vrect(x0=layer, x1=layer + 1, fillcolor=BAND, line_width=0, layer="below", row=row, col=1)
    legend = {"orientation": "h", "y": -0.1, "yanchor": "top", "x": 0}
    figure.update_layout(**plotly_layout(height=640, margin={"l": 50, "r": 12, "t": 30, "b": 92}, legend=legend))
    figure.update_annotations(font={"size": 16})
    figure.update_xaxes(
        showgrid=False, zeroline=False, range=[-0.3, steps - 0.7], dtick=1 if steps <= 14 else 2, ticks=""
    )
    figure.update_xaxes(title={"text": "layers passed (0: embeddings)", "standoff": 2}, row=3, col=1)
    figure.update_yaxes(nticks=5, zeroline=True)
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    return figure


def token_cosines(paths: Paths, encoding: Encoding, token: int) -> dict[str, tuple[int | None, str, np.ndarray]]:
    """The chosen token's cosines [L + 1] by what it is compared with: (that token, a line's dashes, the cosines).

    A neighbour stands there only where the token has one; the mean of all tokens is no token.
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
    """What the pictures show of the chosen token, in five sentences; one is on the mean of all tokens."""
    own = (values[:, token] for values in (paths.to_start, paths.to_mean, paths.change))
    return TEXT.path(paths, encoding.tokens, token, layer, SHOWN, *own)


def path_table(paths: Paths, encoding: Encoding, token: int) -> Markup:
    """The chosen token's numbers, a row a state."""
    cosines = token_cosines(paths, encoding, token)
    heads = ["norm", *(f"cosine to {name}" for name in cosines), "change by this layer", "axis 1", "axis 2"]
    rows = []
    for step, norm in enumerate(paths.norms[:, token]):
        change = f"{paths.change[step - 1, token]:.4f}" if step else "–"
        before = [f"{value:.4f}" for value in (norm, *(values[step] for _, _, values in cosines.values()))]
        place = [f"{value:.4f}" for value in paths.points[step, token]]
        rows.append((f"after layer {step}" if step else "embedding output", [*before, change, *place]))
    return number_table(f"The path of {encoding.tokens[token]} (token {token})", heads, rows)
