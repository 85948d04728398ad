"""The task on the page: one sentence, or a pair of them."""
