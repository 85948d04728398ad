"""Your questions: those of the parts that a reader has seen, repeated after a day, a week and a month."""
