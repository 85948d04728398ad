"""The bar's examples: a button, and under it chips in groups that fill both sentences."""
