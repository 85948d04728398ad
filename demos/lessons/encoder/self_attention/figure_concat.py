"""All heads of a layer together for one token: their z side by side, times W_O, and each head's share of it."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.layer_trace import CLOSES, LayerLedger
from demos.bert.encoder.self_attention import HeadShares
from demos.figures.cell_strip import cells, scale_html
from demos.figures.numbers import scientific
from demos.figures.palette import HEADS
from demos.figures.strips import strips_limit
from demos.figures.token_chips import visible
from demos.lessons.encoder.self_attention.figure import TEXT, Query


def concat_picture(query: Query, shares: HeadShares) -> Markup:
    """The concatenated z with each head's place marked, then T1 = concat W_O + b, and a bar for each head's share.

    A share is a head's part of T1, measured along T1; the bias has one too.
    """
    attention, token = query.attention, query.token
    count, _, width = attention.z.shape
    z, t1 = attention.concat[token], attention.output[token]
    mixed, out = strips_limit([z]), strips_limit([t1])
    colours = [f"var(--head-{head % len(HEADS)})" for head in range(count)]
    parts = [*shares.shares.tolist(), shares.bias_share]
    low = min(0.0, *parts)
    span = max(0.01, *parts) - low
    of_heads = zip(range(count), colours, parts[:-1], shares.norms, shares.z_norms, strict=True)
    of_bias = None, "var(--special)", shares.bias_share, np.linalg.norm(shares.bias), None
    rows = [
        {
            "head": head,
            "colour": colour,
            "share": share,
            "norm": norm,
            "z_norm": z_norm,
            "length": abs(share) / span,
            "left": (min(share, 0.0) - low) / span,
            "written": _percent(share),
        }
        for head, colour, share, norm, z_norm in (*of_heads, of_bias)
    ]
    return TEXT.concat(
        visible(query.name),
        colours,
        query.head,
        width,
        len(z),
        len(t1),
        {"z": cells(z, mixed, f"z of {query.name}, all heads"), "t1": cells(t1, out, f"T1 of {query.name}")},
        scale_html(("z", mixed), ("T1", out)),
        rows,
        -low / span,
        _percent(sum(parts)),
    )


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("-", "−")


def closed_html(ledger: LayerLedger, names: tuple[str, ...], moved: str = "") -> Markup:
    """A sentence on whether the ledger closes: the largest difference of steps `names` from the model's own tensors.

    `moved` is how far padding moves the sentence's own numbers, empty without padding.
    """
    worst = max(ledger.differences[name] for name in names)
    return TEXT.closed(worst, scientific(worst), worst <= CLOSES, moved)
