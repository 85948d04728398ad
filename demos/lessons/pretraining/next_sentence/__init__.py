"""Next sentence: does B follow A, four inputs side by side, how pairs are made, and how often the model is right."""
