"""The model and its arithmetic: numbers only, no screen."""
