"""Access to training: the entry for page and API, the queue, the worker, and the store of trained models."""
