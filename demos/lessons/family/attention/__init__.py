"""The attention of one model after another in bertviz: an encoder's, a decoder's, and both with cross-attention."""
