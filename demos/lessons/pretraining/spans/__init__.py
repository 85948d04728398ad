"""Part "Pack spans"."""
