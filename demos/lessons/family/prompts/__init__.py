"""Zero, one and few examples in a prompt: a decoder's answers to a task that is described in its input."""
