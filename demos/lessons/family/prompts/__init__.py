"""Zero, one and few examples in a prompt: what the small decoder makes of a task that it is only told."""
