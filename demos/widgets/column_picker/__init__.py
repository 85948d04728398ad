"""The column picker: the first rows of a file or of the Hub's data as a table, with a menu above each column."""
