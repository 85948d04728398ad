"""What is looked at once a run is over: its record, its answers, the evidence for them."""
