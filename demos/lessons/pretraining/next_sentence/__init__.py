"""Next sentence: does B follow A? Four inputs side by side, the making of pairs, and the model's accuracy."""
