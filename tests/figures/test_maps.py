"""Maps drawn and told: colours, shapes, the marked point, a trail, few classes and many, hostile words."""

import json
import re

import numpy as np
import pytest

from demos.bert.embeddings.maps import Layout, Recipe, lay_out
from demos.figures.maps import SHAPES, Points, map_figure, trail
from demos.figures.palette import CLASSES, PALETTE, SPECIAL, TOPICS
from demos.lessons.embeddings.maps.text import class_shares, list_html, measures_html, numbers_html
from tests.one_line import plain
from tests.plotly_figure import plotly

HOSTILE = "<script>alert(1)</script> ${x}"


def made(dimensions: int = 2, method: str = "pca") -> tuple[Layout, Points, np.ndarray]:
    """30 points of two classes; number 3 is the reader's own, number 29 of no class and with hostile words."""
    rng = np.random.default_rng(1)
    vectors = (rng.normal(size=(30, 6)) + np.where(np.arange(30) % 2, 2, -2)[:, None]).astype(np.float32)
    classes = np.arange(30) % 2
    classes[[3, 29]] = -1
    names = (*[f"sentence {number}" for number in range(29)], HOSTILE)
    points = Points(names, classes, ("even", "odd"), np.arange(30) == 3)
    return lay_out(vectors, Recipe(method, dimensions, 5)), points, vectors


@pytest.mark.parametrize("dimensions", [2, 3])
def test_every_point_is_drawn_once_in_its_class_and_the_chosen_one_is_ringed(dimensions: int) -> None:
    layout, points, _ = made(dimensions)
    figure = plotly(map_figure(layout, points, 4, "look"))
    lines, *dots, ring = figure.data
    drawn = {number: (one, at) for one in dots for at, number in enumerate(one.customdata)}
    assert sorted(drawn) == list(range(30))
    for number, (one, at) in drawn.items():
        place = [one[axis][at] for axis in "xyz"[:dimensions]]
        assert place == pytest.approx(layout.points[number].tolist(), abs=1e-4)
        assert one.marker.color == [CLASSES[0], CLASSES[1], SPECIAL][points.classes[number]]
        assert (one.marker.symbol == "diamond") == (number == 3)
    assert (ring.x[0], ring.y[0]) == (drawn[4][0].x[drawn[4][1]], drawn[4][0].y[drawn[4][1]])
    ends = list(zip(lines.x[1::3], lines.y[1::3], strict=True))
    assert ends == [pytest.approx(tuple(layout.points[row][:2].tolist()), abs=1e-4) for row in layout.nearest[4]]
    assert figure.layout.uirevision == "look"
    assert len(plotly(map_figure(layout, points, None, "look")).data) == len(dots)
    assert HOSTILE not in json.dumps(figure.to_plotly_json()["data"], default=str)
    assert len(set(TOPICS)) == len(SHAPES) == 10
    if dimensions == 2:
        named = figure.layout.annotations
        assert [one.text for one in named] == ["<b>even</b>", "<b>odd</b>"]
        assert named[0].x == pytest.approx(np.median(layout.points[points.classes == 0, 0]))
        muddled = Points(points.names, np.arange(30) // 2 % 3, ("a", "b", "c"), points.own)
        assert not plotly(map_figure(layout, muddled, None, "")).layout.annotations


def test_layers_are_steps_of_one_scale_and_a_token_leaves_a_trail() -> None:
    layout, _, _ = made()
    layers = np.repeat([0, 1, 2], 10)
    labels = ("layer 0", "layer 1", "layer 2")
    points = Points(tuple("abcdefghij" * 3), layers, labels, np.zeros(30, bool), ordered=True, step=10, what="layer")
    assert trail(points, 14) == [4, 14, 24]
    figure = plotly(map_figure(layout, points, 14, ""))
    *dots, line, ring = figure.data
    assert len({one.marker.color for one in dots}) == 3
    assert {one.marker.symbol for one in dots} == {"circle"}
    assert list(line.x) == pytest.approx(layout.points[[4, 14, 24], 0].tolist(), abs=1e-4)
    assert ring.x[0] == line.x[1]
    told = list_html(layout, points, 14, np.linspace(0, 1, 30))
    assert re.findall(r'data-point="(\d+)"', told) == ["4", "14", "24"]
    assert told.count("aria-current") == 1


def test_the_list_names_the_nearest_and_where_the_map_puts_them() -> None:
    layout, points, vectors = made()
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units[4]
    told = plain(list_html(layout, points, 4, cosines))
    rows = re.findall(r'data-point="(\d+)".*?<b>(.*?)</b>.*?rank on the map: (\d+)<', told)
    assert [int(row) for row, _, _ in rows] == np.argsort(-cosines)[1:11].tolist()
    distances = np.linalg.norm(layout.points - layout.points[4], axis=1)
    order = np.argsort(distances).tolist()
    assert all(order[int(place)] == int(row) for row, _, place in rows)
    assert [cosine for _, cosine, _ in rows] == [f"{cosines[int(row)]:.2f}" for row, _, _ in rows]
    every = list_html(layout, points, 29, units @ units[29]) + numbers_html({"pca": layout}, points, "pca")
    assert "<script" not in every
    assert "&lt;script&gt;" in every
    assert "Click a point" in list_html(layout, points, None, None)


def test_the_figures_under_the_map_are_the_measured_ones() -> None:
    layout, points, _ = made()
    told = measures_html(layout, points, "pca")
    assert f"{layout.explained.sum():.1%}" in told
    assert f"{layout.trust:.2f}" in told
    there, here = class_shares(layout, points) or (np.zeros(0), np.zeros(0))
    assert len(there) == len(here) == 28  # those that have a class
    assert there[0] == pytest.approx(np.mean([points.classes[row] == 0 for row in layout.nearest[0]]))
    assert f"{there.mean():.0%} → {here.mean():.0%}" in told
    one = Points(points.names, np.zeros(30, int), ("all",), points.own)
    assert class_shares(layout, one) is None
    assert "→" not in measures_html(layout, one, "tsne")
    assert "does <b>not</b> show" in measures_html(layout, one, "tsne")
    same = lay_out(np.ones((4, 3), np.float32), Recipe("pca"))
    four = Points(("a", "b", "c", "d"), np.full(4, -1), (), np.zeros(4, bool))
    assert "All points are identical" in measures_html(same, four, "pca")
    assert plotly(map_figure(same, four, 2, "")).data[-1].x[0] == 0
    assert PALETTE["classes"][:2] == TOPICS[:2]
