"""Zero, one and few examples in a prompt: what a decoder makes of a task that it is only told."""
