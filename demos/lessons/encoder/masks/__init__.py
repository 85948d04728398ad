"""Encoder, decoder, both: one head's weights under the three masks, and the effect of attending to both sides."""
