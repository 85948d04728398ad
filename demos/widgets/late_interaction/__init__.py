"""A list searched token by token (ColBERT's MaxSim) beside the cosine of mean vectors."""
