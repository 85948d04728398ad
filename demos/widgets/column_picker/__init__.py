"""Which column of a file or of the Hub's data is which: the first rows as a table with a menu above each column."""
