"""Two words: one sentence with either of two words, and the words at [MASK] that become more probable."""
