"""Sentence and word vectors: pooling, similarity, maps, agreement with people, the shape of their space."""
