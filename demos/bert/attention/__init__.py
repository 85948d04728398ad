"""Heads: their queries and keys, what they look at, many as one, two side by side, some switched off."""
