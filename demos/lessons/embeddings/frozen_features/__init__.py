"""Frozen features: BERT's vectors into a logistic regression, against guessing, words and fine-tuning."""
