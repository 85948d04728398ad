"""What drawings answer, and which of them are remembered."""
