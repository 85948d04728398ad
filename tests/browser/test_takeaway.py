"""What a reader takes away, in real Chromium: pictures that look as the screen does, files that hold the numbers."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
from gradio_client import Client
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.bertviz import drawn, press

TEXT, PAIR = 'Why "<b>bold</b>" & </text>?', "Two\u200bmore."
SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg", "g", "path", "rect", "line", "text", "tspan", "image", "defs", "clipPath", "linearGradient", "stop"}
HEATMAP = "#attention-heatmap .heatmaplayer image"


def saved(page: Page, row: str, button: str) -> tuple[str, bytes]:
    """The name and bytes of what a press on this button downloads; the row says the name."""
    takeaway = page.locator(".takeaway").filter(has_text=row)
    with page.expect_download() as download:
        press(takeaway.get_by_role("button", name=button))
    name = download.value.suggested_filename
    expect(takeaway.get_by_role("status")).to_have_text(f"Saved {name}.")
    return name, download.value.path().read_bytes()


def read_svg(data: bytes) -> ET.Element:
    """The picture as XML, once it is proven to stand alone."""
    root = ET.fromstring(data)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ALLOWED
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name or value.startswith("data:image/png;base64,")
            assert "url(" not in value or re.fullmatch(r"url\(#[\w-]+\)", value)
            assert "var(" not in value
    return root


def ground(root: ET.Element) -> str:
    return next(iter(root.findall(f"{SVG}rect"))).attrib["fill"]


def test_what_is_on_screen_goes_home(open_lesson: Callable[..., Page], app_url: str) -> None:
    page = open_lesson("attention", text=TEXT, pair=PAIR, view="neuron", layer=1, head=4)
    drawn(page, "neuron 1 4")
    page.wait_for_selector(HEATMAP)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 2, head 5")
    box = page.locator("#attention-heatmap .svg-container").bounding_box()
    assert box is not None
    answer = Client(app_url, verbose=False, httpx_kwargs={"timeout": 60}).predict(
        TEXT, PAIR, 1, "", api_name="/attention"
    )

    name, data = saved(page, "heatmap", "JSON")
    document = json.loads(data)
    assert name == "bert-attention-layer2-head5.json"
    assert document["tokens"] == answer["tokens"]
    np.testing.assert_allclose(document["weights"], answer["attention"][4], rtol=0, atol=1e-6)

    name, data = saved(page, "heatmap", "PNG")
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    assert name == "bert-attention-layer2-head5.png"
    np.testing.assert_allclose(picture.size, (2 * box["width"], 2 * box["height"]), atol=4)
    assert picture.getpixel((3, 3)) == (253, 252, 249)  # our paper
    assert len(picture.getcolors(1 << 20) or []) > 200

    name, data = saved(page, "heatmap", "SVG")
    light = read_svg(data)
    assert name == "bert-attention-layer2-head5.svg"
    assert ground(light) == "#fdfcf9"
    words = ["".join(text.itertext()) for text in light.iter(f"{SVG}text")]
    for token in answer["tokens"]:
        assert words.count(token) >= 2, token  # an axis each
    assert "to (key)" in words

    page.locator('[data-switch="dark"]').click()
    dark = read_svg(saved(page, "heatmap", "SVG")[1])
    assert ground(dark) == "#14181b"
    inks = [next(text.attrib["fill"] for text in one.iter(f"{SVG}text")) for one in (light, dark)]
    assert inks == ["rgb(29, 35, 39)", "rgb(236, 234, 228)"]
    # What the style sheet does to the heatmap's picture is in the file's pixels: the screen's own, to a grey level.
    _, data = saved(page, "heatmap", "PNG")
    whole = page.locator("#attention-heatmap .svg-container")
    box, here = whole.bounding_box(), page.locator(HEATMAP).bounding_box()
    assert box is not None
    assert here is not None
    at = (2 * (here["x"] - box["x"] + 6), 2 * (here["y"] - box["y"] + 6))
    shown = Image.open(io.BytesIO(whole.screenshot())).convert("RGB")
    told = Image.open(io.BytesIO(data)).convert("RGB")
    np.testing.assert_allclose(told.getpixel(at), shown.getpixel((at[0] / 2, at[1] / 2)), atol=2)

    name, data = saved(page, "the view", "HTML file")
    label = page.get_by_role("button", name="HTML file").inner_text()
    assert name == "bert-attention-neuron-view.html"
    assert f"({len(data) / 1e6:.1f} MB)" in label
    # The overview of all heads: a canvas under words
    overview = page.evaluate("insideBert.pictures.redraw(document.querySelector('.head-grid-field')).text")
    grid = read_svg(overview.encode())
    assert len(list(grid.iter(f"{SVG}image"))) == 1
    assert [text.text for text in grid.iter(f"{SVG}text")][1:13] == [str(head) for head in range(1, 13)]
