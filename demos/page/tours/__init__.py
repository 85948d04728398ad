"""Guided tours: text files whose stops are links to views of the page."""
