"""Trains the bundled decoder, which writes word by word, once, from a command line; a Space never runs it."""
