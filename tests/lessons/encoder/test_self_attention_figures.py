"""The board of self-attention: its strips and numbers are the ledger's, it adds up, and its programs print them."""

import ast
import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from demos.bert.encoder.attention_loop import Times
from demos.bert.encoder.layer_trace import layer_ledger
from demos.bert.encoder.self_attention import head_shares
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.figures.cell_strip import cells, colours, pictures, shades
from demos.figures.numbers import scientific
from demos.lessons.encoder.program_layer import selfattention_code
from demos.lessons.encoder.self_attention.figure import (
    SHOWN,
    Query,
    attention_numbers,
    attention_picture,
    attention_summary,
    closed_html,
    concat_picture,
    times_figure,
    times_summary,
)
from tests.number_cells import numbers
from tests.plotly_figure import plotly
from tests.programs import printed

OURS = {"div", "table", "caption", "colgroup", "col", "tbody", "thead", "tfoot", "tr", "th", "td", "small", "sub"}
OURS |= {"sup", "span", "number-cells", "canvas", "button", "p", "q", "h3", "b"}
TEXT = "The banker counted her money on the bank of the river."


class Strips(HTMLParser):
    """The strips of a picture by name, and the weights of its bars in order."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.named: dict[str, list[np.ndarray]] = {}
        self.weights: list[float] = []
        self.tags: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.tags.append(tag)
        if "data-values" in found:
            self.named.setdefault(found["data-name"], []).append(numbers(found["data-values"]))
        if "data-weight" in found:
            self.weights.append(float(found["data-weight"]))


def asked(
    loaded: LoadedModel, text: str = TEXT, layer: int = 0, head: int = 4, token: int = 8, **switches: int
) -> Query:
    run = run_model(loaded, [encode(loaded.tokenizer, text)])[0]
    ledger = layer_ledger(loaded, run, layer, causal=bool(switches.get("causal")), padding=switches.get("padding", 0))
    return Query(ledger, run.encoding, head, token)


def test_the_board_shows_the_ledger_and_its_last_column_adds_up_to_z(bundled: LoadedModel) -> None:
    one = asked(bundled)
    attention, names = one.ledger.attention, one.names
    board = Strips(attention_picture(one))
    assert len(board.weights) == len(names) + 1
    np.testing.assert_allclose(board.weights[:-1], attention.weights[4, 8], atol=1e-6)
    assert board.weights[-1] == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(board.named["q of bank"][0], attention.query[4, 8], rtol=1e-4)
    np.testing.assert_allclose(board.named["x of bank"][0], attention.x[8], rtol=1e-4)
    np.testing.assert_allclose(board.named["k of river"][0], attention.key[4, names.index("river")], rtol=1e-4)
    columns = [strip for name, strips in board.named.items() if name.startswith("weight × v of ") for strip in strips]
    assert len(columns) == len(names)
    np.testing.assert_allclose(sum(columns), board.named["z of bank"][0], atol=1e-4)
    np.testing.assert_allclose(board.named["z of bank"][0], attention.z[4, 8], rtol=1e-4)


def test_the_bars_are_as_long_as_the_weights(bundled: LoadedModel) -> None:
    markup = attention_picture(asked(bundled))
    lengths = [float(found) for found in re.findall(r'class="bar" style="width:([\d.]+)%"', markup)]
    np.testing.assert_allclose(np.array(lengths) / 100, Strips(markup).weights, atol=1e-4)


def test_masks_are_shown(bundled: LoadedModel) -> None:
    one = asked(bundled, causal=True, padding=2)
    markup = attention_picture(one)
    rows = re.findall(r'<tr class="([^"]*)"><th scope="row">(.*?)</tr>', markup, re.DOTALL)
    unseen = [row for kind, row in rows if "unseen" in kind]
    assert len(rows) == len(one.encoding) + 2
    assert len(unseen) == len(one.encoding) - 1 - 8 + 2
    assert all("<td>−∞</td>" in row and 'data-weight="0.000000"' in row for row in unseen)
    assert sum("[PAD]" in row for row in unseen) == 2
    said = " ".join(attention_summary(one).split())
    assert f"hides {len(one.encoding) - 9} later tokens" in said
    assert "2 [PAD] tokens</b>" not in said
    assert "2 [PAD] tokens get weight 0:" in said
    assert "−∞" in attention_numbers(one)


def test_a_token_that_occurs_twice_is_named_with_its_number(bundled: LoadedModel) -> None:
    one = asked(bundled, text="the bank of the river", token=4)
    said = " ".join(attention_summary(one).split())
    assert "Largest weights of <q>the</q> (token 4):" in said
    names = [one.names[at] for at in one.heaviest[:3]]
    for at, name in zip(one.heaviest[:3], names, strict=True):
        number = f" (token {at})" if name == "the" else ""
        assert f"{one.weights[at]:.2f} on <q>{name}</q>{number}" in said
    assert "(token" not in attention_summary(asked(bundled, text="a bank", token=1))


def test_a_long_sentence_shows_what_weighs_most_and_still_adds_up(tiny: LoadedModel) -> None:
    one = asked(tiny, text="river bank " * 60, layer=1, head=1, token=2)
    board = Strips(attention_picture(one))
    assert len(one.shown) == SHOWN
    assert one.token in one.shown
    hidden = np.setdiff1d(np.arange(len(one.names)), one.shown)
    assert one.weights[hidden].max() <= np.sort(one.weights)[-(SHOWN - 1)]
    assert board.weights[0] == pytest.approx(1, abs=1e-4)  # z stands above its column, which is longer than a window
    np.testing.assert_allclose(sum(board.weights[1:]), 1, atol=1e-4)
    assert board.weights[1:-1] == sorted(board.weights[1:-1], reverse=True)
    columns = [strip for name, strips in board.named.items() if name.startswith("weight × v") for strip in strips]
    np.testing.assert_allclose(sum([*columns, *board.named["their sum"]]), one.ledger.attention.z[1, 2], atol=1e-3)


def test_what_was_typed_stays_text(bundled: LoadedModel) -> None:
    one = asked(bundled, text='<img src=x onerror=alert(1)> "&', token=1)
    shares = head_shares(one.ledger.weights, one.ledger.attention, 1)
    for markup in (attention_picture(one), attention_summary(one), attention_numbers(one), concat_picture(one, shares)):
        assert "<<" not in markup
        assert "&lt;" in markup
        pictures = markup.count("<img ")
        assert pictures == markup.count('src="data:image/png;base64,')
        assert set(Strips(markup).tags) <= OURS


def test_all_heads_beside_each_other_and_their_shares(bundled: LoadedModel) -> None:
    one = asked(bundled, layer=3)
    shares = head_shares(one.ledger.weights, one.ledger.attention, one.token)
    markup = concat_picture(one, shares)
    strips = Strips(markup).named
    z = strips["z of bank, all heads"][0]
    for head in range(12):
        np.testing.assert_allclose(z[32 * head : 32 * head + 32], one.ledger.attention.z[head, 8], rtol=1e-4)
    weights = one.ledger.weights.output
    np.testing.assert_allclose(weights.weight @ z + weights.bias, strips["T1 of bank"][0], atol=1e-3)
    written = [float(share) for share in re.findall(r'data-share="(-?[\d.]+)"', markup)]
    np.testing.assert_allclose(written, [*shares.shares, shares.bias_share], atol=1e-6)
    assert sum(written) == pytest.approx(1, abs=1e-4)
    assert ">100.0%<" in markup


def test_the_difference_is_told_and_a_large_one_is_not_called_closed(bundled: LoadedModel) -> None:
    ledger = asked(bundled).ledger
    markup = closed_html(ledger, ("weights", "t1"))
    worst = max(ledger.differences["weights"], ledger.differences["t1"])
    assert f'data-difference="{worst:.3e}"' in markup
    assert "the results match" in markup
    off = replace(ledger, read_own=lambda: {**ledger.own, "t1": ledger.own["t1"] + 1})
    assert "the results match" not in closed_html(off, ("weights", "t1"))
    assert [scientific(value) for value in (0.0, 1.25e-7, 3.0)] == ["0", "1.2 × 10⁻⁷", "3.0 × 10⁰"]


def test_a_strips_colours_are_those_of_its_numbers() -> None:
    vector = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 9.0])
    png = base64.b64decode(pictures(shades(vector, 1.0)[None])["light"])
    with Image.open(io.BytesIO(png), formats=["PNG"]) as picture:
        assert picture.size == (6, 1)
        (pixels,) = np.asarray(picture)
    assert np.array_equal(pixels, colours(vector, 1.0))
    assert np.array_equal(pixels[0], pixels[1])  # beyond the scale: its last colour
    assert np.array_equal(pixels[4], pixels[5])
    assert pixels[2].min() > 235  # zero is nearly white
    assert pixels[1][0] > pixels[1][2]  # orange below
    assert pixels[4][2] > pixels[4][0]  # blue above
    assert "&lt;name&gt;" in cells(vector, 1.0, "<name>")


@pytest.mark.parametrize(("causal", "padding"), [(False, 0), (True, 3)])
def test_both_programs_print_the_boards_numbers(bundled: LoadedModel, causal: bool, padding: int) -> None:
    one = asked(bundled, text='Say "hi"\\n {x} to the bank', layer=2, head=5, token=4, causal=causal, padding=padding)
    attention = one.ledger.attention
    for loops in (True, False):
        program = selfattention_code(bundled.spec, one.ledger, one.encoding, one.head, one.token, loops=loops)
        *keys, last = printed(program)
        assert [line.split(" ", 1)[0] for line in keys] == one.names
        numbers = np.array([[float(part) for part in line.split(" ")[1:]] for line in keys])
        np.testing.assert_allclose(numbers[:, 0], attention.scores[5, 4], atol=1e-3)
        np.testing.assert_allclose(numbers[:, 1], attention.scaled[5, 4], atol=1e-3)
        np.testing.assert_allclose(numbers[:, 2], Strips(attention_picture(one)).weights[:-1], atol=1e-5)
        np.testing.assert_allclose(ast.literal_eval(last.removeprefix("z ")), attention.z[5, 4], atol=1e-4)


def test_times_are_drawn_as_they_were_measured() -> None:
    times = Times(32, {8: 0.001, 16: 0.004, 32: 0.016}, {8: 1e-5, 16: 2e-5, 32: 5e-5, 64: 1e-4}, 3e-7)
    figure = plotly(times_figure(times))
    assert list(figure.data[0].x) == [8, 16, 32]
    np.testing.assert_allclose(figure.data[0].y, [1, 4, 16])
    np.testing.assert_allclose(figure.data[1].y, [1, 4, 16])  # here the loops grow with n² exactly
    np.testing.assert_allclose(figure.data[2].y, [0.01, 0.02, 0.05, 0.1])
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    said = " ".join(times_summary(times).split())
    assert "4.0 times as long" in said
    assert "131,072 for 64 tokens" in said
    assert "320 times faster" in said
