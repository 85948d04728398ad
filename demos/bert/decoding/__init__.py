"""How text is written with any model of the next token: sampling and beam search."""
