"""Widgets that several parts use: one folder each, with its script and its style."""
