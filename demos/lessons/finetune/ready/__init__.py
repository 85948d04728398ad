"""Part "Ready models"."""
