"""The task: how similar two sentences are, as a number."""
