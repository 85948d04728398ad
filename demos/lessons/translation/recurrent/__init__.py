"""An RNN that writes: its state and the next word's distribution, step by step."""
