"""Encoders of the Hub that a reader names: looked up, checked before any weight is fetched, kept within bounds."""
