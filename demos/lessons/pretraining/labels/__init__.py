"""Supervised or not? The labels a text gives by itself, beside one that a person had to give."""
