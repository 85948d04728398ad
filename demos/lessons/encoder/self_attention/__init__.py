"""Self-attention for one token, number by number: q, k, v, the softmax, z; then all heads and W_O."""
