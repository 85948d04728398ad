"""The inside of a run: the model, its trainable part, and the speed of its steps."""
