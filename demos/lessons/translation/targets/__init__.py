"""Targets and loss: one correct word at each position, and the loss −ln p of its probability."""
