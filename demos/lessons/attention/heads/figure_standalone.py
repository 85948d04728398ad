"""bertviz's views of a run as one HTML file that needs nothing else: no server, no network, no other file.

The reader's text is only in one JSON element, its `<` escaped, and reaches the page as text.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from demos.bert.attention.contributions import WEIGHT, Measured
from demos.bert.attention.queries_keys import QueriesKeys
from demos.bert.model.encoding import truncation_notice
from demos.bert.model.run import Run
from demos.figures.fonts.fonts import font_files
from demos.figures.palette import PALETTE
from demos.files import ASSETS, Json, read_asset
from demos.templates import in_script, templates
from demos.widgets.bertviz.messages import LeftOut, caption, describe, first_tokens, in_lines, pack_both, pack_weights
from demos.widgets.bertviz.views import VIEWS, heads_on, views_folder

TEXT = templates(__file__, "text_standalone.html")
FRAME = ASSETS / "bertviz"
MAX_VECTORS = 4_000_000  # characters; a neuron view that was not chosen must not make the file larger than that


@dataclass(frozen=True)
class Standalone:
    """A file with `view` ("head", "model" or "neuron") open at `layer` and `head`, with all layers and other views.

    `title` is the model's; `lines` says which heads' lines the head view shows (`heads_on`). The neuron view is left
    out where it was not chosen and would not fit: beyond 64 tokens, or 4 MB. With it, and only then, all views show
    the first 64 tokens. `vectors(layer)` gives queries and keys. `by` contribution, there is no neuron view beside.
    """

    run: Run
    view: str
    layer: int
    head: int
    vectors: Callable[[int], QueriesKeys]
    title: str
    lines: str = ""
    by: Measured | None = None

    @property
    def shown(self) -> Measured:
        """The values that the lines show: shares of the rows, of weights or of contributions."""
        return in_lines(self.run, self.view, self.by)

    @property
    def tokens(self) -> int:
        """The number of tokens in the views."""
        return min(len(self.run.encoding), VIEWS[self.view].limit)

    @property
    def views(self) -> list[str]:
        fits = self.tokens <= VIEWS["neuron"].limit and self._vectors_size <= MAX_VECTORS
        fits = fits and self.shown.measure == WEIGHT
        return [name for name in VIEWS if name != "neuron" or self.view == name or fits]

    def html(self) -> str:
        """The file's text."""
        n, views = self.tokens, self.views
        shown = first_tokens(self.shown, n)
        sent = {
            "weights": {str(i): pack_weights(layer) for i, layer in enumerate(shown)},
            "vectors": {str(i): pack_both(self.vectors(i), n) for i in range(len(shown)) if "neuron" in views},
        }
        return self._page(sent, LeftOut.of(shown))

    def size(self) -> int:
        """The size of `html` in bytes, within one percent, without packing a number or calling `vectors`."""
        n, neuron, layers, heads = self.tokens, "neuron" in self.views, self.run.num_layers, self.run.num_heads
        nothing = {"width": 0, "scale": [0.00012345678901234567] * heads, "data": ""}
        sent = {
            "weights": {str(i): "" for i in range(layers)},
            "vectors": {str(i): {"queries": nothing, "keys": nothing} for i in range(layers) if neuron},
        }
        empty = self._page(sent, LeftOut(0.5, 0.5, 0.002))  # any numbers of as many digits
        return len(empty.encode()) + layers * _base64(heads * n * n) + neuron * self._vectors_size

    @property
    def _vectors_size(self) -> int:
        """Characters of all layers' queries and keys [A, n, d_k], two bytes a number."""
        return 2 * self.run.num_layers * _base64(2 * self.tokens * self.run.hidden_states.shape[-1])

    def _page(self, sent: Json, left_out: LeftOut) -> str:
        run, n = self.run, self.tokens
        lines = heads_on(self.lines, self.head, run.num_heads)
        removed = [notice] if (notice := truncation_notice(run.encoding)) else []
        contents = {
            "message": describe(run, self.view, n, self.layer, self.head, self.shown.measure) | {"heads": lines} | sent,
            "sentence": " ".join(filter(None, (run.encoding.text, run.encoding.text_pair))),
            "model": f"{self.title} ({run.num_layers} layers × {run.num_heads} heads)",
            "views": {name: VIEWS[name].title for name in self.views},
            "said": {name: removed + caption(run, VIEWS[name], n, left_out, self.by) for name in self.views},
            "measure": "weight" if self.shown.measure == WEIGHT else "share of the contributions in its row",
            "palette": {theme: PALETTE[theme] for theme in ("light", "dark")},
        }
        before, after = _shell()
        return before + in_script(contents) + after


def _base64(nbytes: int) -> int:
    return 4 * -(-nbytes // 3)


@cache
def _shell() -> tuple[str, str]:
    """The file before and after its JSON."""
    frame = _read("frame.html")
    main = re.search(r"<main.*</main>", frame, re.DOTALL)
    assert main
    page = TEXT.page(
        bertviz=version("bertviz"),
        d3_licence=_read("d3-LICENSE.txt"),
        jquery_licence=_read("jquery-LICENSE.txt"),
        font_licence=Markup(read_asset("vendor/fonts/inter-LICENSE.txt")),
        font=b64encode(font_files()[0].data).decode(),
        styles=_read("frame.css") + _read("standalone.css"),
        header=_read("standalone.html"),
        main=Markup(main[0]),
        scripts=[_script(FRAME / name) for name in re.findall(r'<script src="([^"]+)"', frame)],
        views={name: _script(views_folder() / f"{name}_view.js") for name in VIEWS},
        script=_script(FRAME / "standalone.js"),
        given="\0",
    )
    before, after = str(page).split("\0")  # plain text, to which JSON is added as it is
    return before, after


def _read(name: str) -> Markup:
    return Markup((FRAME / name).read_text(encoding="utf-8"))


def _script(path: Path) -> Markup:
    """A script to write into a page. Tags that would end it are only in strings, where a backslash is harmless."""
    source = path.read_text(encoding="utf-8")
    return Markup(re.sub(r"<(/script|!--)", r"<\\\1", source, flags=re.IGNORECASE))
