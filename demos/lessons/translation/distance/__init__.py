"""The whole Transformer, both stacks: the inputs of each attention sublayer, and the choice of the next word."""
