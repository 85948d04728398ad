"""Who may train when: the door for page and API, the queue, the worker, and the store of trained models."""
