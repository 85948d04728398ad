"""Position: the model's learned table beside the sinusoids, and four wishes for a position code."""
