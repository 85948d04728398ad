"""Model size: parameters by part, for the model in use, for the known BERTs, and for one's own L, d and A."""
