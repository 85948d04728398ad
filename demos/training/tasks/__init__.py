"""What a run can learn: five tasks and the siamese one, their heads, losses and scores."""
