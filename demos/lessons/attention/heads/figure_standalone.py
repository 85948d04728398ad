"""bertviz's views of a run as one HTML file that needs nothing else: no server, no network, no other file.

It is the frame's own page (assets/bertviz/frame.html) with everything written into it. What a reader typed stands in
one JSON element alone, its `<` escaped, and reaches the page as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

from demos.bert.attention.queries_keys import QueriesKeys
from demos.bert.model.run import Run
from demos.figures.palette import PALETTE
from demos.files import ASSETS
from demos.widgets.bertviz.messages import (
    VIEWS,
    LeftOut,
    caption,
    describe,
    heads_on,
    pack_both,
    pack_weights,
    views_folder,
)

FRAME = ASSETS / "bertviz"
MAX_VECTORS = 4_000_000  # characters; a file is not made heavier than that for a neuron view that nobody chose
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
LICENCES = """
This file holds bertviz {bertviz} (Jesse Vig; Apache License 2.0, apache.org/licenses/LICENSE-2.0), unchanged, and:

d3 5.7.0
{d3}
jQuery 2.2.4
{jquery}"""


def standalone_html(
    run: Run, view: str, layer: int, head: int, vectors: Callable[[int], QueriesKeys], title: str, lines: str = ""
) -> str:
    """The file's text: `view` ("head", "model" or "neuron") at `layer` and `head`, with all layers and other views.

    `title` is the model's; `lines` says which heads' lines the head view shows (`heads_on`). The neuron view is left
    out where it was not chosen and would not fit: beyond 64 tokens, or 4 MB. With it, and only then, all views show
    the first 64 tokens. `vectors(layer)` gives queries and keys.
    """
    views, n = _held(run, view)
    layers = range(run.num_layers)
    sent = {
        "weights": {str(i): pack_weights(run.attentions[i, :, :n, :n]) for i in layers},
        "vectors": {str(i): pack_both(vectors(i), n) for i in layers if "neuron" in views},
    }
    return _page(run, view, layer, head, lines, title, sent, LeftOut.of(run.attentions[:, :, :n, :n]))


def standalone_size(
    run: Run, view: str, layer: int, head: int, vectors: Callable[[int], QueriesKeys], title: str, lines: str = ""
) -> int:
    """How many bytes `standalone_html` will have, to a hundredth, without packing a number or calling `vectors`."""
    views, n = _held(run, view)
    layers, heads = run.num_layers, run.num_heads
    nothing = {"width": 0, "scale": [0.00012345678901234567] * heads, "data": ""}
    sent = {
        "weights": {str(i): "" for i in range(layers)},
        "vectors": {str(i): {"queries": nothing, "keys": nothing} for i in range(layers) if "neuron" in views},
    }
    empty = _page(run, view, layer, head, lines, title, sent, LeftOut(0.5, 0.5, 0.002))  # any numbers of as many digits
    numbers = layers * _base64(heads * n * n) + ("neuron" in views) * _vectors_size(run, n)
    return len(empty.encode()) + numbers


def _held(run: Run, view: str) -> tuple[list[str], int]:
    """The views in the file, and how many tokens they show."""
    n = min(len(run.encoding), VIEWS[view].limit)
    fits = n <= VIEWS["neuron"].limit and _vectors_size(run, n) <= MAX_VECTORS
    return [name for name in VIEWS if name != "neuron" or view == name or fits], n


def _vectors_size(run: Run, n: int) -> int:
    """Characters of all layers' queries and keys [H, n, d_k], two bytes a number."""
    return 2 * run.num_layers * _base64(2 * n * run.hidden_states.shape[-1])


def _base64(nbytes: int) -> int:
    return 4 * -(-nbytes // 3)


def _page(
    run: Run, view: str, layer: int, head: int, lines: str, title: str, sent: dict[str, Any], left_out: LeftOut
) -> str:
    views, n = _held(run, view)
    sentence = " ".join(filter(None, (run.encoding.text, run.encoding.text_pair)))
    given = {
        "message": describe(run, view, n, layer, head) | {"heads": heads_on(lines, head, run.num_heads)} | sent,
        "sentence": sentence,
        "model": f"{title} ({run.num_layers} layers × {run.num_heads} heads)",
        "views": {name: VIEWS[name].title for name in views},
        "said": {name: caption(run, VIEWS[name], n, left_out) for name in views},
        "palette": {theme: PALETTE[theme] for theme in ("light", "dark")},
    }
    before, after = _shell()
    return before + json.dumps(given).replace("<", "\\u003c") + after


@cache
def _shell() -> tuple[str, str]:
    """The file before and after its JSON: the frame's page with its style sheets and scripts written into it."""
    page = _read("frame.html")
    page = re.sub(r'(Content-Security-Policy" content=")[^"]*', rf"\g<1>{POLICY}", page)
    page = re.sub(r"<!-- The sandbox.*?-->\n", "", page)
    page = page.replace(
        "<title>bertviz</title>", '<meta name="viewport" content="width=device-width">\n<title></title>'
    )
    page = page.replace(
        '<link rel="stylesheet" href="frame.css">', f"<style>\n{_read('frame.css')}{_read('standalone.css')}</style>"
    )
    page = page.replace("<main", f"{_read('standalone.html')}<main").replace(
        "</main>", '</main>\n<footer id="said"></footer>'
    )
    page = re.sub(r'<script src="([^"]+)"></script>', lambda found: _script(_read(found[1])), page)
    folder = views_folder()
    views = "\n".join(
        _script((folder / f"{name}_view.js").read_text(encoding="utf-8"), f' data-view="{name}"') for name in VIEWS
    )
    licences = LICENCES.format(
        bertviz=version("bertviz"), d3=_read("d3-LICENSE.txt"), jquery=_read("jquery-LICENSE.txt")
    )
    page = page.replace("<html", f"<!--{licences}-->\n<html", 1)
    page = page.replace(
        "</body>",
        f'{views}\n<script type="application/json" id="given">\0</script>\n{_script(_read("standalone.js"))}\n</body>',
    )
    before, after = page.split("\0")
    return before, after


def _read(name: str) -> str:
    return (FRAME / name).read_text(encoding="utf-8")


def _script(source: str, attributes: str = "") -> str:
    """A script written into a page; what would end it early stands in strings alone, where a backslash is harmless."""
    source = re.sub(r"<(/script|!--)", r"<\\\1", source, flags=re.IGNORECASE)
    return f"<script{attributes}>\n{source}\n</script>"
