"""Part "Mix the layers"."""
