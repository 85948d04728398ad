"""Part "Heads for grammar"."""
