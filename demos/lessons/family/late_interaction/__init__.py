"""Token by token: search with one vector per token (ColBERT's MaxSim) beside one vector per sentence."""
