"""Part "How BERT was pre-trained"."""
