"""One token's vector replaced: which tokens' outputs move, through self-attention and through the feed-forward step."""

from dataclasses import dataclass

import numpy as np

from demos.bert.encoder.layer_trace import LayerLedger
from demos.bert.encoder.norm_and_feed_forward import activation
from demos.bert.encoder.self_attention import attend


@dataclass(frozen=True)
class RowReplaced:
    """The change of the component that moves most in each token's output, <float64>[n]."""

    attention: np.ndarray  # T1, with one row of X replaced
    feed_forward: np.ndarray  # T4, with one row of T3 replaced


def replace_row(ledger: LayerLedger, row: int, other: int) -> RowReplaced:
    """Row `row` of what each step reads becomes row `other`; all other rows stay (Vaswani et al. 2017, section 3.3)."""
    weights, attention, block = ledger.weights, ledger.attention, ledger.block
    x, t3 = attention.x.copy(), block.t3.copy()
    x[row], t3[row] = x[other], t3[other]
    t1 = attend(weights, x, attention.mask).output
    t4 = weights.outer(activation(weights.activation)(weights.inner(t3)))
    return RowReplaced(_moved(t1, attention.output), _moved(t4, block.t4))


def _moved(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    return np.abs(after.astype(np.float64) - before).max(axis=1)
