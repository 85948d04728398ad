"""Two words: one sentence with either of two words, and which words at [MASK] become more probable."""
