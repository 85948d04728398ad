"""A translator trained live: the alignment appears while it learns."""
