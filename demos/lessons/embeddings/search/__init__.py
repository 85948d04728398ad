"""Search: the sentences nearest in meaning to a query, under two choices, beside a search for its words."""
