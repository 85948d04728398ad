"""Tensors, step by step: from rows of text to a classifier's score, each step with its shape and its line of code."""
