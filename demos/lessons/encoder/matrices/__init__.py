"""Matrices: self-attention for all tokens at once, all heads, and two tokens through one feed-forward network."""
