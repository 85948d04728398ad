"""Who sees what: which states change with the last word, in BERT and in the decoder, layer by layer."""
