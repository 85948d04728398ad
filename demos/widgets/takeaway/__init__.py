"""The row under a picture that takes it away."""
