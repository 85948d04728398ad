"""The task: a class for a sentence or for a pair of sentences."""
