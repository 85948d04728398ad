"""The data on a finished run: its record, its answers, the evidence for them."""
