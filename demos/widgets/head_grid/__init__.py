"""The overview of heads: every head of every layer small, to pick one or to switch some off."""
