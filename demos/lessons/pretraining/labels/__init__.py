"""Supervised or not? Labels that are taken from a text, compared with one that a person assigned."""
