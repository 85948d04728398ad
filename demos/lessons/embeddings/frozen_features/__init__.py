"""Frozen, then a classifier: BERT's vectors into a logistic regression, against guessing, words and fine-tuning."""
