"""A small recurrent network that predicts the next word, and writes."""
