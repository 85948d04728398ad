"""Matrices side by side, in which a row and a column are followed from one to the next."""
