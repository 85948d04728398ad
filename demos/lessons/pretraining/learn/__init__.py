"""Train live: pre-training steps on the reader's own paragraphs, with a copy of the model and from random weights."""
