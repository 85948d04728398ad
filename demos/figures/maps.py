"""A map of vectors drawn (Plotly): points in the colour and the shape of their class, or on the scale of the layers."""

from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.maps import Layout, own_share
from demos.figures.axes import BOTH_PAPERS
from demos.figures.cosine_heatmap import short
from demos.figures.figure.figure import Attributes, Axis, Figure, Mark, Trace
from demos.figures.fonts.fonts import SANS
from demos.figures.palette import SPECIAL, TOPICS, colour_scale, plotly_layout, shade
from demos.templates import plot_text

MAX_CLASSES = len(TOPICS)
# A second channel beside colour; the diamond is the reader's own, as everywhere. WebGL has fewer shapes.
SHAPES = ("circle", "square", "triangle-up", "cross", "x", "triangle-down", "star", "pentagon", "hexagram", "bowtie")
SHAPES_3D = ("circle", "square")  # its others are drawn much larger, or as grey rims
LABELS_ON_MAP = 130  # tokens written beside their points; more would cover each other
HEIGHT = 540
# 3-D is drawn by WebGL, which no style sheet reaches: BOTH_PAPERS suits light and dark.
LINES: Trace = {
    "mode": "lines",
    "line": {"color": BOTH_PAPERS, "width": 2.5},
    "hoverinfo": "skip",
    "showlegend": False,
}
AXIS_3D: Axis = {
    "showbackground": False,
    "showticklabels": False,
    "zeroline": False,
    "showspikes": False,
    "ticks": "",
    "color": BOTH_PAPERS,
    "gridcolor": BOTH_PAPERS,
    "gridwidth": 2,
    "linecolor": "white",
}
TRAIL: Trace = {"textposition": "bottom center", "textfont": {"size": 16, "family": SANS}}
TOGETHER = 0.5  # a class is named on the map where so much of its points' neighbours there is its own
OWN = "yours"


@dataclass(frozen=True, eq=False)
class Points:
    """The facts about the m points: a name each, and a class, an index into `labels` (-1: none of these, gray)."""

    names: tuple[str, ...]
    classes: np.ndarray  # int [m]
    labels: tuple[str, ...]
    own: np.ndarray  # bool [m]: the reader's, drawn as diamonds
    ordered: bool = False  # the labels are steps (layers), drawn on one scale from light to dark
    written: bool = False  # names are beside the points, where there is room for them
    step: int = 0  # where points are the same token at several layers: how far apart these lie
    what: str = "topic"  # what the labels are
    kind: str = "sentence"  # what a point is
    others: str = "others"  # what the grey points are

    def hue(self, index: int) -> str:
        """The colour of one point."""
        return self.colour(int(self.classes[index]))

    def colour(self, label: int) -> str:
        """The colour of a class; grey for -1."""
        if label < 0:
            return SPECIAL
        if self.ordered:
            share = 0.28 + 0.6 * label / max(1, len(self.labels) - 1)  # the ends of the scale are the papers' own
            return f"rgb{shade(colour_scale('magnitude'), share)}"
        return TOPICS[label % len(TOPICS)]

    def class_name(self, index: int) -> str:
        """The class of one point in words; "" for none."""
        label = int(self.classes[index])
        return self.labels[label] if label >= 0 else ""


def trail(points: Points, at: int) -> list[int]:
    """The same token's points at every layer, the embeddings first; [] where points have no layers."""
    if not points.step:
        return []
    return list(range(at % points.step, len(points.names), points.step))


