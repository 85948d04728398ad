"""One sentence on what a figure shows."""
