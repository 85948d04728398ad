"""A decoder: the same layers under a causal mask, a distribution over the next word, and text written with it."""
