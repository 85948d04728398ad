"""A small ELMo (Peters et al. 2018): a language model of two LSTMs, one a direction, and its mixed states."""
