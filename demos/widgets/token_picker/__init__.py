"""The sentence's tokens as chips, one of them chosen."""
