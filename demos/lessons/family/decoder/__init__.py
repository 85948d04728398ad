"""A decoder that writes: the distribution over the next word piece, and a text written piece by piece."""
