"""Tab "Who sees what": the states that change with the last word, in BERT and in the decoder, layer by layer."""
