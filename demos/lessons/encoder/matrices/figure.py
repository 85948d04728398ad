"""One layer's matrices for all tokens: X to Q, K and V, the weights, Z, all heads, and the feed-forward network."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from demos.bert.encoder.layer_trace import LayerLedger
from demos.bert.encoder.row_replaced import RowReplaced
from demos.bert.model.encoding import Encoding
from demos.figures.cell_strip import cells, scale_html
from demos.figures.numbers import scientific
from demos.figures.palette import HEADS
from demos.figures.short_text import short
from demos.figures.strips import strips_limit
from demos.templates import templates
from demos.widgets.matrix_picture.figure import Matrix, board_html, equation

TEXT = templates(__file__)
MOST_TOKENS = 40  # rows that are drawn; the sums are over all tokens
NAME = 16
WIDE, NARROW = 124, 70  # pixels of d and of d_k numbers
TOKEN, LOW, HIGH = 11, 84, 176  # pixels a token takes, and all of them


@dataclass(frozen=True, eq=False)
class Attended:
    """One head of a layer; `token` is the query that is followed, `key` the other token with the largest weight."""

    ledger: LayerLedger
    encoding: Encoding
    head: int
    token: int

    @property
    def shown(self) -> int:
        """The number of tokens that are drawn."""
        return min(len(self.encoding), MOST_TOKENS)

    @property
    def row(self) -> int:
        """The followed token, or the last one drawn."""
        return min(self.token, self.shown - 1)

    @property
    def key(self) -> int:
        """The other token drawn with the largest weight; of a single token itself."""
        weights = self.ledger.attention.weights[self.head, self.row, : self.shown].copy()
        weights[self.row] = -1
        return int(weights.argmax())

    @property
    def names(self) -> list[str]:
        return [short(token, NAME) for token in self.encoding.tokens[: self.shown]]


def attention_board(view: Attended) -> Markup:
    """Self-attention of one head, and all heads together."""
    attention, head, n = view.ledger.attention, view.head, view.shown
    weights = view.ledger.weights
    d_k = attention.query.shape[-1]
    own = slice(head * d_k, (head + 1) * d_k)  # this head's columns
    tall = min(HIGH, max(LOW, TOKEN * n))
    square = (tall, tall)
    x = Matrix("X", attention.x[:n], "i", "d", (WIDE, tall))
    query = Matrix("Q", attention.query[head, :n], "i", "k", (NARROW, tall))
    key = Matrix("K", attention.key[head, :n], "j", "k", (NARROW, tall))
    value = Matrix("V", attention.value[head, :n], "j", "v", (NARROW, tall))
    alpha = Matrix("α", attention.weights[head, :n, :n], "i", "j", square, "magnitude", 1.0, note="rows sum to 1")
    projections: list[Markup] = []
    for result, linear in ((query, weights.query), (key, weights.key), (value, weights.value)):
        weight = Matrix(f"W_{result.name}", linear.weight[own].T, "d", result.columns, (NARROW, WIDE))
        read = replace(x, rows=result.rows, again=bool(projections))
        projections.append(equation(read, "×", weight, "+ b =", result))
    scores = equation(
        replace(query, again=True),
        "×",
        Matrix("Kᵀ", attention.key[head, :n].T, "k", "j", (tall, NARROW)),
        f"÷ √{d_k} =",
        Matrix("S", attention.scaled[head, :n, :n], "i", "j", square),
        "→ softmax →",
        alpha,
    )
    mixed = equation(
        replace(alpha, note="", again=True),
        "×",
        replace(value, again=True),
        "=",
        Matrix("Z", attention.z[head, :n], "i", "v", (NARROW, tall)),
    )
    concat = attention.concat[:n]
    colours = [f"var(--head-{number % len(HEADS)})" for number in range(len(attention.z))]
    joined = TEXT.joined(
        colours,
        head,
        equation(
            Matrix(f"Z of all {len(colours)} heads", concat, "i", "c", (3 * WIDE, tall)),
            "×",
            Matrix("W_O", weights.output.weight.T, "c", "o", (WIDE, WIDE)),
            "+ b =",
            Matrix("T₁", attention.output[:n], "i", "o", (WIDE, tall)),
        ),
        3 * WIDE,
    )
    rows = [
        TEXT.heading("1 Each token’s query, key and value, all at once"),
        *projections,
        TEXT.heading("2 Every query with every key"),
        scores,
        TEXT.heading("3 Weighted sums of the values"),
        mixed,
        TEXT.heading("4 The heads side by side, times the output matrix"),
        joined,
    ]
    names = {"i": view.names, "j": view.names}
    return board_html(rows, names, {"i": view.row, "j": view.key}, {"v": ("c", head * d_k, d_k)})


def attention_summary(view: Attended) -> Markup:
    """The shapes in words, and the cells that are highlighted at first."""
    attention = view.ledger.attention
    weight = attention.weights[view.head, view.row, view.key]
    return TEXT.summary(view, attention.x.shape, attention.query.shape, weight)


def feed_forward_picture(view: Attended, replaced: RowReplaced) -> Markup:
    """Two tokens through the same W_1 and W_2, side by side, and the changes when the vector of one is replaced."""
    block, pair = view.ledger.block, (view.row, view.key)
    steps = (
        ("T₃", block.t3, "into the network"),
        ("T₃ W₁ + b", block.inner, "wider"),
        ("GELU", block.active, ""),
        ("T₄ = … W₂ + b", block.t4, "out of it"),
    )
    limits = [strips_limit([values[list(pair)]]) for _, values, _ in steps]
    names = [f"{view.names[token]} (token {token})" for token in pair]
    rows = [
        (
            name,
            note,
            values.shape[1],
            [cells(values[token], limit, f"{name} of {said}") for token, said in zip(pair, names, strict=True)],
        )
        for (name, values, note), limit in zip(steps, limits, strict=True)
    ]
    moved = [
        (name, [scientific(float(change[token])) for token in pair])
        for name, change in (("self-attention (T₁)", replaced.attention), ("feed-forward (T₄)", replaced.feed_forward))
    ]
    scale = scale_html(*((name, limit) for (name, _, _), limit in zip(steps, limits, strict=True)))
    return TEXT.feed_forward(rows, view.names, pair, moved, scale)


def shapes_table(view: Attended) -> Markup:
    """Every matrix's shape, and its largest difference from the model's own."""
    ledger = view.ledger
    attention, block, differences = ledger.attention, ledger.block, ledger.differences
    (heads, n, d_k), d = attention.query.shape, attention.x.shape[1]
    f = block.inner.shape[1]
    rows: list[tuple[str, str, float | None]] = [
        ("X", f"n × d = {n} × {d}", None),
        *((f"W_{name}, one head", f"d × d_k = {d} × {d_k}", None) for name in "QKV"),
        *((name.upper()[0], f"n × d_k = {n} × {d_k}", differences[name]) for name in ("query", "key", "value")),
        ("S", f"n × n = {n} × {n}", None),
        ("α", f"n × n = {n} × {n}", differences["weights"]),
        (f"Z of all {heads} heads", f"n × A d_k = {n} × {heads * d_k}", differences["concat"]),
        ("W_O", f"A d_k × d = {heads * d_k} × {d}", None),
        ("T₁", f"n × d = {n} × {d}", differences["t1"]),
        ("T₃", f"n × d = {n} × {d}", differences["t3"]),
        ("GELU(T₃ W₁ + b)", f"n × f = {n} × {f}", differences["active"]),
        ("T₄", f"n × d = {n} × {d}", differences["t4"]),
    ]
    written = [(name, [shape, "–" if off is None else scientific(off)]) for name, shape, off in rows]
    return TEXT.numbers(written)
