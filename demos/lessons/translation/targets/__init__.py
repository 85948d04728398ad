"""Targets and loss: one word of the vocabulary at each place, and what missing it costs."""
