"""A table's columns: which is which, what each holds, and how its labels and texts are spelled."""
