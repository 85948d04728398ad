"""Corrupt the text: 15% of a text's tokens are chosen, then masked, replaced or kept; the loss of each prediction."""
