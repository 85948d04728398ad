"""The task: a number for a pair of sentences, such as their similarity, or for a text."""
