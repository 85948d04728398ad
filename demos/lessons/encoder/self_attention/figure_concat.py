"""All heads of a layer together for one token: their z side by side, times W^O, and each head's share of it."""

from __future__ import annotations

import html

import numpy as np

from demos.bert.encoder.layer_trace import CLOSES, LayerLedger
from demos.bert.encoder.self_attention import HeadShares
from demos.figures.cell_strip import cells, scale_html
from demos.figures.numbers import scientific
from demos.figures.palette import HEADS
from demos.figures.strips import strips_limit
from demos.figures.token_chips import visible
from demos.lessons.encoder.self_attention.figure import Asked


def concat_picture(asked: Asked, shares: HeadShares) -> str:
    """The concatenated z with each head's place marked, then T1 = W^O concat + b, and a bar for each head's share."""
    attention, token, head = asked.ledger.attention, asked.token, asked.head
    count, _, width = attention.z.shape
    z, t1 = attention.concat[token], attention.output[token]
    mixed, out = strips_limit([z]), strips_limit([t1])
    marks = "".join(
        f'<span class="head{" chosen" if index == head else ""}" style="--hue:{HEADS[index % len(HEADS)]}">{index}'
        "</span>"
        for index in range(count)
    )
    name = asked.names[token]
    return (
        '<div class="concat" tabindex="0" role="region" aria-label="All heads and their shares">'
        f"<h3>All {count} heads, side by side, times W<sup>O</sup></h3>"
        f'<div class="concat-line"><span class="line-name">z of every head</span><div class="line-cells">'
        f'<div class="heads" aria-hidden="true">{marks}</div>{cells(z, mixed, f"z of {name}, all heads")}</div></div>'
        f'<p class="between">concat: {count} × {width} = {len(z)} numbers &nbsp;→&nbsp; W<sup>O</sup> [{len(t1)} × '
        f"{len(z)}] · concat + b &nbsp;→&nbsp; {len(t1)} numbers, T<sub>1</sub> of the block</p>"
        f'<div class="concat-line"><span class="line-name">T<sub>1</sub> of {visible(name)}</span>'
        f'<div class="line-cells">{cells(t1, out, f"T1 of {name}")}</div></div>'
        f"{scale_html(('z', mixed), ('T1', out))}{_shares(shares, head)}</div>"
    )


def _shares(shares: HeadShares, head: int) -> str:
    """A table of bars: each head's part of T1, measured along T1, and the bias's."""
    low = min(0.0, float(shares.shares.min()), shares.bias_share)
    high = max(0.01, float(shares.shares.max()), shares.bias_share)
    zero = -low / (high - low)

    def row(name: str, share: float, norm: float, colour: str, chosen: bool, z_norm: str) -> str:
        length = abs(share) / (high - low)
        left = zero if share >= 0 else zero - length
        return (
            f'<tr{" class=chosen" if chosen else ""} style="--hue:{colour}" data-share="{share:.6f}">'
            f'<th scope="row"><span class="swatch"></span>{name}</th>'
            f'<td class="share"><span class="bar" style="left:{left:.2%};width:{length:.2%}"></span>'
            f'<span class="zero" style="left:{zero:.2%}"></span></td>'
            f"<td><b>{_percent(share)}</b></td><td>{z_norm}</td><td>{norm:.3f}</td></tr>"
        )

    rows = "".join(
        row(
            f"head {index}",
            float(share),
            float(shares.norms[index]),
            HEADS[index % len(HEADS)],
            index == head,
            f"{shares.z_norms[index]:.3f}",
        )
        for index, share in enumerate(shares.shares)
    )
    bias = row("bias b", shares.bias_share, float(np.linalg.norm(shares.bias)), "var(--special)", False, "–")
    total = float(shares.shares.sum()) + shares.bias_share
    return (
        '<table class="shares"><caption>How much of T<sub>1</sub> each head makes: the part of W<sup>O</sup>z that '
        "points along T<sub>1</sub>; below zero where a head pulls the other way</caption>"
        '<thead><tr><th scope="col">head</th><th scope="col" class="share" colspan="2">share of T<sub>1</sub></th>'
        '<th scope="col">norm of z</th><th scope="col">norm of W<sup>O</sup>z</th></tr></thead>'
        f"<tbody>{rows}{bias}</tbody><tfoot><tr><th scope='row'>sum</th><td></td><td><b>{_percent(total)}</b></td>"
        "<td></td><td></td></tr></tfoot></table>"
    )


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("-", "−")


def closed_html(ledger: LayerLedger, names: tuple[str, ...], extra: str = "") -> str:
    """Whether the ledger closes: the largest difference from the model's own tensors, of the steps `names`."""
    worst = max(ledger.differences[name] for name in names)
    verdict = "the ledger closes" if worst <= CLOSES else "more than float32 accounts for"
    return (
        f'<p class="closed" data-difference="{worst:.3e}"><b>Largest difference from the model’s own tensors, over all '
        f"tokens and heads: {scientific(worst)}</b> ({verdict}; float32 carries seven digits).{html.escape(extra)}</p>"
    )
