"""Batch norm beside layer norm, on a batch with padding."""
