"""A translation, step by step: what each French word reads, and how it is chosen."""
