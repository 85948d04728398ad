"""Pre-training, live: a reader's own paragraphs, the reader's copy of the model, step by step."""
