"""Part "Weigh the layers"."""
