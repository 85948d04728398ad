"""Greedy, beam search and sampling: ways to choose words from the decoder's probabilities."""
