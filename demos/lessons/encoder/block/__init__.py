"""The block: one token through attention, residual, LayerNorm, feed-forward, residual, LayerNorm, with live numbers."""
