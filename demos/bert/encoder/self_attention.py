"""Self-attention with every step kept: q, k, v, q . k, scaled, softmax, z, the heads side by side, and W_O."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from demos.bert.attention.queries_keys import split_heads
from demos.bert.model.layer_weights import LayerWeights


@dataclass(frozen=True)
class AttentionLedger:
    """Multi-head self-attention of one layer, step by step; n tokens, A heads, d_k = d / A numbers a head.

    Vaswani et al. 2017, section 3.2: equation 1 and "Multi-Head Attention".
    """

    x: np.ndarray  # <float32>[n, d]: what enters the layer
    query: np.ndarray  # <float32>[A, n, d_k] = x W_Q + b_Q, cut into heads
    key: np.ndarray  # <float32>[A, n, d_k]
    value: np.ndarray  # <float32>[A, n, d_k]
    scores: np.ndarray  # <float32>[A, n, n]: q . k, a row a query, before the mask
    scaled: np.ndarray  # <float32>[A, n, n]: scores / sqrt(d_k), and minus infinity where the mask is False
    weights: np.ndarray  # <float32>[A, n, n]: softmax of each row, which sums to 1
    z: np.ndarray  # <float32>[A, n, d_k] = weights @ value
    concat: np.ndarray  # <float32>[n, d]: z of head 0, then of head 1, ...
    output: np.ndarray  # <float32>[n, d] = concat W_O + b_O: T1 of the block
    mask: np.ndarray  # <bool>[n, n]: whether the row's query may see the column's key


@dataclass(frozen=True)
class HeadShares:
    """The contributions of the heads to one token's T1.

    The contributions and the bias add up to it, and the shares to 1.
    """

    contributions: np.ndarray  # <float32>[A, d] = z of that head times its rows of W_O
    bias: np.ndarray  # <float32>[d] = b_O
    norms: np.ndarray  # <float32>[A]: Euclidean norm of each contribution
    z_norms: np.ndarray  # <float32>[A]: of each head's z, before W_O
    shares: np.ndarray  # <float32>[A]: contribution . T1 / |T1|^2; below 0 where a head pulls the other way
    bias_share: float


def visible(n: int, *, causal: bool = False, padding: int = 0) -> np.ndarray:
    """The keys that each query may attend to, <bool>[n, n]: not the last `padding`, with `causal` none after itself."""
    mask = np.ones((n, n), dtype=bool)
    if causal:
        mask = np.tril(mask)
    if padding:
        mask[:, n - padding :] = False
    return mask


def attend(weights: LayerWeights, x: np.ndarray, mask: np.ndarray) -> AttentionLedger:
    """The steps of one layer's self-attention for x [n, d]; `mask` <bool>[n, n] must leave every query a key."""
    query, key, value = (
        split_heads(linear(x), weights.num_heads) for linear in (weights.query, weights.key, weights.value)
    )
    scores = query @ key.swapaxes(1, 2)
    scaled = np.where(mask, scores / np.float32(np.sqrt(query.shape[-1])), np.float32(-np.inf))
    shares = softmax(scaled, axis=-1)
    z = shares @ value
    concat = np.ascontiguousarray(z.swapaxes(0, 1)).reshape(len(x), -1)
    return AttentionLedger(x, query, key, value, scores, scaled, shares, z, concat, weights.output(concat), mask)


def head_shares(weights: LayerWeights, ledger: AttentionLedger, token: int) -> HeadShares:
    """The contributions of the heads to T1 of `token`: each one's z through its own rows of W_O.

    The share is the length of a contribution along T1, in units of |T1|: heads that cancel each other may have large
    norms and yet shares that cancel too.
    """
    z = ledger.z[:, token].astype(np.float64)  # [A, d_k]
    columns = weights.output.weight.reshape(-1, *z.shape)  # [d, A, d_k]
    contributions = np.einsum("dhk,hk->hd", columns, z)
    whole = ledger.output[token].astype(np.float64)
    square = float(whole @ whole) or 1.0
    return HeadShares(
        contributions=contributions.astype(np.float32),
        bias=weights.output.bias,
        norms=np.linalg.norm(contributions, axis=1).astype(np.float32),
        z_norms=np.linalg.norm(z, axis=1).astype(np.float32),
        shares=(contributions @ whole / square).astype(np.float32),
        bias_share=float(weights.output.bias.astype(np.float64) @ whole / square),
    )
