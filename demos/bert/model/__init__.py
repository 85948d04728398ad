"""What all lessons share of the model: catalogue, weights, encoding, one forward pass, many sentences to vectors."""
