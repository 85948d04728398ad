"""The tasks that a run can learn: seven tasks and the siamese one, their heads, losses and scores."""
