"""A run taken away: a transformers folder with its card, recipe and program, or a push to the Hub."""
