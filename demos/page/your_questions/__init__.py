"""Your questions: those of the parts that a reader has seen, asked again after a day, a week and a month."""
