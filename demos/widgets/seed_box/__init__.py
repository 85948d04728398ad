"""A number box for the seed of whatever is drawn at random."""
