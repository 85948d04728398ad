"""Pre-training, live: a reader's own paragraphs, a copy of the model of their own, step by step."""
