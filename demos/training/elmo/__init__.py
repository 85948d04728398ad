"""Training the small ELMo, by a command."""