def map_figure(layout: Layout, points: Points, at: int | None, look: str) -> Figure:
    """The map in 2-D or 3-D; the point `at` is ringed, with lines to its nearest by the vectors, or its trail.

    While `look` stays the same, so do zoom, camera and what the reader has hidden.
    """
    flat = layout.points.shape[1] == 2
    kind = {"type": "scatter" if flat else "scatter3d"}
    places = np.round(layout.points, 4)
    along = [] if at is None else trail(points, at)
    traces: list[Trace] = []
    if at is not None and not along:
        traces.append(kind | _xyz(_lines(layout, at, places)) | LINES)
    few = points.written and len(points.names) <= LABELS_ON_MAP
    for label in [*range(len(points.labels)), -1]:
        for own in (False, True):
            rows = np.flatnonzero((points.classes == label) & (points.own == own))
            if len(rows):
                traces.append(kind | _xyz(places[rows]) | _class(points, rows, label, own, flat, few))
    if along:
        numbers = ["0", *[""] * (len(along) - 2), str(len(along) - 1)]
        how = LINES | TRAIL | {"text": numbers, "mode": "lines+text" if flat else "lines"}
        traces.append(kind | _xyz(places[along]) | how)
    if at is not None:  # in 2-D the style sheet gives the ring the page's ink
        marker = {"size": 22 if flat else 14, "symbol": "circle-open", "line": {"width": 3, "color": BOTH_PAPERS}}
        ring = {"mode": "markers", "hoverinfo": "skip", "showlegend": False, "marker": marker | {"color": BOTH_PAPERS}}
        traces.append(kind | _xyz(places[[at]]) | ring)
    titles = [f"axis {axis} ({share:.1%} of the variance)" for axis, share in enumerate(layout.explained, start=1)]
    legend = {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0, "font": {"size": 17}, "itemsizing": "constant"}
    if flat and titles:
        legend["y"] = -0.09
    about = plotly_layout(
        height=HEIGHT,
        margin={"l": 30, "r": 8, "t": 8, "b": 8},
        legend=legend,
        uirevision=look,
        hovermode="closest",
        dragmode="zoom" if flat else "turntable",
    )
    across, up, *deep = titles or [""] * layout.points.shape[1]
    if flat:
        bare = {"showticklabels": False, "zeroline": False, "showgrid": bool(titles)}
        about["annotations"] = _class_names(layout, points)
        about["xaxis"] = bare | {"title": {"text": across, "standoff": 4}}
        about["yaxis"] = bare | {"title": {"text": up, "standoff": 4}, "scaleanchor": "x", "scaleratio": 1}
        return {"data": traces, "layout": about}
    scene: Attributes = {"aspectmode": "data", "camera": {"eye": {"x": 1.1, "y": 1.1, "z": 0.6}}}
    for name, title in zip("xyz", (across, up, *deep), strict=True):
        scene[f"{name}axis"] = AXIS_3D | {"title": {"text": title, "font": {"color": BOTH_PAPERS, "size": 16}}}
    return {"data": traces, "layout": about | {"scene": scene, "updatemenus": [_views()]}}


def _views() -> Attributes:
    """Buttons that turn a map in 3-D without dragging."""
    eyes = {"Corner": (1.1, 1.1, 0.6), "Front": (0, -1.7, 0), "Side": (1.7, 0, 0), "Top": (0, 0, 1.7)}
    buttons = [
        {"label": label, "method": "relayout", "args": [{"scene.camera.eye": dict(zip("xyz", eye, strict=True))}]}
        for label, eye in eyes.items()
    ]
    place = {"type": "buttons", "direction": "right", "x": 0, "xanchor": "left", "y": 1, "yanchor": "top"}
    return place | {"buttons": buttons, "showactive": False, "bgcolor": "rgba(128,128,128,0.15)", "font": {"size": 16}}


def _xyz(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Columns as x, y and z; nan becomes a gap."""
    return {axis: np.ascontiguousarray(column) for axis, column in zip("xyz", rows.T, strict=False)}


def _lines(layout: Layout, at: int, places: np.ndarray) -> np.ndarray:
    """From `at` to each of its nearest, a gap after each: [3 n, k]."""
    gap = np.full(places.shape[1], np.nan)
    rows = [row for other in layout.nearest[at] for row in (places[at], places[other], gap)]
    return np.array(rows).reshape(-1, places.shape[1])


def _class(points: Points, rows: np.ndarray, label: int, own: bool, flat: bool, few: bool) -> Trace:
    """One class's dots: colour, shape, words on hovering, place in the legend."""
    shapes = SHAPES if flat else SHAPES_3D
    plain = points.ordered or label < 0
    name = points.labels[label] if label >= 0 else points.others
    size = (10 if len(points.names) <= 800 else 7) if flat else 5
    marker = {
        "size": size + (5 if flat else 3) * own,
        "symbol": "diamond" if own else "circle" if plain else shapes[label % len(shapes)],
        "color": points.colour(label),
        "opacity": 0.9 if flat else 1,
        "line": {"width": 2.0 * own + 0.6 * flat, "color": BOTH_PAPERS},
    }
    prefix = plot_text(f"{name}: " if label >= 0 else "")
    return {
        "mode": "markers+text" if few else "markers",
        "text": [plot_text(points.names[row]) for row in rows] if few else None,
        "textposition": "top center",
        "textfont": {"size": 16, "family": SANS} | ({} if flat else {"color": BOTH_PAPERS}),
        "name": plot_text(short(f"◆ {OWN}" if own else name, 30)),
        "customdata": rows.tolist(),
        "hovertext": [prefix + plot_text(short(points.names[row], 90)) for row in rows],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": marker,
    }


def _class_names(layout: Layout, points: Points) -> list[Mark]:
    """The names of the classes that come together on the map, amid their points, to be read from afar.

    None where points have names beside them, or are layers.
    """
    if points.ordered or points.written:
        return []
    shares = own_share(layout.nearest_on_map, points.classes)
    names, font = [], {"size": 19, "family": SANS}
    for label, name in enumerate(points.labels):
        own = points.classes == label
        if own.any() and shares[own].mean() >= TOGETHER:
            x, y = np.median(layout.points[own], axis=0).tolist()
            text = f"<b>{plot_text(short(name, 20))}</b>"
            names.append({"x": x, "y": y, "text": text, "showarrow": False, "font": font})
    return names
