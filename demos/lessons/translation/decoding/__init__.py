"""A translation, step by step: the attention weights of each French word, and its choice."""
