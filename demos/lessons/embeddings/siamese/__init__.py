"""Train on pairs: a training in the style of Sentence-BERT, and the agreement with people before and after."""
