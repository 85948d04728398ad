"""A sentence's pseudo-log-likelihood on its tokens (HTML)."""

from __future__ import annotations

import numpy as np

from demos.bert.pretraining.likelihood import Likelihood
from demos.figures.numbers import percent
from demos.figures.token_chips import visible


def likelihood_html(found: Likelihood) -> str:
    """Each token with the logarithm of its probability, the less likely the darker; the sum, and what it means."""
    known = dict(zip(found.places, found.log_probabilities, strict=False))
    deepest = max(1.0, -float(found.log_probabilities.min(initial=0.0)))
    cells = "".join(
        f'<span class="fill-cell surprise" style="--share:{100 * -known[place] / deepest:.0f}%"'
        f' title="{percent(float(np.exp(known[place])))}"><span>{visible(found.encoding.tokens[place])}</span>'
        f"<small>{_signed(known[place])}</small></span>"
        if place in known
        else f'<span class="fill-cell"><span>{visible(found.encoding.tokens[place])}</span><small>…</small></span>'
        for place in found.places
    )
    strip = f'<div class="fill-strip" role="group" aria-label="Log-probability of each token">{cells}</div>'
    count = len(known)
    if not found.done:
        return f'<p class="fill-key" role="status">{count} of {len(found.places)} tokens…</p>{strip}'
    least = found.places[int(found.log_probabilities.argmin())]
    return (
        f'<p class="fill-key" role="status">PLL <b>{_signed(found.total)}</b>, pseudo-perplexity '
        f"<b>{found.perplexity:,.1f}</b>: on average each token was as hard to guess as one of "
        f"{found.perplexity:,.1f} equally likely ones. The hardest is <q>{visible(found.encoding.tokens[least])}</q>, "
        f"{percent(float(np.exp(found.log_probabilities.min())))}.</p>{strip}"
    )


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
