"""A map in words: how far it can be trusted, a point's nearest, and the numbers (HTML, escaped)."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

import numpy as np

from demos.bert.embeddings.maps import PCA_MAP, TSNE_MAP, UMAP_MAP, Layout, own_share
from demos.figures.cosines import rounded, short
from demos.figures.maps import Points, trail
from demos.figures.tables import column_heads, scrolling_table

NAMES = {PCA_MAP: "PCA", TSNE_MAP: "t-SNE", UMAP_MAP: "UMAP"}
ABOUT_NEIGHBOURS = (
    "Read who is near whom. <b>Don't read</b> how far apart two groups are, how large they are, or how empty the space "
    "between them is: another seed or another number of neighbours changes all three."
)
SHOWN_POINTS = 100
SHOWN_MATCHES = 12


def told_html(layout: Layout, points: Points, method: str) -> str:
    """The measured figures in large type, and in one sentence what must not be read from the map."""
    figures = []
    if method == PCA_MAP:
        each = " + ".join(f"{share:.1%}" for share in layout.explained)
        figures.append((f"{layout.explained.sum():.1%}", f"of the variance is on these axes: {each}"))
    if not math.isnan(layout.trust):
        figures.append((rounded(layout.trust), "trustworthiness: 1 would be no false neighbour on the map"))
    if layout.nearest.shape[1]:
        figures.append((f"{layout.kept:.0%}", f"of a point's {_count(layout)} nearest are still among them on the map"))
    both = class_shares(layout, points)
    if both is not None:
        there, here = (f"{share.mean():.0%}" for share in both)
        figures.append((f"{there} → {here}", f"of the {_count(layout)} nearest have its {points.what}: vectors → map"))
    if method == PCA_MAP:
        lost = 1 - layout.explained.sum()
        warning = (
            f"Distances are real, but seen from one side: {lost:.0%} of the variance lies in directions that this map "
            "leaves out, so points that look close may be far apart."
            if layout.explained.any()
            else "All points are one and the same: there is nothing to spread out."
        )
    else:
        warning = ABOUT_NEIGHBOURS
    listed = "".join(f"<div><dd>{figure}</dd><dt>{what}</dt></div>" for figure, what in figures)
    return f'<dl class="map-figures">{listed}</dl><p class="map-warning">{warning}</p>'


def class_shares(layout: Layout, points: Points) -> tuple[np.ndarray, np.ndarray] | None:
    """Of each labelled point's nearest the share of its class: (by the vectors, on the map); None for one class."""
    labelled = points.classes >= 0
    if len(set(points.classes[labelled].tolist())) < 2 or not layout.nearest.shape[1]:
        return None
    there, here = (own_share(nearest, points.classes)[labelled] for nearest in (layout.nearest, layout.nearest_on_map))
    return there, here


def list_html(layout: Layout, points: Points, at: int | None, cosines: np.ndarray | None, wanted: str = "") -> str:
    """The chosen point and its nearest by the vectors, each a button that chooses it; or where its trail leads.

    `cosines` [m] are those of the chosen point with all. `wanted` is looked up instead, where it is anything.
    """
    if wanted.strip():
        return _matches(points, wanted)
    if at is None or cosines is None:
        return f'<p class="aside">Click a point, or look up a {points.kind} above.</p>'
    head = f'<p class="chosen">{_tag(points, at)}<b>{html.escape(short(points.names[at], 160))}</b></p>'
    along = trail(points, at)
    if along:
        said = "The same token through the layers, and its cosine to the ringed one:"
        rows = "".join(
            _button(row, points.hue(row), rounded(cosines[row]), html.escape(points.told(row)), row == at)
            for row in along
        )
        return f'{head}<p class="aside">{said}</p><ol>{rows}</ol>'
    places, n = _places_on_map(layout, at), layout.nearest.shape[1]
    rows = "".join(
        _button(
            int(row),
            points.hue(row),
            rounded(cosines[row]),
            f"{html.escape(short(points.names[row], 90))} {_tag(points, row)}",
            place=int(places[row]),
            far=places[row] > n,
        )
        for row in layout.nearest[at]
    )
    return (
        f'{head}<p class="aside">Its {_count(layout)} nearest by the vectors: the cosine, and which nearest each is '
        f"on the map.</p><ol>{rows}</ol>"
    )


