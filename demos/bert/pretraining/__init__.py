"""BERT's two pre-training tasks: masked words and next sentences, with the heads that answer them."""
