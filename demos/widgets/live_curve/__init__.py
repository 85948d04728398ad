"""The live curve: only new points are sent."""