def _matches(points: Points, wanted: str) -> str:
    """The points whose names have every word of `wanted`, each a button; of a token's layers the first alone."""
    words = wanted.casefold().split()
    names = points.names[: points.step or len(points.names)]
    found = [row for row, name in enumerate(names) if all(word in name.casefold() for word in words)]
    rows = "".join(
        _button(row, points.hue(row), "", f"{html.escape(short(names[row], 120))} {_tag(points, row)}")
        for row in found[:SHOWN_MATCHES]
    )
    more = f", the first {SHOWN_MATCHES} of them" if len(found) > SHOWN_MATCHES else ""
    said = f"{len(found):,} of {len(names):,} {points.kind}s have “{html.escape(short(wanted, 40))}”{more}:"
    return f'<p class="aside">{said}</p><ol class="matches">{rows}</ol>'


def _button(
    at: int, hue: str, cosine: str, said: str, on: bool = False, *, place: int | None = None, far: bool = False
) -> str:
    """A row that chooses the point `at`; `said` is escaped."""
    current = ' aria-current="true"' if on else ""
    kind = ' class="far"' if far else ""
    where = "" if place is None else f" <small{kind}>on the map {place}</small>"
    return (
        f'<li><button type="button" data-point="{at}"{current} style="--hue:{hue}"><b>{cosine}</b>'
        f"<span>{said}{where}</span></button></li>"
    )


def _tag(points: Points, at: int) -> str:
    said = "◆ yours" if points.own[at] else points.told(at)
    return f'<i class="map-tag" style="--hue:{points.hue(at)}">{html.escape(short(said, 30))}</i>' if said else ""


def _places_on_map(layout: Layout, at: int) -> np.ndarray:
    """Which nearest each point is to `at` on the map, 1 the nearest: int [m]; 0 for itself."""
    distances = ((layout.points - layout.points[at]) ** 2).sum(axis=1)
    distances[at] = -1
    places = np.empty(len(distances), dtype=int)
    places[np.argsort(distances, kind="stable")] = np.arange(len(distances))
    return places


def _count(layout: Layout) -> str:
    n = layout.nearest.shape[1]
    return "ten" if n == 10 else str(n)


def numbers_html(layouts: Mapping[str, Layout], points: Points, method: str) -> str:
    """The methods that were measured, the classes one by one, and the first points' places."""
    layout = layouts[method]
    lines = []
    for name, one in layouts.items():
        both = class_shares(one, points)
        shares = [f"{share.mean():.1%}" for share in both] if both else ["", ""]
        variance = f"{one.explained.sum():.1%}" if len(one.explained) else ""
        trust = "" if math.isnan(one.trust) else f"{one.trust:.3f}"
        cells = [NAMES[name], trust, f"{one.kept:.1%}", shares[1], shares[0], variance]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    heads = [
        "map",
        "trustworthiness",
        "neighbours kept",
        "same class, on the map",
        f"same {points.what}, in the vectors",
        "variance",
    ]
    parts = [
        scrolling_table(
            "These vectors by each method measured", column_heads(heads), "".join(lines), kind="lesson-table"
        )
    ]
    both = class_shares(layout, points)
    if both is not None:
        labelled = points.classes[points.classes >= 0]
        rows = "".join(
            f'<tr><td class="sentence">{html.escape(short(label, 40))}</td><td>{(labelled == number).sum()}</td>'
            + "".join(f"<td>{share[labelled == number].mean():.0%}</td>" for share in both)
            + "</tr>"
            for number, label in enumerate(points.labels)
            if (labelled == number).any()
        )
        parts.append(
            scrolling_table(
                f"Of the {_count(layout)} nearest, those of the same {points.what}",
                column_heads([points.what, "points", "in the vectors", "on the map"]),
                rows,
                kind="lesson-table",
            )
        )
    rows = "".join(
        f'<tr><td class="sentence">{html.escape(short(points.names[row], 60))}</td>'
        f"<td>{html.escape(short(points.told(row), 24))}</td>"
        + "".join(f"<td>{value:.3f}</td>" for value in layout.points[row])
        + "</tr>"
        for row in range(min(SHOWN_POINTS, len(points.names)))
    )
    more = f" (the first {SHOWN_POINTS})" if len(points.names) > SHOWN_POINTS else ""
    axes = [f"axis {k + 1}" for k in range(layout.points.shape[1])]
    parts.append(
        scrolling_table(
            f"Where the points are{more}", column_heads([points.kind, points.what, *axes]), rows, kind="lesson-table"
        )
    )
    return "".join(parts)
