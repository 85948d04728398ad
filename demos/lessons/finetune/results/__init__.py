"""Part "What it learned": the same sentences and heads before and after, what misled it, and how far to trust it."""
