"""The model code that all lessons share: catalogue, weights, encoding, one forward pass, many sentences to vectors."""
