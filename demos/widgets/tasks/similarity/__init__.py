"""The task on the page: a score of a pair of sentences or of a text."""
