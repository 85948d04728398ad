"""Text generation with any model of the next token: sampling and beam search."""
