"""Translation before the Transformer: sentence pairs that a grammar makes, and a GRU that attends to its input."""
