"""The task on the page: how similar two sentences are."""
