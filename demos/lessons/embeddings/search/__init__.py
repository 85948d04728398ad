"""Search: the sentences nearest in meaning to a query, by two choices of vectors and by a word search."""
