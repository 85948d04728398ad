"""Learn live: steps of pre-training on the reader's own paragraphs and own copy, and beside it from random weights."""
