"""Part "Your runs": every training of this page in a table, two of them laid over one another, all as CSV."""
