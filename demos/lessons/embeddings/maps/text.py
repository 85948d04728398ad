"""A map in words: its quality, a point's nearest neighbors, and the numbers."""

from collections.abc import Iterable, Mapping

import numpy as np
from markupsafe import Markup
from scipy.stats import rankdata

from demos.bert.embeddings.maps import PCA_MAP, TSNE_MAP, UMAP_MAP, Layout, own_share
from demos.figures.cosine_heatmap import short
from demos.figures.maps import Points, trail
from demos.templates import templates

TEXT = templates(__file__)
NAMES = {PCA_MAP: "PCA", TSNE_MAP: "t-SNE", UMAP_MAP: "UMAP"}
SHOWN_POINTS = 100
SHOWN_MATCHES = 12


def measures_html(layout: Layout, points: Points, method: str) -> Markup:
    """The measured figures in large type, and one sentence on what the map does not show."""
    return TEXT.figures(layout, points, class_shares(layout, points), method == PCA_MAP)


def class_shares(layout: Layout, points: Points) -> tuple[np.ndarray, np.ndarray] | None:
    """The share of each labelled point's nearest with its class: (by the vectors, on the map); None for one class."""
    labelled = points.classes >= 0
    if len(set(points.classes[labelled].tolist())) < 2 or not layout.nearest.shape[1]:
        return None
    in_vectors, on_map = own_share(layout.nearest, points.classes), own_share(layout.nearest_on_map, points.classes)
    return in_vectors[labelled], on_map[labelled]


def list_html(layout: Layout, points: Points, at: int | None, cosines: np.ndarray | None, wanted: str = "") -> Markup:
    """The chosen point and its nearest by the vectors, each a button that chooses it; or where its trail leads.

    `cosines` [m] are those of the chosen point with all. `wanted` is looked up instead, where it is anything.
    """
    if wanted.strip():
        return _matches(points, wanted)
    if at is None or cosines is None:
        return TEXT.nothing_chosen(points)
    (ringed,) = _rows(points, [at], 160)
    along = trail(points, at)
    if along:
        return TEXT.trail(ringed, _rows(points, along, 90, cosines))
    distances = ((layout.points - layout.points[at]) ** 2).sum(axis=1)
    distances[at] = -1  # itself, before all others
    places = rankdata(distances, method="ordinal") - 1
    return TEXT.nearest(ringed, _rows(points, layout.nearest[at], 90, cosines, places), layout)


def _matches(points: Points, wanted: str) -> Markup:
    """The points whose names have every word of `wanted`, each a button; of a token's layers the first alone."""
    words = wanted.casefold().split()
    names = points.names[: points.step or len(points.names)]
    matches = [number for number, name in enumerate(names) if all(word in name.casefold() for word in words)]
    rows = _rows(points, matches[:SHOWN_MATCHES], 120)
    return TEXT.matches(rows, len(matches), len(names), points.kind, short(wanted, 40), SHOWN_MATCHES)


def _rows(
    points: Points,
    numbers: Iterable[int],
    length: int,
    cosines: np.ndarray | None = None,
    places: np.ndarray | None = None,
) -> list[dict[str, object]]:
    """The list's rows for these points; `places` [m]: each one's rank among the nearest on the map."""
    return [
        {
            "number": number,
            "name": short(points.names[number], length),
            "label": points.class_name(number),
            "tag": short("◆ yours" if points.own[number] else points.class_name(number), 30),
            "hue": points.hue(number),
            "cosine": None if cosines is None else cosines[number],
            "place": None if places is None else places[number],
        }
        for number in map(int, numbers)
    ]


def numbers_html(layouts: Mapping[str, Layout], points: Points, method: str) -> Markup:
    """The methods that were measured, the classes one by one, and the first points' places."""
    layout = layouts[method]
    shares = class_shares(layout, points)
    labelled = points.classes[points.classes >= 0]
    classes = []
    for number, label in enumerate(points.labels):
        own = labelled == number
        if shares and own.any():
            classes.append((short(label, 40), own.sum(), [share[own].mean() for share in shares]))
    return TEXT.numbers(
        maps=[(NAMES[name], made, class_shares(made, points)) for name, made in layouts.items()],
        classes=classes,
        points=points,
        places=[
            (short(name, 60), short(points.class_name(number), 24), layout.points[number])
            for number, name in enumerate(points.names[:SHOWN_POINTS])
        ],
        axes=[f"axis {axis + 1}" for axis in range(layout.points.shape[1])],
        layout=layout,
        more=len(points.names) > SHOWN_POINTS,
    )
