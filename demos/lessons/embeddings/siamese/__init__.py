"""Train on pairs: a sentence-BERT style training in the page, and whether it agrees better with people afterwards."""
