"""Encoder, decoder, both: one head's weights under the three masks, and what reading both sides is worth."""
