"""Part "Published results"."""
