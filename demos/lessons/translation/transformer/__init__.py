"""The whole Transformer, both stacks: what each attention sublayer reads, and how the next word is chosen."""
