"""Part "How much data?": 5 to 100% of the data, from the model's weights, from random ones, and without BERT."""
