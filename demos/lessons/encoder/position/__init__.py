"""Position: the model's learned table beside the sinusoids, and four requirements for a position encoding."""
