"""Can the heads be told apart? Colour blindness simulated, colour differences measured, contrast with the paper."""

import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest

from demos.figures.palette import (
    CLASSES,
    HEADS,
    PALETTE,
    TOPICS,
    WORDS,
    colour_scale,
    css_variables,
    in_the_dark,
    ink_on,
)
from demos.files import ASSETS, read_asset
from demos.templates import DEMOS

# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
# severity 1.0: [r, g, b] in linear light, as these see it.
SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# sRGB (IEC 61966-2-1) to XYZ, D65
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def rgb(colours: list[str]) -> np.ndarray:
    """["#rrggbb", ...] -> [n, 3], 0..1"""
    return np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in colours])


def on_dark(colours: list[str]) -> np.ndarray:
    """As frame.js draws them on dark paper: three tenths of the way to white, rounded to bytes."""
    return np.floor(255 * rgb(colours) + (255 - 255 * rgb(colours)) * 0.3 + 0.5) / 255


def linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(srgb: np.ndarray, sight: np.ndarray) -> np.ndarray:
    """CIELAB of what an eye with this `sight` sees: [n, 3] -> [n, 3]"""
    xyz = np.clip(linear(srgb) @ sight.T, 0, 1) @ XYZ.T / XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def delta_e(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """CIEDE2000 of two CIELAB colours (Sharma, Wu and Dalal 2005): [..., 3] twice -> [...]"""
    (l1, a1, b1), (l2, a2, b2) = np.moveaxis(one, -1, 0), np.moveaxis(other, -1, 0)
    mean_c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    turn = np.where(c1 * c2 == 0, 0, turn)
    mean_h = np.where(c1 * c2 == 0, h1 + h2, (h1 + turn / 2) % 360)
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    weights = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63))
    t = 1 + sum(weight * np.cos(np.radians(times * mean_h + shift)) for weight, times, shift in weights)
    s_l = 1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2)
    s_c, s_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    rotation = -np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2)))) * 2
    rotation = rotation * np.sqrt(mean_c**7 / (mean_c**7 + 25**7))
    light, chroma, hue = (l2 - l1) / s_l, (c2 - c1) / s_c, hue / s_h
    return np.sqrt(light**2 + chroma**2 + hue**2 + rotation * chroma * hue)


def closest(srgb: np.ndarray, sight: str) -> tuple[float, int, int]:
    """The smallest difference between any two of these colours, and which two."""
    seen = lab(srgb, SIGHT[sight])
    pairs = list(itertools.combinations(range(len(seen)), 2))
    one, other = np.array(pairs).T
    differences = delta_e(seen[one], seen[other])
    at = int(differences.argmin())
    return float(differences[at]), *pairs[at]


def contrast(srgb: np.ndarray, paper: str) -> np.ndarray:
    """WCAG 2.2's contrast ratio with the paper: [n, 3] -> [n]"""
    lights = linear(srgb) @ XYZ[1] + 0.05
    ground = (linear(rgb([paper])) @ XYZ[1] + 0.05)[0]
    return np.maximum(lights, ground) / np.minimum(lights, ground)


# Pairs 1, 4, 7, 17, 19 and 34 of the test data that Sharma, Wu and Dalal (2005) published with the formula.
@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_measure_is_ciede2000(one: tuple, other: tuple, expected: float) -> None:
    assert float(delta_e(np.array(one), np.array(other))) == pytest.approx(expected, abs=5e-5)


def test_the_simulated_eyes_confuse_what_these_eyes_confuse() -> None:
    rust_and_moss = rgb(["#b05a00", "#6f7a00"])
    for sight in ("protanopia", "deuteranopia"):
        assert delta_e(*lab(rust_and_moss, SIGHT[sight])) < delta_e(*lab(rust_and_moss, SIGHT["full"])) / 2
        np.testing.assert_allclose(SIGHT[sight].sum(axis=1), 1, atol=1e-5)  # grey stays grey
    assert closest(rgb(["#e69f00", "#b7a800"]), "protanopia")[0] < 0.1  # a palette that failed


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("paper", [rgb, on_dark], ids=["light", "dark"])
@pytest.mark.parametrize("count", [12, 16])
def test_no_two_heads_look_alike(sight: str, paper: Callable[[list[str]], np.ndarray], count: int) -> None:
    difference, one, other = closest(paper(HEADS[:count]), sight)
    assert difference >= 8.5, f"heads {one} and {other}"


def test_heads_are_seen_on_either_paper() -> None:
    assert contrast(rgb(HEADS), PALETTE["light"]["paper"]).min() >= 3  # WCAG 2.2, 1.4.11: graphics
    assert contrast(on_dark(HEADS), PALETTE["dark"]["paper"]).min() >= 3
    assert float(contrast(rgb(["#000000"]), "#ffffff")[0]) == pytest.approx(21)


def test_the_dark_colours_are_the_same_in_css_and_in_the_frame() -> None:
    expected = ["#" + "".join(f"{round(255 * channel):02x}" for channel in colour) for colour in on_dark(HEADS)]
    assert [in_the_dark(colour) for colour in HEADS] == expected
    dark = css_variables().partition(".dark{")[2]
    assert all(f"--head-{head}:{colour};" in dark for head, colour in enumerate(expected))
    assert 'interpolateRgb(colour, "white")(0.3)' in read_asset("bertviz/frame.js")


@pytest.mark.parametrize("sight", SIGHT)
def test_no_two_words_or_classes_look_alike(sight: str) -> None:
    assert WORDS == CLASSES
    difference, one, other = closest(rgb(WORDS), sight)
    assert difference >= 9, f"words {one} and {other}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_and_topics_are_seen_on_either_paper(theme: str) -> None:
    assert contrast(rgb(TOPICS), PALETTE[theme]["paper"]).min() >= 3


def test_no_style_sheet_turns_colours_round() -> None:
    sheets = [*DEMOS.rglob("*.css"), *(ASSETS / "bertviz").glob("*.css")]
    assert len(sheets) > 20
    assert [
        sheet.name
        for sheet in sheets
        if re.search(r"invert\(|hue-rotate\(|brightness\(", sheet.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize("name", ["magnitude", "signed"])
def test_black_and_white_change_places_on_the_dark_scale(name: str) -> None:
    light, dark = (np.array(rgb(PALETTE[one])) for one in (name, f"{name}_dark"))
    for share in np.linspace(0, 1, 201):
        ink = 1.0 if ink_on(colour_scale(name), share) == "#000000" else 0.0  # white where the light scale has black
        at = share * (len(dark) - 1)
        stop = np.array([np.interp(at, range(len(dark)), dark[:, channel]) for channel in range(3)])
        written = "#ffffff" if ink else "#000000"
        assert float(contrast(stop[None], written)[0]) >= 4.5, share
    assert len(light) == len(dark)
