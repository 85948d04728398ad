"""The stack: the token's path through all layers."""
