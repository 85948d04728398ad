"""Trains the bundled model's pre-training heads, once, from a command line; a Space never runs it."""
