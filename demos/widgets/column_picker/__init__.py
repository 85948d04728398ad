"""Which column of a reader's file is which: its first rows as a table with a menu above each column."""
